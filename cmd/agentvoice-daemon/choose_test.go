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
		acts                bool
		answers             string // "agent", "refusal", or "" for the client's or the process's own
	}{
		{"a setting, with a folder", "offline", "codex-acp", true, true, dir, true, "agent"},
		{"a setting, without one", "offline", "codex-acp", true, true, "", true, "refusal"},
		{"a setting, of a client that says nothing", "offline", "acp:codex-acp", true, false, "", true, "refusal"},
		{"a setting that names no agent", "offline", "openai", true, true, "", false, "agent"},
		{"no setting", "offline", "", true, true, dir, false, ""},
		{"the command line, with a folder", "acp:codex-acp", "", false, true, dir, true, "agent"},
		{"the command line, without one", "acp:codex-acp", "", false, true, "", true, "refusal"},
		{"the command line, of a client that says nothing", "acp:codex-acp", "", false, false, "", false, ""},
		{"the command line, of a client with an assistant", "acp:codex-acp", "", true, true, dir, false, ""},
	} {
		f := assistants{assistantFlags: &assistantFlags{agent: c.flag, model: defaultChatModel}, editor: c.editor}
		set := protocol.DefaultSettings()
		set.Agent = c.setting
		if acts := f.acts(set, c.given); acts != c.acts {
			t.Errorf("%s: acts %v", c.name, acts)
		}
		answers := ""
		if chosen := f.choose()(set, c.folder, c.given); chosen != nil {
			answers = "agent"
			if _, refuses := chosen.(homeless); refuses {
				answers = "refusal"
			}
		}
		if answers != c.answers {
			t.Errorf("%s: it is answered by %q, want %q", c.name, answers, c.answers)
		}
	}
}
