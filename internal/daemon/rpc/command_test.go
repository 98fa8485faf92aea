package rpc_test

import (
	"encoding/json"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// An editor voice command reaches a client that accepts them, and the reason of its
// failure reaches the user. For any other client, the words go to the assistant.
func TestAVoiceCommandOfTheEditor(t *testing.T) {
	const script = `
		await state listening
		say "go to line four thousand"
	`
	c := scripted(t, script)
	c.initializeAndListen(object{"commands": true, "copilot": true})
	asked := c.until("the command", func(m message) bool {
		if m.Method == protocol.MethodCopilotSend {
			t.Error("the assistant is asked")
		}
		return m.Method == protocol.MethodEditorCommand
	})
	var p protocol.EditorCommandParams
	if err := json.Unmarshal(asked.Params, &p); err != nil || p.Command != protocol.EditorGoToLine || p.Number != 4000 {
		t.Errorf("asked for %s", asked.Params)
	}
	c.respond(asked.ID, object{"problem": "This file has 300 lines."})
	c.until("the problem", func(m message) bool {
		var n protocol.NotificationParams
		return m.Method == protocol.NotifyNotification && json.Unmarshal(m.Params, &n) == nil && n.Message == "This file has 300 lines."
	})

	c = scripted(t, script)
	c.initializeAndListen(object{"copilot": true})
	c.until("the question", func(m message) bool {
		if m.Method == protocol.MethodEditorCommand {
			t.Error("an editor is asked that takes no commands")
		}
		return m.Method == protocol.MethodCopilotSend
	})
}
