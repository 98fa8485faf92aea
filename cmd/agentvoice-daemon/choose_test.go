package main

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestNoAgentActsWithoutAFolder: a coding agent is selected with a trusted folder only, whether a
// setting or the command line names it. Without word from the client about what is open, one of the
// command line works where the process was started.
func TestNoAgentActsWithoutAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, flag, setting string
		editor, given       bool
		folder              string
		acts, selected      bool
	}{
		{"a setting, with a folder", "offline", "codex-acp", true, true, dir, true, true},
		{"a setting, without one", "offline", "codex-acp", true, true, "", true, false},
		{"a setting, of a client that says nothing", "offline", "acp:codex-acp", true, false, "", true, false},
		{"a setting that names no agent", "offline", "openai", true, true, "", false, true},
		{"no setting", "offline", "", true, true, dir, false, false},
		{"the command line, with a folder", "acp:codex-acp", "", false, true, dir, true, true},
		{"the command line, without one", "acp:codex-acp", "", false, true, "", true, false},
		{"the command line, of a client that says nothing", "acp:codex-acp", "", false, false, "", false, false},
		{"the command line, of a client with an assistant", "acp:codex-acp", "", true, true, dir, false, false},
	} {
		f := assistantFlags{agent: c.flag}
		set := protocol.DefaultSettings()
		set.Agent = c.setting
		if acts := f.acts(c.editor)(set, c.given); acts != c.acts {
			t.Errorf("%s: acts %v", c.name, acts)
		}
		if chosen := f.choose(c.editor)(set, c.folder, c.given); (chosen != nil) != c.selected {
			t.Errorf("%s: selected %v", c.name, chosen)
		}
	}
}
