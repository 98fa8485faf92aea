//go:build unix

package offline_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/offline"
)

// TestHostileFolder: every question about a folder of links, devices, pipes and programs is
// answered, without anything outside of it and without running anything.
func TestHostileFolder(t *testing.T) {
	outside := write(t, map[string]string{"secret.go": "package secret\n\n// CANARY.\nfunc outsideName() {}\n", "go.mod": "module x\n\ngo 1.0\n"})
	dir := write(t, map[string]string{"good.go": "package a\n\nfunc insideName() {}\n", ".gitattributes": "* filter=evil diff=evil\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	huge, err := os.Create(filepath.Join(dir, "huge.go"))
	if err := errors.Join(err, huge.Truncate(4<<30), huge.Close(),
		os.WriteFile(filepath.Join(dir, "evil.sh"), []byte("#!/bin/sh\ntouch '"+ran+"'\nexec cat\n"), 0o700),
		os.Symlink("/dev/zero", filepath.Join(dir, "a.go")),
		os.Symlink(filepath.Join(outside, "secret.go"), filepath.Join(dir, "aa.go")),
		os.Symlink(outside, filepath.Join(dir, "away")),
		os.Symlink(".", filepath.Join(dir, "loop")),
		os.Symlink(filepath.Join(outside, "go.mod"), filepath.Join(dir, "go.mod")),
		os.Symlink("/dev/zero", filepath.Join(dir, "package.json")),
		os.WriteFile(filepath.Join(dir, "line\nbreak\u202e.txt"), nil, 0o600),
		syscall.Mkfifo(filepath.Join(dir, "b.go"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "good.go"}, {"-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"},
		{"config", "filter.evil.clean", "./evil.sh"}, {"config", "filter.evil.process", "./evil.sh"}, {"config", "core.fsmonitor", "./evil.sh"}, {"config", "diff.external", "./evil.sh"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	_ = os.Remove(ran)
	if err := os.WriteFile(filepath.Join(dir, "good.go"), []byte("package a\n\nfunc insideName() { }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
	for question, want := range map[string]string{
		"what has changed":          "not committed: `good.go`",
		"what was the last commit":  "“first”",
		"which branch":              "`main`",
		"how many files are there":  "There are 4 files", // good.go, huge.go, evil.sh and .gitattributes
		"what is in this folder":    "This folder contains `a.go`",
		"which go version":          "does not say which version",
		"where is insideName":       "`insideName` is a function in `good.go`",
		"where is outsideName":      "I heard: ",
		"run the tests":             "I do not know how to run the tests of this folder.",
		"what is in the folder now": "This folder contains",
	} {
		got, _ := asked(t, a, user(question))
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", question, got, want)
		}
		if strings.Contains(got, "CANARY") || strings.ContainsAny(strings.TrimSpace(strings.ReplaceAll(got, "\n\n```", "")), "\u202e") {
			t.Errorf("%q: %q", question, got)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program that the repository names was run")
	}
}
