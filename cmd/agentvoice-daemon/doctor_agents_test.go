//go:build !windows

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// doctor says whether the chosen agent is known to ask, how to let it do more, and what was tried.
func TestDoctorSaysWhetherTheAgentAsks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"codex-acp", "opencode", "goose", "my-agent"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for chosen, want := range map[string][]string{
		"acp:codex-acp":      {"Codex at ", "version 2.6.0 was driven by tests on 2026-", "its mode read-only", "switch to workspace access mode", "codex login"},
		"acp:opencode":       {"it may act unasked", "opencode auth login"},
		"acp:goose":          {"not tried here", "goose configure"},
		"acp:my-agent --acp": {"it may act unasked"},
		"":                   {"Codex (acp:codex-acp), opencode (acp:opencode), goose (acp:goose)"},
	} {
		got, err := agents(chosen)
		if err != nil {
			t.Errorf("%s: %v", chosen, err)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q has no %q", chosen, got, w)
			}
		}
	}
	for chosen, want := range map[string]string{
		"acp:kimi":  "install it with: npm install -g @moonshot-ai/kimi-code (needs Node.js 22.19 or later)",
		"acp:devin": "its page says how to install it: https://docs.devin.ai/cli",
	} {
		var f fault
		if _, err := agents(chosen); !errors.As(err, &f) || f.fix != want {
			t.Errorf("%s: %v, want %q", chosen, err, want)
		}
	}
}
