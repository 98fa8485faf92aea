//go:build !windows

package acp

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKeysOfVoiceServicesAreWithheld: no known agent gets a key of a voice service, also if it could
// sign in with one.
func TestKeysOfVoiceServicesAreWithheld(t *testing.T) {
	names := []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "OTHER_KEY"}
	for _, name := range names {
		t.Setenv(name, "secret")
	}
	programs := t.TempDir()
	t.Setenv("PATH", programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, k := range Agents {
		if err := os.WriteFile(filepath.Join(programs, k.Command[0]), []byte("#!/bin/sh\nenv\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		a, err := New(Options{Command: k.Name, Dir: t.TempDir(), Withheld: names[:2]})
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.opts.start()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for lines := bufio.NewScanner(p); lines.Scan(); {
			if name, _, _ := strings.Cut(lines.Text(), "="); slices.Contains(names, name) {
				got = append(got, name)
			}
		}
		p.end()
		if strings.Join(got, " ") != "OTHER_KEY" {
			t.Errorf("%s has %q, want OTHER_KEY only", k.Name, got)
		}
	}
}
