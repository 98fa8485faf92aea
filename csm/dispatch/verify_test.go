package dispatch

import (
	"errors"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The core keeps its invariants, so this test injects a violation: it is reported once,
// and the conversation ends in a fatal Faulted state.
func TestViolationIsReportedAndEndsTheConversation(t *testing.T) {
	var reports []csm.Report
	var ends []csm.PublishError
	clock := &Virtual{}
	l := New(Config{Clock: clock, Verify: true, Execute: func(s Step) {
		for _, f := range s.Effects {
			switch f := f.(type) {
			case csm.Report:
				reports = append(reports, f)
			case csm.PublishError:
				ends = append(ends, f)
			}
		}
	}})
	l.check = func(_ csm.State, e csm.Envelope, _ csm.State, _ []csm.Effect) error {
		if e.Seq < 2 {
			return nil
		}
		return errors.New("made up")
	}
	l.Post(csm.UserStart{})
	l.Post(csm.SessionReady{Instance: 1})
	l.Post(csm.AudioPrimed{Instance: 1})
	l.Drain()
	if len(reports) != 1 || reports[0].What != "made up" {
		t.Errorf("reports %+v, want one", reports)
	}
	if len(ends) != 1 || ends[0] != (csm.PublishError{Code: csm.CodeInvariantViolation, Fatal: true}) {
		t.Errorf("errors %+v", ends)
	}
	clock.Advance(2*time.Second, l.Drain)
	if p := l.State().Phase(); p != csm.PhaseIdle {
		t.Errorf("ended in %v", p)
	}
}
