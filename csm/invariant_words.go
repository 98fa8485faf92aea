package csm

import (
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// checkQueue: what waits has something before it that ends, and requests follow the order of
// onsets (invariants 16 and 17).
func checkQueue(s State) error {
	if len(s.Queue) == 0 {
		return nil
	}
	if !slices.IsSorted(s.Queue) {
		return fmt.Errorf("invariant 17: utterances wait in the order %v", s.Queue)
	}
	if !s.Phase().Active() || s.held() || s.idleWithQueue() || speech.Audible(s.Speech) {
		return nil
	}
	for t := range NumTimers {
		if s.Timers[t].Armed && t != TimerSummary && t != TimerRenewal {
			return nil
		}
	}
	return fmt.Errorf("invariant 16: nothing ends what %d utterances wait for", len(s.Queue))
}

// checkHolds: a call that is allowed beforehand does not run while speech before it is paused or the
// user speaks over it (invariant 14).
func checkHolds(before State, e Envelope, after State, f CallTool) error {
	w, asked := before.Copilot.(copilot.WaitingForApproval)
	_, open := speech.LineOf(before.Speech)
	_, quiet := after.Turn.(turn.Idle)
	if _, click := e.Event.(UserApprove); click || !asked || w.Calls[0].ID != f.ToolCall || !before.passes() || !open {
		return nil
	}
	if _, open = speech.LineOf(after.Speech); open && (!quiet || after.VoicePaused) {
		return fmt.Errorf("invariant 14: call %d runs although the user holds what was said before it", f.ToolCall)
	}
	return nil
}

// checkConsent: a call that the user allows by voice runs in silence, after a yes to a question
// that was heard, with nothing lost since; one that changes something, after a time in which
// the user may take the yes back (invariant 14).
func checkConsent(before State, e Envelope, after State, f CallTool) error {
	w, asked := before.Copilot.(copilot.WaitingForApproval)
	if _, click := e.Event.(UserApprove); click || !asked || w.Calls[0].ID != f.ToolCall || before.passes() {
		return nil
	}
	_, quiet := after.Turn.(turn.Idle)
	said, words := e.Event.(Final)
	means := before.MeaningOf(said)
	now := words && (means == MeansYes && said.Named || (means == MeansYes || means == MeansAssent) && !w.Calls[0].Destructive)
	passed, timer := e.Event.(TimerFired)
	switch {
	case !before.Approval.Heard:
		return fmt.Errorf("invariant 14: call %d runs, but its question was not heard", f.ToolCall)
	case !quiet || after.deaf():
		return fmt.Errorf("invariant 14: call %d runs while words are awaited", f.ToolCall)
	case before.Approval.State.phase() != ApprovalDeciding && !now:
		return fmt.Errorf("invariant 14: call %d runs without a yes", f.ToolCall)
	case !w.Calls[0].Reads && !(timer && passed.Timer == TimerRevoke):
		return fmt.Errorf("invariant 14: call %d runs before the yes could be taken back", f.ToolCall)
	}
	return nil
}

// checkHeard: the user's pause or words make a question count as heard only where it sounds, not
// where the answer before it does (invariant 14).
func checkHeard(before State, e Envelope, after State) error {
	if before.Approval.Heard || !after.Approval.Heard {
		return nil
	}
	switch e.Event.(type) {
	case Final, UserPlayback:
		if line, open := speech.LineOf(before.Speech); !open || line.Played < len(line.Segments)-1 {
			return fmt.Errorf("invariant 14: %v makes a question heard that does not sound", KindOf(e.Event))
		}
	default:
	}
	return nil
}

// checkWithdrawn: a yes does not outlast what was lost or not understood after it (invariant 14).
func checkWithdrawn(before State, e Envelope, after State, fx []Effect) error {
	if before.Approval.State.phase() != ApprovalDeciding || after.Counters.Stale > before.Counters.Stale {
		return nil
	}
	lost := after.deaf()
	switch e := e.Event.(type) {
	case Final:
		switch before.MeaningOf(e) {
		case MeansUnclear, MeansDoubt, MeansNo, MeansPause, MeansStop:
			lost = true
		case MeansMessage, MeansSend:
			u, _ := turn.Find(before.Turn, e.Utterance)
			lost = lost || e.Words > 0 && u.Stamp == turn.OverQuestion
		default:
		}
	case RecognitionLost:
		lost = true
	case TimerFired:
		lost = lost || e.Timer == TimerFinal || e.Timer == TimerUtterance
	default:
	}
	if !lost {
		return nil
	}
	_, click := e.Event.(UserApprove)
	asked, _ := before.Copilot.(copilot.WaitingForApproval)
	calls := slices.ContainsFunc(fx, func(f Effect) bool { // a preapproved one may run after a no
		c, call := f.(CallTool)
		return call && c.ToolCall == asked.Calls[0].ID
	})
	if after.Approval.State.phase() == ApprovalDeciding || calls && !click {
		return fmt.Errorf("invariant 14: a yes outlasts %v", KindOf(e.Event))
	}
	return nil
}

// checkDropped: words that were spoken before an interrupt are not sent (invariant 15).
func checkDropped(before State, e Envelope, after State) error {
	switch e := e.Event.(type) {
	case UserInterrupt:
		sp, _ := after.Turn.(turn.UserSpeaking)
		for _, u := range append(slices.Clone(turn.Pending(after.Turn)), sp.Open) {
			if u.ID != 0 && !u.Dropped {
				return fmt.Errorf("invariant 15: utterance %d outlasts an interrupt", u.ID)
			}
		}
	case Final:
		if u, _ := turn.Find(before.Turn, e.Utterance); !u.Dropped {
			return nil
		}
		if slices.Contains(slices.Concat(after.Queue, after.Drafts, after.Current.More, []uint64{after.Current.Utterance}), e.Utterance) {
			return fmt.Errorf("invariant 15: utterance %d is used, but it was dropped", e.Utterance)
		}
	default:
	}
	return nil
}
