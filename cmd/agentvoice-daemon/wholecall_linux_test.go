//go:build cgo

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestTheCallThatIsShownIsTheCallThatRuns: over the wire of the real program, what is shown of each call
// of an agent is what the agent sent and runs, equal by hash. Calls that do not say what they do need a
// click, and here all are clicked.
//
//test:long
func TestTheCallThatIsShownIsTheCallThatRuns(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	agent := filepath.Join(t.TempDir(), "scripted-agent")
	if err := os.Symlink(os.Args[0], agent); err != nil {
		t.Fatal(err)
	}
	calls := []struct {
		kind, title, input, content string
		click                       bool
	}{
		{"execute", "List", `{"command":["./.evil/bash","-lc","ls"]}`, "", false},
		{"execute", "List", `{"command":"ls","env":{"LD_PRELOAD":"x.so"},"stdin":"rm -rf ~","with_escalated_permissions":true}`, "", true},
		{"execute", "List", `{"command":"ls","script":"rm -rf ~"}`, "", true},
		{"edit", "create", `{"command":"create","path":"~/.bashrc","file_text":"evil"}`, "", true},
		{"edit", "Edit", "", `[{"type":"diff","path":".git/config","newText":"[core]"}]`, true},
		{"execute", "Run the tests", "", "", true},
		{"other", "Deploy to production", "", "", true},
		{"other", "deploy", `{"environment":"production"}`, "", true},
		{"execute", "Numbers", `{"command":"ls","timeout":12345678901234567890}`, "", false},
		{"edit", "Edit", "", `[{"type":"diff","path":"a.go","oldText":"a","newText":"b"}]`, false},
	}
	var lines []string
	for i, c := range calls {
		call := fmt.Sprintf(`{"toolCallId":"c%d","status":"pending","kind":%q,"title":%q`, i, c.kind, c.title)
		if c.input != "" {
			call += `,"rawInput":` + c.input
		}
		if c.content != "" {
			call += `,"content":` + c.content
		}
		lines = append(lines, call+"}")
	}
	file := filepath.Join(t.TempDir(), "calls")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(scriptedCalls, file)
	s := startSidecar(t, filepath.Join(t.TempDir(), "record"), "", "--set", "agentvoice.agent=acp:"+agent)
	s.openHere()
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	s.call(protocol.MethodSendText, `{"text":"do it all"}`, nil)
	for i, c := range calls {
		var p protocol.ToolParams
		prefix := fmt.Sprintf("c%d#", i)
		s.until("the question about call "+prefix, func(m wireMessage) bool {
			p = protocol.ToolParams{}
			return m.Method == protocol.NotifyTool && json.Unmarshal(m.Params, &p) == nil && p.Status == protocol.ToolWaiting && strings.HasPrefix(p.CallID, prefix)
		})
		shown := copilot.ToolCall{Agent: p.Agent, Name: p.Name, Kind: p.Kind, Input: p.Input, Files: p.Files, Folder: p.Folder}
		for _, diff := range p.Diffs {
			shown.Diffs = append(shown.Diffs, copilot.Diff(diff))
		}
		if string(p.Input) != c.input || p.Title != c.title || p.Kind != c.kind || p.Folder != here && p.Folder != dir || p.Hash == "" || p.Hash != shown.Hash() || p.Click != c.click {
			t.Errorf("%s: shown is %+v, input %s", lines[i], p, p.Input)
		}
		t.Logf("click %-5v | %s | %s", p.Click, p.Question, lines[i])
		s.call(protocol.MethodApproveTool, fmt.Sprintf(`{"callId":%q,"approved":true,"hash":%q}`, p.CallID, p.Hash), nil)
	}
	s.until("the answer", func(m wireMessage) bool {
		return m.Method == protocol.NotifyTranscript && strings.Contains(string(m.Params), "All done.") && strings.Contains(string(m.Params), `"final":true`)
	})
	ran, err := os.ReadFile("ran")
	if err != nil || strings.TrimSpace(string(ran)) != strings.Join(lines, "\n") {
		t.Errorf("what ran is (%v)\n%s", err, ran)
	}
}
