package csm

import (
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// A conversation is held still for as long as there is a reason (REQ-008). What it
// is at continues underneath: answers, tools and decisions by hand take their course.
// Held back is what needs what is missing: the microphone (settle), new requests
// (Analysing.Unsent), speech that is to be synthesised (synthesise) and playback
// (gate). All of it follows from the state when the last reason is gone.

// reasonOf is the reason that an event gives or takes away.
func reasonOf(e Event) SuspendReason {
	switch e := e.(type) {
	case Suspend:
		return e.Reason &^ suspendFacts
	case Resume:
		return e.Reason &^ suspendFacts
	case SessionRenewal, SessionRenewed:
		return SuspendRenewal
	case AudioLost, AudioRestored:
		return SuspendDevice
	case ConnLost, ConnReady, TimerFired: // of a successor that is late
		return SuspendConnection
	default:
		return 0
	}
}

// holdCause is why an event begins or ends a suspension.
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

// hold gives a reason to hold the conversation still. Nothing is lost but the words
// that are being spoken, and the user is told so. With a connection they are only lost
// where they are not kept.
func (r *run) hold() {
	why := reasonOf(r.env.Event)
	r.st.Hold = hold.Next(r.st.Hold, hold.Give, why)
	if sp, ok := r.st.Turn.(turn.UserSpeaking); ok {
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

// withoutWords ends an utterance that was being spoken or recognised. One that is
// kept comes back as a new one, so its turn ends like that of a cough.
func (r *run) withoutWords() {
	if e, _ := r.env.Event.(ConnLost); e.Kept {
		r.dismiss()
		return
	}
	r.wordsLost()
}

// loseConnection has the connection dialled again. Words that were awaited are lost
// with it, or kept.
func (r *run) loseConnection() {
	if _, quiet := r.st.Turn.(turn.Idle); !quiet {
		r.st.Turn = turn.Idle{}
		r.withoutWords()
	}
	if connection.Epoch(r.st.Conn) == 0 { // no successor is on its way
		r.dial()
	}
}

// unhold takes a reason away. What was not heard over a connection that was lost is
// synthesised again over the new one.
func (r *run) unhold() {
	r.st.Hold = hold.Next(r.st.Hold, hold.Take, reasonOf(r.env.Event))
	if line, open := speech.LineOf(r.st.Speech); open && r.connOut == connection.Opened {
		r.st.Speech = speech.Restart(r.st.Speech)
		r.emit(Flush{Gen: line.Gen + 1})
		r.refresh |= 1 << TimerSpeech
	}
}

// holdRows give and take the reasons.
func holdRows() []Row {
	const p = PhaseConversation
	return []Row{
		keep(p, KindSuspend, Guard{}, (*run).hold),
		keep(p, KindSessionRenewal, Guard{}, (*run).hold),
		keep(p, KindAudioLost, Guard{}, (*run).hold),
		keep(PhaseConnected, KindConnLost, Guard{}, (*run).hold),
		keep(PhaseConnected, Passed(TimerRenewal), Guard{}, func(r *run) { r.hold(); r.awaitSuccessor() }),
		keep(p, KindResume, Guard{}, (*run).unhold), // also of what is not suspended: it has what it wants
		keep(p, KindSessionRenewed, Guard{}, (*run).unhold),
		keep(p, KindAudioRestored, Guard{}, (*run).unhold),
		keep(PhaseConnected, KindConnReady, Guard{}, (*run).unhold), // a successor's takes nothing away
		row(p, Passed(TimerSuspend), Guard{}, PhaseFaulted, CauseSuspendTimeout, nil),
	}
}
