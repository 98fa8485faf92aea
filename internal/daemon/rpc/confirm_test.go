package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// For a tool that the editor confirms itself, the question says so beforehand, and when
// the call waits in the editor's dialog, the daemon says so in the user's language. It
// says nothing about a call that is not running.
func TestToolThatTheEditorConfirms(t *testing.T) {
	words := map[string][3]string{ // beforehand, when it waits, when it may wait
		"en": {"The editor will ask you once more, in a dialog.", "asks you to confirm the tool run tests", "may be asking you"},
		"de": {"Der Editor fragt danach noch einmal, in einem Dialog.", "das Werkzeug run tests zu bestätigen", "Vielleicht bittet der Editor"},
		"ja": {"もう一度確認があります。", "ツール run tests の確認", "求められているかもしれません"},
	}
	for locale, want := range words {
		t.Run(locale, func(t *testing.T) {
			c := scripted(t, "auto speech 0ms 1s")
			c.initialize(withTools, object{"agentvoice.locale": locale})
			c.notify(protocol.MethodCopilotTools, object{"tools": []object{{"name": "runTests", "destructive": false, "confirms": true}}})
			c.call(protocol.MethodStart, nil, nil)
			c.state(protocol.StateListening)
			_, asked := c.ask("runTests", object{}, nil)
			if !strings.Contains(asked.Question, want[0]) {
				t.Errorf("the question is %q", asked.Question)
			}
			c.notify(protocol.MethodToolConfirming, object{"callId": "call-1", "certain": true}) // not approved yet
			c.allow("call-1")
			id, _ := c.invoked()
			c.never(protocol.NotifyNotification)
			c.notify(protocol.MethodToolConfirming, object{"callId": "call-2", "certain": true})
			c.notify(protocol.MethodToolConfirming, object{"callId": "call-1", "certain": true})
			c.notify(protocol.MethodToolConfirming, object{"callId": "call-1"})
			for _, part := range want[1:] {
				m := c.until("a notification", func(m message) bool { return m.Method == protocol.NotifyNotification })
				var p protocol.NotificationParams
				if err := json.Unmarshal(m.Params, &p); err != nil || !strings.Contains(p.Message, part) {
					t.Errorf("the notification is %q, want %q in it; %v", p.Message, part, err)
				}
			}
			c.respond(id, object{"content": "42 passed"})
			c.tool(protocol.ToolCompleted)
			c.notify(protocol.MethodToolConfirming, object{"callId": "call-1", "certain": true}) // it has ended
			c.never(protocol.NotifyNotification)
			c.end()
		})
	}
}
