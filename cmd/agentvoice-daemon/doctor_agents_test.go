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
		"":                   {"available for agentvoice.agent: Codex (acp:codex-acp), opencode (acp:opencode), goose (acp:goose)"},
		"offline":            {"need no service"},
	} {
		wants(t, []finding{agentFound(t, chosen)}, "agent", true, want...)
	}
	for missing, want := range map[string]string{
		"acp:kimi":  "install it with: npm install -g @moonshot-ai/kimi-code (needs Node.js 22.19 or later)",
		"acp:devin": "its page says how to install it: https://docs.devin.ai/cli",
		"codex-acp": "",
	} {
		if f := wants(t, []finding{agentFound(t, missing)}, "agent", false); !f.Needed || !strings.Contains(f.Fix, want) {
			t.Errorf("%s: needed %v, fix %q, want %q", missing, f.Needed, f.Fix, want)
		}
	}
}

// agentFound returns what doctor says about an assistant that needs no service.
func agentFound(t *testing.T, agent string) finding {
	t.Helper()
	f := doctorFlags{assistantFlags: assistantFlags{agent: agent}}
	return f.examineAgent(t.Context(), nil)
}

// The version of an agent that npm installed is that of its package: the agent is not started.
func TestDoctorNamesTheVersionOfAnAgent(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	for name, text := range map[string]string{
		"node_modules/gemini/package.json": `{"name": "gemini", "version": "0.40.1"}`, "node_modules/gemini/dist/package.json": `{"type": "module"}`,
		"node_modules/gemini/dist/index.js": "#!/bin/sh\nexit 1\n", "package.json": `{"name": "other", "version": "9"}`, "plain": "#!/bin/sh\n", "node_modules/bare.js": "#!/bin/sh\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"gemini": "node_modules/gemini/dist/index.js", "qwen": "node_modules/bare.js"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, []finding{agentFound(t, "acp:gemini")}, "agent", true, "Gemini CLI at "+filepath.Join(bin, "gemini")+", version 0.40.1; version 0.61.0 was driven by tests")
	for _, agent := range []string{"acp:qwen", "acp:" + filepath.Join(dir, "plain")} {
		if f := wants(t, []finding{agentFound(t, agent)}, "agent", true); strings.Contains(f.Detail, ", version") {
			t.Errorf("%s: %s", agent, f.Detail)
		}
	}
}
