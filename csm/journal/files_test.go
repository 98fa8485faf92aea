package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// small is the minimum size limit of a file.
const small = 64 << 10

// chatter records a conversation of the given number of steps to outs.
func chatter(t *testing.T, steps int, outs ...journal.Output) *journal.Writer {
	t.Helper()
	w, err := journal.New(header, outs...)
	if err != nil {
		t.Fatal(err)
	}
	pick := uint32(1)
	k := newTalk(w, func(n int) int {
		pick = pick*1664525 + 1013904223
		return int(pick>>8) % n
	})
	for int(k.steps) < steps {
		k.next()
		w.Level(k.clock.Now(), journal.Level{User: -20})
		flush(w)
	}
	return w
}

// names lists the files in a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// identical replays j and checks that there is no difference.
func identical(t *testing.T, j *journal.Journal) journal.Result {
	t.Helper()
	res, err := journal.Replay(j)
	if err != nil || res.Difference != nil || res.Lost > 0 || res.Events == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	return res
}

// A journal is split into files of bounded size. Each replays on its own from its
// snapshot, and all replay as one.
func TestFilesRotate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "talk.jsonl")
	var whole bytes.Buffer
	w := chatter(t, 1500, journal.Files(path, journal.Limits{Bytes: small, Files: 100}), journal.Stream(&whole))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := journal.ReadFiles(filepath.Dir(path))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d journals, %v", len(all), err)
	}
	res := identical(t, all[0])
	if one, err := replay(whole.String()); err != nil || one.Events != res.Events || one.Phases != res.Phases || res.After != 0 || res.Stops != nil {
		t.Errorf("as one %+v, in files %+v, %v", one, res, err)
	}
	parts := names(t, filepath.Dir(path))
	if len(parts) < 4 {
		t.Fatalf("%v", parts)
	}
	events := 0
	for i := range parts {
		name := path
		if i > 0 {
			name = strings.Replace(path, ".jsonl", fmt.Sprintf(".%d.jsonl", i), 1)
		}
		info, err := os.Stat(name)
		if err != nil || info.Size() > small+8<<10 || info.Mode().Perm()&0o077 != 0 {
			t.Fatalf("%v, %v", info, err)
		}
		list, err := journal.ReadFiles(name)
		if err != nil || len(list) != 1 || list[0].Header.Part != i || (list[0].More == "") != (i == len(parts)-1) {
			t.Fatalf("%s: %v", name, err)
		}
		r := identical(t, list[0])
		if int(r.After) != events {
			t.Errorf("%s continues after %d events, want %d", name, r.After, events)
		}
		events += r.Events
	}
	if events != res.Events {
		t.Errorf("the files have %d events, and together they have %d", events, res.Events)
	}
	t.Run("damage", func(t *testing.T) { damagedSequences(t, path, len(parts)) })
}

// damagedSequences removes, truncates and swaps whole files.
func damagedSequences(t *testing.T, path string, parts int) {
	name := func(i int) string { return strings.Replace(path, ".jsonl", fmt.Sprintf(".%d.jsonl", i), 1) }
	second, err := os.ReadFile(name(2))
	if err != nil {
		t.Fatal(err)
	}
	cut := func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] } // removes the last line
	less := cut(cut(cut(second)))                                                         // an event without its outcome
	for !bytes.HasPrefix(less[bytes.LastIndexByte(less[:len(less)-1], '\n')+1:], []byte(`{"seq"`)) {
		less = cut(less)
	}
	for _, c := range []struct {
		name string
		data []byte
		lost bool
	}{
		{"crash before the end mark", cut(second), false},
		{"crash in the end mark", second[:len(second)-9], false},
		{"an outcome cut off", less, true},
		{"torn", less[:len(less)-9], true},
		{"whole", second, false},
	} {
		if err := os.WriteFile(name(2), c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := journal.ReadFiles(path, name(1), name(2), name(3))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d journals, %v", c.name, len(list), err)
		}
		res, err := journal.Replay(list[0])
		switch {
		case c.lost && (err != nil || res.Difference == nil || res.Difference.What != "order" || res.Difference.Event != "snapshot") && res.Lost == 0:
			t.Errorf("%s: %+v, %v", c.name, res, err)
		case !c.lost:
			identical(t, list[0])
		}
	}
	if list, err := journal.ReadFiles(path, name(2)); err != nil || len(list) != 2 || list[0].More != name(1) {
		t.Errorf("a file left out: %d journals, %v", len(list), err)
	}
	if list, err := journal.ReadFiles(name(2), name(1)); err != nil || len(list) != 2 || list[0].More != name(3) {
		t.Errorf("files swapped: %d journals, %v", len(list), err)
	}
	// The process crashed before the next file had its header.
	last := name(parts - 1)
	for _, torn := range []string{"", `{"journal":3,"buil`} {
		if err := os.WriteFile(last, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := journal.ReadFiles(filepath.Dir(path))
		if err != nil || len(list) != 1 || list[0].Stops == nil || list[0].Stops.File != last || !strings.Contains(list[0].Stops.String(), "in the header of "+last) {
			t.Fatalf("%q: %v", torn, err)
		}
		identical(t, list[0])
	}
	if _, err := journal.ReadFiles(last); err == nil {
		t.Error("a file without a header is read")
	}
}

// The oldest files are deleted, and the remaining ones start with a snapshot.
func TestOldestFilesAreDeleted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "talk.jsonl")
	for _, older := range []string{"talk.1.jsonl", "talk.77.jsonl", "talk.notes.jsonl", "talks.1.jsonl", "talk.01.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, older), []byte("older\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := chatter(t, 1500, journal.Files(path, journal.Limits{Bytes: small, Files: 2})).Close(); err != nil {
		t.Fatal(err)
	}
	var ours, others []string
	for _, n := range names(t, dir) {
		if b, err := os.ReadFile(filepath.Join(dir, n)); err == nil && string(b) == "older\n" {
			others = append(others, n)
		} else {
			ours = append(ours, filepath.Join(dir, n))
		}
	}
	// Parts of an older journal of that name were deleted, and nothing else.
	if want := []string{"talk.01.jsonl", "talk.notes.jsonl", "talks.1.jsonl"}; !slices.Equal(others, want) || len(ours) != 2 {
		t.Fatalf("others %v, ours %v", others, ours)
	}
	list, err := journal.ReadFiles(ours...)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d journals, %v", len(list), err)
	}
	if res := identical(t, list[0]); res.After == 0 {
		t.Error("the remaining files do not start with a snapshot")
	}
}

// A ring keeps the last part within its bound, and saves it as a valid journal even
// during recording.
func TestRingKeepsTheLastPart(t *testing.T) {
	ring := journal.NewRing(2 * small)
	w := chatter(t, 3000, ring)
	var saved bytes.Buffer
	if err := ring.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if saved.Len() > 3*small || saved.Len() < small {
		t.Errorf("the ring keeps %d bytes", saved.Len())
	}
	j, err := journal.Read(&saved)
	if err != nil || j.Stops != nil || j.Header.Part == 0 {
		t.Fatalf("%+v, %v", j, err)
	}
	res := identical(t, j)
	if int(res.After)+res.Events < 3000 || res.Events < 200 {
		t.Errorf("%+v", res)
	}
	short := journal.NewRing(2 * small)
	w = chatter(t, 20, short)
	if err := short.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if res, err := replay(saved.String()); err != nil || res.After != 0 || res.Events < 20 {
		t.Errorf("%+v, %v", res, err)
	}
}

// Forgetting an output deletes all its files.
func TestForgetDeletesTheFiles(t *testing.T) {
	dir := t.TempDir()
	out := journal.Files(filepath.Join(dir, "talk.jsonl"), journal.Limits{Bytes: small, Files: 3})
	if n := names(t, dir); len(n) > 0 {
		t.Fatalf("before the recording: %v", n)
	}
	ring := journal.NewRing(1 << 20)
	w := chatter(t, 1500, out, ring)
	if n := names(t, dir); len(n) != 3 {
		t.Fatalf("while it is recorded: %v", n)
	}
	w.Forget(out)
	flush(w)
	if n := names(t, dir); len(n) > 0 {
		t.Errorf("after: %v", n)
	}
	w.Event(csm.Envelope{Seq: 1, Event: csm.Fatal{}})
	w.Outcome(csm.Initial(), nil)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if n := names(t, dir); len(n) > 0 {
		t.Errorf("at the end: %v", n)
	}
}

// A full disk only costs lines: when there is space again, the journal resumes with a
// snapshot in a new file.
func TestFullDiskLeavesAGap(t *testing.T) {
	dir, room := t.TempDir(), 40_000
	w, err := journal.New(header, journal.Quota(filepath.Join(dir, "talk"), &room, errFull))
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(w, func(int) int { return 40 })
	talk := func(steps uint64) {
		for end := k.steps + steps; k.steps < end; {
			k.loop.Post(csm.UserStart{})
			k.clock.Advance(200*ms, k.loop.Drain)
			k.loop.Post(csm.UserStop{})
			k.clock.Advance(200*ms, k.loop.Drain)
			flush(w)
		}
	}
	talk(200)
	room = 1 << 20
	talk(20)
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	list, err := journal.ReadFiles(dir)
	if err != nil || len(list) != 1 || list[0].Stops != nil {
		t.Fatalf("%d journals, %v", len(list), err)
	}
	res, err := journal.Replay(list[0])
	if err != nil || res.Difference != nil || res.Lost == 0 || res.Events < 20 || res.Events+res.Lost != int(k.steps) {
		t.Errorf("%d steps: %+v, %v", k.steps, res, err)
	}
}
