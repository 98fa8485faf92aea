//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// doctor says whether talk could write a journal with the same flags, and who else could. It leaves
// everything as it was.
func TestDoctorChecksTheJournal(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"mine": 0o700, "listed": 0o755, "shared": 0o777, "sticky": 0o777 | os.ModeSticky, "a.jsonl": 0o700} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "mine/old.jsonl"} {
		if err := os.WriteFile(at(name), []byte("kept"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, private := protocol.DefaultSettings(), protocol.DefaultSettings()
	private.Privacy.Persist = false
	for _, c := range []struct {
		journal string
		set     protocol.Settings
		want    string
		needed  bool
	}{
		{at("mine"), set, "", false},
		{at("mine/old.jsonl"), set, "", false},
		{at("listed"), set, "", false},
		{at("sticky/new.jsonl"), set, "", false},
		{at("mine/new/newer"), set, "", false},
		{at("shared"), set, at("shared") + ": others can delete or replace a journal there; run chmod go-w on it, or give --journal a folder of your own", false},
		{at("file"), set, "; give --journal a folder of your own", true},
		{at("file/below"), set, "; give --journal a folder of your own", true},
		{at("a.jsonl"), set, "it is not a regular file; give --journal another path", true},
		{at("mine"), private, "remove --journal or change the setting", true},
	} {
		f := sharedFlags{journal: c.journal, journalLimits: journal.DefaultLimits}
		if got := wants(t, examineJournal(c.set, &f), "journal", c.want == "", c.want); got.Needed != c.needed {
			t.Errorf("%s: %+v", c.journal, got)
		}
	}
	if all := examineJournal(private, &sharedFlags{}); all != nil {
		t.Errorf("without the flag: %v", all)
	}
	for name, want := range map[string]int{"mine": 1, "listed": 0, "shared": 0, "sticky": 0} {
		if entries, err := os.ReadDir(at(name)); err != nil || len(entries) != want {
			t.Errorf("%s holds %v, %v", name, entries, err)
		}
	}
	if text, err := os.ReadFile(at("mine/old.jsonl")); err != nil || string(text) != "kept" {
		t.Errorf("the old journal is %q, %v", text, err)
	}
}
