package rpc_test

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestWholeLifecycle(t *testing.T) {
	c := scripted(t, "")
	r := c.initialize(object{"copilot": true}, nil)
	if r.ServerInfo.Name != "agentvoice-daemon" || r.ProtocolVersion != protocol.Version || !r.Capabilities.Headless {
		t.Errorf("initialize answered %+v", r)
	}
	if r.Snapshot.State != protocol.StateIdle || r.Snapshot.Label != "○ Ready" {
		t.Errorf("the snapshot is %+v", r.Snapshot)
	}
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.call(protocol.MethodEnd, nil, nil)
	c.state(protocol.StateIdle)
	c.end()
}
