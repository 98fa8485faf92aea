package daemon

import (
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// The core and the wire use the same names. A code, cause or state unknown to the wire
// would reach a client without text.
func TestCoreSpeaksTheWire(t *testing.T) {
	for _, c := range csm.Codes {
		if !protocol.ErrorCode(c).Known() {
			t.Errorf("code %s has no row in the table of errors", c)
		}
	}
	if len(csm.Causes) != len(protocol.Causes) {
		t.Errorf("%d causes in the core, %d on the wire", len(csm.Causes), len(protocol.Causes))
	}
	for _, c := range csm.Causes {
		if !slices.Contains(protocol.Causes, protocol.Cause(c)) {
			t.Errorf("cause %s is not on the wire", c)
		}
	}
	for p := range csm.NumPhases {
		state, sub := p.Wire()
		if !slices.Contains(protocol.States, protocol.State(state)) {
			t.Errorf("state %s of %v is not on the wire", state, p)
		}
		if sub != "" && !slices.Contains(protocol.Substates, protocol.Substate(sub)) {
			t.Errorf("substate %s of %v is not on the wire", sub, p)
		}
	}
	for s := session.Inactive; s <= session.Error; s++ {
		if !slices.Contains(protocol.SessionStates, protocol.SessionState(s.String())) {
			t.Errorf("session state %v is not on the wire", s)
		}
	}
}

// Every failure that can end a turn has spoken text.
func TestFailuresOfTurnsAreSpoken(t *testing.T) {
	for _, c := range []csm.Code{
		csm.CodeCopilotTimeout, csm.CodeCopilotStalled, csm.CodeCopilotFailed, csm.CodeCopilotNotInstalled,
		csm.CodeCopilotNoConsent, csm.CodeCopilotQuota, csm.CodeCopilotUnavailable, csm.CodeCopilotBlocked,
		csm.CodeCopilotEmpty, csm.CodeRecognitionFailed, csm.CodeRecognitionTimeout, csm.CodeUtteranceLost,
	} {
		for _, l := range protocol.Locales {
			if protocol.ErrorCode(c).Spec().Spoken(l) == "" {
				t.Errorf("%s has nothing to say in %s", c, l)
			}
		}
	}
}

func TestContentCountsCharactersNotBytes(t *testing.T) {
	c := newContent()
	c.beginRound(1, 0, spoken.Options{})
	if n := c.extend(1, "Grüße 日本. Und weiter."); n != 21 {
		t.Errorf("length %d, want 21 characters", n)
	}
	if got := c.answer(1, 8); got != "Grüße 日本" {
		t.Errorf("first 8 characters %q", got)
	}
	if got := c.source(1, 6, 8); got != "日本" {
		t.Errorf("characters 6 to 8 %q", got)
	}
	if got := c.answer(1, 1000); got != "Grüße 日本. Und weiter." {
		t.Errorf("more than there are: %q", got)
	}
	c.forget()
	if c.answer(1, -1) != "" {
		t.Error("words are still there")
	}
}
