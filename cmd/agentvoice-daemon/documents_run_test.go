package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// harmless lists the commands that the test below runs: they only read, print, and write to
// the files that they are given. doctor fails if a device or a key is missing.
var harmless = []string{
	"commands", "doctor", "graph", "help", "journals list", "models list", "replay", "sessions", "settings check", "settings explain",
	"settings list", "timeline", "usage", "version", "words",
}

// isHarmless reports whether a command line starts with one of the harmless commands, or
// prints its help or version.
func isHarmless(words []string) bool {
	if slices.Contains(words, "--help") || words[0] == "--version" {
		return true
	}
	return slices.ContainsFunc(harmless, func(c string) bool {
		of := strings.Fields(c)
		return len(words) >= len(of) && slices.Equal(words[:len(of)], of)
	})
}

// TestHarmlessCommandsOfDocumentsRun runs each one in an empty home, with the files that the
// documents name: a recorded conversation and settings.
//
//test:documents
func TestHarmlessCommandsOfDocumentsRun(t *testing.T) {
	journal, err := os.ReadFile("../../testdata/journals/timeouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for name, text := range map[string][]byte{"journal-1.jsonl": journal, "settings.json": []byte(`{"agentvoice.provider": "local"}`)} {
		if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	placeholders := map[string]string{
		"JOURNAL": "journal-1.jsonl", "journal-*.jsonl": "journal-1.jsonl", "FILE": "settings.json", "REGION": "conversation", "NAME": "agentvoice.provider",
	}
	lines := map[string]string{} // a document that has it, by command line
	for name, page := range documents(t) {
		if name == "CHANGELOG.md" {
			continue
		}
		for _, c := range commandsOf(name, page) {
			if isHarmless(c.words) {
				lines[strings.Join(c.words, " ")] = name
			}
		}
	}
	if len(lines) < 10 {
		t.Errorf("only %d command lines were found", len(lines))
	}
	for line, page := range lines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			for i, w := range args {
				args[i] = cmp.Or(placeholders[strings.TrimSuffix(w, "...")], w)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
			cmd.Args[0], cmd.Dir = "agentvoice-daemon", home
			cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "AGENTVOICE_RECORD="+filepath.Join(home, "record"))
			cmd.WaitDelay = time.Second
			out, err := cmd.CombinedOutput()
			var status *exec.ExitError
			if missing := errors.As(err, &status) && status.ExitCode() == exitFailed && args[0] == "doctor"; err != nil && !missing {
				t.Errorf("%s: agentvoice-daemon %s: %v\n%s", page, strings.Join(args, " "), err, out)
			}
			if i := slices.Index(args, "-o"); i >= 0 {
				if err := os.Remove(filepath.Join(home, args[i+1])); err != nil {
					t.Errorf("%s: agentvoice-daemon %s did not write its output: %v", page, strings.Join(args, " "), err)
				}
			}
		})
	}
}
