package world

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Each group has a name.
func TestGroupsHaveNames(t *testing.T) {
	if Acting != Voice<<(len(groupNames)-1) {
		t.Errorf("%d groups have names, and there are more or fewer", len(groupNames))
	}
}

// Answers carry the effect's ids.
func TestAnswersCarryTheEffectsIDs(t *testing.T) {
	for _, c := range []struct{ got, want csm.Event }{
		{Reaction(csm.OpenConnection{Instance: 2, Epoch: 5}), csm.ConnReady{Epoch: 5}},
		{Reaction(csm.SendCopilot{Request: 4, Round: 1}), csm.CopilotSent{Request: 4, Round: 1, Attempt: 1}},
		{Ending(csm.SendCopilot{Request: 4, Round: 1}, Done), csm.CopilotDone{Request: 4, Round: 1}},
		{Ending(csm.OpenConnection{Instance: 2, Epoch: 5}, Failed), csm.ConnFailed{Epoch: 5, Code: csm.CodeConnectionFailed}},
		{Reaction(csm.Flush{Gen: 3}), csm.SpeechFlushed{Gen: 2}},
		{Reaction(csm.CancelCopilot{Request: 4}), csm.CopilotDone{Request: 4, Cancelled: true}},
		{Reaction(csm.CancelSummary{Job: 2}), csm.Summarised{Job: 2, Code: csm.CodeCopilotFailed}},
		{Ending(csm.CloseAudio{Instance: 1}, Failed), nil},
		{Reaction(csm.HoldCapture{}), nil},
	} {
		if c.got != c.want {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
}
