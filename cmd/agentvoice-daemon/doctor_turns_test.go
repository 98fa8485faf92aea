package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// wants checks a finding and that its detail contains the words.
func wants(t *testing.T, all []finding, name string, ok bool, words ...string) finding {
	t.Helper()
	i := slices.IndexFunc(all, func(f finding) bool { return f.Check == name })
	if i < 0 {
		t.Fatalf("no check of the %s", name)
	}
	if all[i].OK != ok {
		t.Errorf("%s: OK is %v, want %v; detail %q", name, all[i].OK, ok, all[i].Detail)
	}
	for _, w := range words {
		if !strings.Contains(all[i].Detail, w) {
			t.Errorf("%s: detail %q does not contain %q", name, all[i].Detail, w)
		}
	}
	return all[i]
}

// TestDoctorSaysByWhatTurnsEnded in the newest journal of a folder, or in one that is named.
func TestDoctorSaysByWhatTurnsEnded(t *testing.T) {
	folder := t.TempDir()
	record := func(name string, age time.Duration, events ...csm.Event) string {
		path := filepath.Join(folder, name)
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := journal.NewWriter(file, journal.Header{Build: "b", Content: journal.Redacted, Started: time.Now(), Speed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range events {
			w.Event(csm.Envelope{Seq: uint64(i + 1), Event: e})
		}
		changed := time.Now().Add(-age)
		if err := errorsOf(w.Close, file.Close, func() error { return os.Chtimes(path, changed, changed) }); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if all := examineEnds(folder); all != nil {
		t.Errorf("without a journal: %v", all)
	}
	if all := examineEnds(filepath.Join(folder, "none.jsonl")); all != nil {
		t.Errorf("with a journal that does not exist yet: %v", all)
	}
	ended := func(why csm.EndReason) csm.Event { return csm.SpeechStopped{Epoch: 1, Utterance: 1, Why: why} }
	quiet := record("quiet.jsonl", time.Hour)
	wants(t, examineEnds(folder), "last conversation", true, "nothing was said")
	record("talk.jsonl", time.Minute, ended(csm.EndedByStop), ended(csm.EndedByWords), ended(csm.EndedByStop), ended(csm.EndedElsewhere))
	wants(t, examineEnds(folder), "last conversation", true, "4 times", "judged by: elsewhere 1, words 1, full stop 2")
	wants(t, examineEnds(quiet), "last conversation", true, "nothing was said")
	record("two.jsonl", time.Second, ended(csm.EndedByWords), csm.UserStart{}, ended(csm.EndedByStop), ended(csm.NumEndReasons+3))
	wants(t, examineEnds(folder), "last conversation", true, "2 times", "judged by: elsewhere 1, full stop 1")
	damaged := filepath.Join(folder, "damaged.jsonl")
	if err := os.WriteFile(damaged, []byte("something else\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, examineEnds(damaged), "last conversation", false, "not a journal file")
	wants(t, examineEnds(folder), "last conversation", true, "2 times")
}

// errorsOf runs steps until one fails.
func errorsOf(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
