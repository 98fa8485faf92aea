package daemon

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// If the core ignores a failure, its reason is not attached to the next failure with
// the same code.
func TestAReasonBelongsToItsOwnFailure(t *testing.T) {
	var told []protocol.ErrorParams
	d, _ := speakingTo(t, protocol.ProfileDefault, func(_ string, params any) {
		if p, ok := params.(protocol.ErrorParams); ok {
			told = append(told, p)
		}
	})
	d.fail(csm.ConnFailed{Epoch: 99, Code: csm.CodeConnectionFailed}, "certificate expired")
	d.Drain()
	d.Post(csm.SessionFailed{Instance: 1, Code: csm.CodeConnectionFailed})
	d.Drain()
	if len(told) != 1 || strings.Contains(told[0].Message, "certificate") {
		t.Errorf("the client is told %+v", told)
	}
	if len(d.why) != 0 {
		t.Errorf("reasons are kept after their events: %v", d.why)
	}
}

// Each failure is reported with its own reason, even if two with the same code follow
// each other.
func TestEachFailureHasItsReason(t *testing.T) {
	var told []string
	d, _ := speakingTo(t, protocol.ProfileDefault, func(_ string, params any) {
		if p, ok := params.(protocol.ErrorParams); ok {
			told = append(told, p.Message)
		}
	})
	d.fail(csm.SessionFailed{Instance: 99, Code: csm.CodeSessionFailed}, "the first")
	d.fail(csm.SessionFailed{Instance: 1, Code: csm.CodeSessionFailed}, "the second")
	d.Drain()
	if len(told) != 1 || !strings.HasSuffix(told[0], "(the second)") {
		t.Errorf("the client is told %q", told)
	}
}
