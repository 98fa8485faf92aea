package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

// checkout is a repository with a script that counts its runs, in which the test works.
func checkout(t *testing.T) {
	t.Helper()
	t.Setenv(memo.FolderEnv, t.TempDir())
	t.Setenv(memo.FreshEnv, "")
	t.Chdir(t.TempDir())
	put(t, "scripts/setup.sh", "echo library 1\n")
	put(t, "check.sh", "mkdir -p counts; echo 3 0 1 >counts/a.count; echo 4 0 0 >counts/b.count; echo run >>../runs; exit $(cat status)\n")
	put(t, "status", "0\n")
	put(t, "main.go", "package main\n")
	put(t, "README.md", "read\n")
	put(t, "extension/main.ts", "one\n")
	if out, err := exec.Command("sh", "-c", "git init -q && echo counts >.gitignore && git add .").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	put(t, "../runs", "")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := write(path, text); err != nil {
		t.Fatal(err)
	}
}

// TestAStepRunsAgainWhenItsInputsChange: what is not an input does not matter, and a failure is
// not remembered.
func TestAStepRunsAgainWhenItsInputsChange(t *testing.T) {
	checkout(t)
	runs := 0
	for _, tt := range []struct {
		what   string
		change func()
		runs   bool
		status int
		counts string
	}{
		{"the first time", func() {}, true, 0, "8 0 1\n"},
		{"unchanged", func() {}, false, 0, "8 0 1\n"},
		{"a document changed", func() { put(t, "README.md", "more\n") }, false, 0, "8 0 1\n"},
		{"a folder without meaning changed", func() { put(t, "extension/main.ts", "two\n") }, false, 0, "8 0 1\n"},
		{"a source changed", func() { put(t, "main.go", "package other\n") }, true, 0, "8 0 1\n"},
		{"a new file", func() { put(t, "new.go", "package other\n") }, true, 0, "8 0 1\n"},
		{"it fails", func() { put(t, "status", "3\n") }, true, 3, "7 1 1\n"},
		{"it fails again", func() {}, true, 3, "7 1 1\n"},
		{"as before the failure", func() { put(t, "status", "0\n") }, false, 0, "8 0 1\n"},
		{"another library", func() { put(t, "scripts/setup.sh", "echo library 2\n") }, true, 0, "8 0 1\n"},
		{"with FreshEnv", func() { t.Setenv(memo.FreshEnv, "1") }, true, 0, "8 0 1\n"},
	} {
		tt.change()
		s := step{counts: "counts", out: filepath.Join("counts", "sum"), without: "extension", command: []string{"sh", "check.sh"}}
		status, err := s.run()
		if err != nil || status != tt.status {
			t.Errorf("%s: status %d, %v; want %d", tt.what, status, err, tt.status)
		}
		if tt.runs {
			runs++
		}
		text, err := os.ReadFile("../runs")
		if n := strings.Count(string(text), "run"); err != nil || n != runs {
			t.Errorf("%s: it ran %d times, want %d", tt.what, n, runs)
			runs = n
		}
		if counts, err := os.ReadFile(s.out); err != nil || string(counts) != tt.counts {
			t.Errorf("%s: counts %q, %v; want %q", tt.what, counts, err, tt.counts)
		}
	}
}

// TestDocumentsOfAStepThatReadsThem checks the option -documents.
func TestDocumentsOfAStepThatReadsThem(t *testing.T) {
	checkout(t)
	s := step{counts: "counts", out: "counts/sum", documents: true, command: []string{"sh", "check.sh"}}
	for _, text := range []string{"one", "two", "one", "two"} {
		put(t, "README.md", text)
		if _, err := s.run(); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile("../runs"); strings.Count(string(text), "run") != 2 {
		t.Errorf("it ran %d times, want 2", strings.Count(string(text), "run"))
	}
}
