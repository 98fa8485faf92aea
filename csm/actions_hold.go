package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// A conversation is held while there is a reason to hold it (REQ-008). Its phase
// continues underneath: answers, tools and manual decisions proceed. Held back are the
// microphone (settle), new requests (Analysing.Unsent), synthesis (synthesise) and
// playback (gate). All of them follow from the state once the last reason is gone.
//
// A lost device takes away only its own side: without the microphone, the conversation is
// deaf, but the answer is still spoken; without the speaker it is voiceless, but the user
// is still heard and answered, and the answer is spoken when the speaker is back. Without
// both, it is held.

// held says whether nothing may proceed.
func (s *State) held() bool {
	return (s.Hold&^suspendDevices != 0 || s.Hold == suspendDevices) && s.Conv.Phase().Active()
}

// deaf says whether the user cannot be heard.
func (s *State) deaf() bool {
	return s.Hold&^SuspendSpeaker != 0 && s.Conv.Phase().Active()
}

// voiceless says whether nothing can be played.
func (s *State) voiceless() bool {
	return s.Hold&^SuspendMicrophone != 0 && s.Conv.Phase().Active()
}

// inWriting says whether a whole answer is shown, and is not heard only for want of a speaker.
func (s *State) inWriting() bool {
	if !s.voiceless() || s.held() || s.approving() {
		return false
	}
	_, open := speech.LineOf(s.Speech)
	live, _ := copilot.LiveOf(s.Copilot)
	return open && (live.Request == 0 || live.Cancelled)
}

// Voiceless says whether nothing that the assistant says can be heard now.
func (s State) Voiceless() bool { return s.voiceless() }

// reasonOf returns the reason that an event sets or clears.
func reasonOf(e Event) SuspendReason {
	switch e := e.(type) {
	case Suspend:
		return e.Reason &^ suspendFacts
	case Resume:
		return e.Reason &^ suspendFacts
	case SessionRenewal, SessionRenewed:
		return SuspendRenewal
	case AudioLost:
		return e.Device.Reasons()
	case AudioRestored:
		return e.Device.Reasons()
	case ConnLost, ConnReady, TimerFired: // for a late successor
		return SuspendConnection
	default:
		return 0
	}
}

// holdCause is the cause of starting or ending a suspension.
func holdCause(on Kind) Cause {
	switch on {
	case KindAudioLost:
		return CauseDeviceLost
	case KindConnLost:
		return CauseConnLost
	case KindAudioRestored:
		return CauseDeviceRestored
	case KindConnReady:
		return CauseConnRestored
	case KindResume, KindSessionRenewed:
		return CauseSessionResume
	default:
		return CauseSessionRenewal
	}
}

// hold adds a reason to hold the conversation. Only words being spoken are lost, of which
// the user is informed; if a lost connection keeps them, or the microphone still hears
// them, not even those.
func (r *run) hold() {
	why := reasonOf(r.env.Event)
	r.st.Hold = hold.Next(r.st.Hold, hold.Give, why)
	if sp, ok := r.st.Turn.(turn.UserSpeaking); ok && r.st.deaf() {
		if e := r.openEpoch(); e != ^uint32(0) {
			r.emit(ClearInput{Epoch: e})
		}
		r.st.Turn, _ = turn.Next(r.st.Turn, turn.Answered, sp.Open)
		r.withoutWords()
	}
	if why == SuspendConnection {
		r.loseConnection()
	}
}

// withoutWords ends an utterance that was being spoken or recognised. If its audio is
// kept, it comes back as a new utterance: its turn ends like that of a cough, and an
// answer that it was spoken over ends as interrupted, since nothing could interrupt that
// answer again before its audio is back. A question about a tool call keeps waiting.
func (r *run) withoutWords() {
	r.lost = true
	if e, _ := r.env.Event.(ConnLost); !e.Kept {
		r.wordsLost()
		return
	}
	switch {
	case r.approving():
	case doubtful.Holds(r):
		r.interrupt()
	case r.st.cutIn():
		r.end(TurnCutOff)
	default:
		r.dismiss()
	}
}

// loseConnection redials. Awaited words are lost with the connection, unless they are
// kept.
func (r *run) loseConnection() {
	if _, quiet := r.st.Turn.(turn.Idle); !quiet {
		r.st.Turn = turn.Idle{}
		r.withoutWords()
	}
	if connection.Epoch(r.st.Conn) == 0 { // no successor is being dialled
		r.dial()
	}
}

// unhold removes a reason. Speech that was not heard over a lost connection is
// synthesised again over the new one.
func (r *run) unhold() {
	r.st.Hold = hold.Next(r.st.Hold, hold.Take, reasonOf(r.env.Event))
	if r.connOut == connection.Opened {
		r.respeak()
	}
}

// respeak has the unheard rest of the line synthesised again.
func (r *run) respeak() {
	if line, open := speech.LineOf(r.st.Speech); open {
		r.st.Speech = speech.Restart(r.st.Speech)
		r.emit(Flush{Gen: line.Gen + 1})
		r.refresh |= 1 << TimerSpeech
	}
}

// holdRows add and remove reasons.
func holdRows() []Row {
	const p = PhaseConversation
	return []Row{
		keep(p, KindSuspend, Guard{}, (*run).hold),
		keep(p, KindSessionRenewal, Guard{}, (*run).hold),
		keep(p, KindAudioLost, Guard{}, (*run).hold),
		keep(PhaseConnected, KindConnLost, Guard{}, (*run).hold),
		keep(PhaseConnected, Passed(TimerRenewal), Guard{}, func(r *run) { r.hold(); r.awaitSuccessor() }),
		keep(p, KindResume, Guard{}, (*run).unhold), // succeeds even if nothing is suspended
		keep(p, KindSessionRenewed, Guard{}, (*run).unhold),
		keep(p, KindAudioRestored, Guard{}, (*run).unhold),
		keep(PhaseConnected, KindConnReady, Guard{}, (*run).unhold), // that of a successor clears no reason
		row(p, Passed(TimerSuspend), Guard{}, PhaseFaulted, CauseSuspendTimeout, nil),
	}
}
