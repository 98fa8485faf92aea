package rpc_test

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// A conversation in a folder that is not open or not trusted is refused, and workspace/update is
// applied when it is answered.
func TestFolderOfTheConversation(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	open := func(trusted bool) object {
		return object{"folders": []object{{"path": folder, "name": "project", "trusted": trusted}}, "active": folder}
	}
	c := scripted(t, "auto speech 0ms 1s")
	c.initialize(nil, nil)
	c.refused(protocol.MethodStart, object{"context": object{"folder": folder}}, protocol.CodeNoTrustedFolder)
	c.call(protocol.MethodWorkspace, open(false), nil)
	c.refused(protocol.MethodStart, object{"context": object{"folder": folder}}, protocol.CodeNoTrustedFolder)
	c.call(protocol.MethodWorkspace, open(true), nil)
	c.refused(protocol.MethodStart, object{"context": object{"folder": other}}, protocol.CodeNoTrustedFolder)
	c.call(protocol.MethodStart, object{"context": object{"folder": folder}}, nil)
	c.end()
}
