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

// small is the least that a file can be bounded to.
const small = 64 << 10

// chatter records a conversation of so many steps to outs.
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
		w.Flush()
	}
	return w
}

// names are the files of a folder.
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

// identical replays j and wants no difference.
func identical(t *testing.T, j *journal.Journal) journal.Result {
	t.Helper()
	res, err := journal.Replay(j)
	if err != nil || res.Difference != nil || res.Lost > 0 || res.Events == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	return res
}

// A journal is divided into files of a bounded size. Each replays on its own from
// its snapshot, and all together replay as one.
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
			t.Errorf("%s goes on after %d events, want %d", name, r.After, events)
		}
		events += r.Events
	}
	if events != res.Events {
		t.Errorf("the files have %d events, and together they have %d", events, res.Events)
	}
	t.Run("damage", func(t *testing.T) { damagedSequences(t, path, len(parts)) })
}

// damagedSequences takes whole files away, cuts and swaps them.
func damagedSequences(t *testing.T, path string, parts int) {
	name := func(i int) string { return strings.Replace(path, ".jsonl", fmt.Sprintf(".%d.jsonl", i), 1) }
	second, err := os.ReadFile(name(2))
	if err != nil {
		t.Fatal(err)
	}
	cut := second[:bytes.LastIndexByte(second[:len(second)-1], '\n')+1] // without its end mark
	less := cut[:bytes.LastIndexByte(cut[:len(cut)-1], '\n')+1]         // and without the line before
	for _, c := range []struct {
		name string
		data []byte
		says string // "" where nothing is missing
	}{
		{"crash before the end mark", cut, ""},
		{"crash in the end mark", second[:len(second)-9], ""},
		{"a line cut off", less, "is missing, and another file follows"},
		{"torn", less[:len(less)-9], "is missing, and another file follows"},
		{"whole", second, ""},
		{"flipped", bytes.Replace(second, []byte(`"user":-20`), []byte(`"user":-21`), 1), "was changed"},
	} {
		if err := os.WriteFile(name(2), c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := journal.ReadFiles(path, name(1), name(2), name(3))
		switch {
		case c.says == "":
			if err != nil || len(list) != 1 {
				t.Errorf("%s: %d journals, %v", c.name, len(list), err)
				continue
			}
			identical(t, list[0])
		case err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), name(2)):
			t.Errorf("%s: %v; want %q of %s", c.name, err, c.says, name(2))
		}
	}
	if err := os.WriteFile(name(2), second, 0o600); err != nil {
		t.Fatal(err)
	}
	var d *journal.Damage
	if _, err := journal.ReadFiles(path, name(2)); !errors.As(err, &d) || d.File != name(2) || d.Line != 1 {
		t.Errorf("a file left out: %v", err)
	}
	if _, err := journal.ReadFiles(name(2), name(1)); !errors.As(err, &d) || d.File != name(1) {
		t.Errorf("files swapped: %v", err)
	}
	// The process died before the next file had its header.
	last := name(parts - 1)
	for _, torn := range []string{"", `{"journal":2,"buil`} {
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

// The oldest files leave, and what is left begins with a snapshot.
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
	// What was a part of an older journal of that name is gone, and nothing else.
	if want := []string{"talk.01.jsonl", "talk.notes.jsonl", "talks.1.jsonl"}; !slices.Equal(others, want) || len(ours) != 2 {
		t.Fatalf("others %v, ours %v", others, ours)
	}
	list, err := journal.ReadFiles(ours...)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d journals, %v", len(list), err)
	}
	if res := identical(t, list[0]); res.After == 0 {
		t.Error("what is left does not begin with a snapshot")
	}
}

// A ring keeps the last part within its bound, and what it saves is a journal,
// also while the recording goes on.
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

// With an output forgotten, nothing of it is left on the disk.
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
	w.Flush()
	if n := names(t, dir); len(n) > 0 {
		t.Errorf("after: %v", n)
	}
	w.Step(csm.Envelope{Seq: 1, Event: csm.Fatal{}}, csm.Initial(), nil)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if n := names(t, dir); len(n) > 0 {
		t.Errorf("at the end: %v", n)
	}
}

// fillingDisk takes room bytes, writes in part what does not fit, and can be
// given room.
type fillingDisk struct {
	bytes.Buffer
	room int
}

func (d *fillingDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func (d *fillingDisk) Truncate(size int64) error { d.Buffer.Truncate(int(size)); return nil }

// A full disk costs lines and no more: when there is room again, the journal has
// a gap mark and goes on with a snapshot.
func TestFullDiskLeavesAGap(t *testing.T) {
	disk := &fillingDisk{room: 4000}
	w, err := journal.NewWriter(disk, header)
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(w, func(int) int { return 40 })
	talk := func() {
		k.loop.Post(csm.UserStart{})
		k.clock.Advance(200*ms, k.loop.Drain)
		k.loop.Post(csm.UserStop{})
		k.clock.Advance(200*ms, k.loop.Drain)
		w.Flush()
	}
	talk()
	talk()
	disk.room = 1 << 20
	talk()
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	j, err := journal.Read(&disk.Buffer)
	if err != nil || j.Stops != nil {
		t.Fatalf("%v", err)
	}
	res, err := journal.Replay(j)
	if err != nil || res.Difference != nil || res.Lost == 0 || res.Events+res.Lost+1 != int(k.steps) { // one is the snapshot
		t.Errorf("%d steps: %+v, %v", k.steps, res, err)
	}
}
