package rpc

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestEveryMessageOfAClientHasAHandler(t *testing.T) {
	for _, m := range protocol.Messages {
		_, ok := handlers[m.Method]
		if want := m.Direction != protocol.DaemonToClient; ok != want {
			t.Errorf("%s has a handler: %v, want %v", m.Method, ok, want)
		}
	}
	for method := range handlers {
		if _, ok := protocol.Lookup(method); !ok {
			t.Errorf("%s has a handler and is no message of the protocol", method)
		}
	}
}
