package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Needs says whether state s waits for something that timer t bounds. With stands, it is
// the only place that decides which deadlines are armed (invariant 8): after each step,
// exactly the needed timers that do not stand still are armed.
func (s State) Needs(t Timer) bool { return s.needs(t) }

// needs is Needs without copying the state: it runs for each timer in each step.
func (s *State) needs(t Timer) bool {
	//exhaustive:enforce
	switch t {
	case TimerStart:
		switch c := s.Conv.(type) {
		case Idle:
			return c.Starting
		case Faulted:
			return c.Recovering
		default:
			return false
		}
	case TimerPrepare:
		return s.Conv.Phase() == PhasePreparing
	case TimerUtterance:
		return turn.Speaking(s.Turn)
	case TimerFinal:
		return len(turn.Pending(s.Turn)) > 0
	case TimerResponse:
		switch c := s.Conv.(type) {
		case Analysing:
			// Loading a model and searching tools have their own timers.
			_, loading := s.Copilot.(copilot.LoadingModel)
			_, searching := s.Copilot.(copilot.SearchingTools)
			_, calling := s.Copilot.(copilot.CallingTool)
			return !c.Awaiting && !loading && !searching && !calling
		case WaitingForCopilot:
			return true
		default:
			return false
		}
	case TimerStall, TimerCancel, TimerSearch, TimerTool, TimerModel:
		return s.assistantNeeds(t)
	case TimerSpeech:
		switch sp := s.Speech.(type) {
		case speech.Buffering:
			return sp.Played < len(sp.Segments)
		case speech.Playing, speech.Draining:
			return true
		case speech.Paused:
			return s.voiceless() && !s.cutIn() // and is suspended
		}
	case TimerInterrupt:
		return s.Cleared()
	case TimerConfirm:
		in, _ := s.Conv.(Interrupted)
		return in.Doubt
	case TimerFault:
		f, ok := s.Conv.(Faulted)
		return ok && !f.Recovering && !f.Fatal && !s.UserPaused()
	case TimerTerminate:
		return s.Conv.Phase() == PhaseTerminating
	case TimerPause:
		_, ends := s.pause()
		return turn.Silent(s.Turn) && ends
	case TimerApproval:
		return s.approving() && s.Approval.State.phase() != ApprovalDeciding
	case TimerRevoke:
		return s.Approval.State.phase() == ApprovalDeciding
	case TimerSummary:
		_, compacting := s.History.(history.Compacting)
		return compacting
	case TimerRenewal:
		o, _ := s.Conn.(connection.Open)
		return o.Successor != 0 && !o.SuccessorReady
	case TimerSuspend: // a pause by the user has no limit (invariant 18)
		return s.Hold&^SuspendUser != 0 && s.Conv.Phase().Active()
	}
	return false
}

// stands says whether the needed timer t is suspended: while the conversation is held, or
// lacks the device that would end the wait; for the answer to a question, also until the
// question was heard and while the user speaks; for taking back a yes, also while the user
// speaks or words are awaited.
func (s *State) stands(t Timer) bool {
	switch t {
	case TimerSuspend, TimerInterrupt, TimerConfirm, TimerStart, TimerFault, TimerTerminate:
		return false
	case TimerApproval:
		_, open := speech.LineOf(s.Speech)
		_, quiet := s.Turn.(turn.Idle)
		return s.deaf() || s.Conv.Phase() != PhaseListening || open || !quiet
	case TimerRevoke:
		_, quiet := s.Turn.(turn.Idle)
		return s.deaf() || !quiet
	case TimerPrepare:
		return s.deaf()
	case TimerSpeech:
		return s.voiceless()
	default:
		return s.held()
	}
}

// assistantNeeds is Needs for waits on the assistant.
func (s *State) assistantNeeds(t Timer) bool {
	switch t {
	case TimerStall:
		switch c := s.Copilot.(type) {
		case copilot.Streaming:
			return !c.Cancelled
		case copilot.Generating: // a later round, which waits in GeneratingResponse
			return !c.Cancelled && c.Round > 0
		default:
			return false
		}
	case TimerCancel:
		live, _ := copilot.LiveOf(s.Copilot)
		_, calling := s.Copilot.(copilot.CallingTool) // a call is always waited for (invariant 13)
		return live.Cancelled && !calling
	case TimerSearch:
		c, ok := s.Copilot.(copilot.SearchingTools)
		return ok && !c.Cancelled
	case TimerTool:
		_, calling := s.Copilot.(copilot.CallingTool)
		return calling
	case TimerModel:
		_, loading := s.Copilot.(copilot.LoadingModel)
		return loading
	}
	return false
}

// config returns the effective configuration: the current turn's, or the latest.
func (s *State) config() *Config {
	if s.Current.ID != 0 {
		return s.Current.Config
	}
	return s.Config
}

// pause returns how long a silence inside an utterance may last, if it ends the
// utterance.
func (s *State) pause() (time.Duration, bool) {
	c := s.config()
	return turn.Pause(c.Turns, c.Eagerness, c.Silence)
}

// after returns the duration of timer t when armed in s.
func (s *State) after(t Timer) time.Duration {
	c := s.config()
	//exhaustive:enforce
	switch t {
	case TimerStart:
		return c.StartTimeout
	case TimerPrepare:
		return c.PrepareTimeout
	case TimerUtterance:
		return c.UtteranceMax
	case TimerFinal:
		return c.FinalTimeout
	case TimerResponse:
		return c.CopilotTimeout
	case TimerStall:
		return c.StallTimeout
	case TimerCancel:
		return c.CancelTimeout
	case TimerSpeech:
		return c.SpeechTimeout
	case TimerInterrupt:
		return c.InterruptClear
	case TimerConfirm:
		return s.Conv.(Interrupted).Left
	case TimerSuspend:
		return c.SuspendMax
	case TimerFault:
		if f, _ := s.Conv.(Faulted); f.Breaker {
			return c.BreakerCool
		}
		return c.FaultBackoff << min(max(s.Faults.InRow-1, 0), 6)
	case TimerPause:
		d, _ := s.pause()
		return d
	case TimerSearch:
		return c.SearchTimeout
	case TimerApproval:
		return c.ApprovalTimeout
	case TimerRevoke:
		return c.RevokeTime
	case TimerTool:
		return c.ToolTimeout
	case TimerModel:
		return c.ModelTimeout
	case TimerSummary:
		return c.SummaryTimeout
	case TimerRenewal:
		return c.RenewalTimeout
	default:
		return c.Terminate
	}
}

// deadlines arms needed timers and stops others. A suspended timer continues with its
// remaining time; a refreshed one gets its full time.
func (r *run) deadlines() {
	st := &r.st
	for t := range NumTimers {
		ts := &st.Timers[t]
		need, refreshed := st.needs(t), r.refresh&(1<<t) != 0
		if !need && !ts.Armed {
			ts.Left = 0
			continue
		}
		switch stands := need && st.stands(t); {
		case need && !stands && (!ts.Armed || refreshed):
			after := st.after(t)
			if ts.Left > 0 && !refreshed {
				after = ts.Left
			}
			*ts = TimerState{Gen: ts.Gen + 1, Armed: true, At: r.env.At + after}
			r.emit(StartTimer{Timer: t, Gen: ts.Gen, After: after})
		case (!need || stands) && ts.Armed:
			left := max(ts.At-r.env.At, 1)
			if *ts = (TimerState{Gen: ts.Gen}); stands && !refreshed {
				ts.Left = left
			}
			r.emit(StopTimer{Timer: t, Gen: ts.Gen})
		case stands && refreshed:
			ts.Left = 0
		}
	}
}
