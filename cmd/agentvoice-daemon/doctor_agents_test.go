//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// doctor says whether the chosen agent is known to ask.
func TestDoctorSaysWhetherTheAgentAsks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"codex-acp", "opencode", "my-agent"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for chosen, want := range map[string]string{
		"acp:codex-acp": "its mode read-only", "acp:opencode": "it may act unasked", "acp:my-agent --acp": "it may act unasked",
	} {
		if got, err := agents(chosen); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v; want %q", chosen, got, err, want)
		}
	}
}
