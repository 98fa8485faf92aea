package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// pausedOf returns what the user paused.
func pausedOf(st csm.State) protocol.Paused {
	return protocol.Paused{Conversation: st.UserPaused(), Voice: st.VoicePaused}
}

// paused notifies the client of changes, because the state need not change with them.
func (p *publisher) paused(before, now csm.State) {
	if is := pausedOf(now); is != pausedOf(before) {
		p.notify(protocol.NotifyPaused, protocol.PausedParams{Conversation: is.Conversation, Voice: is.Voice, Label: p.d.label(now)})
	}
}

// label returns the state's name in the user's language. A voice that the user paused
// is not labelled as speaking, and a wait for an answer about a call is not labelled as
// listening: it is the user's turn.
func (d *Daemon) label(st csm.State) string {
	if st.Phase() == csm.PhaseSpeaking && st.VoicePaused {
		return d.locale().VoicePausedLabel()
	}
	if _, asked := st.Copilot.(copilot.WaitingForApproval); asked && st.Phase() == csm.PhaseListening {
		return d.locale().AnswerLabel()
	}
	state, _ := st.Phase().Wire()
	return d.locale().Label(protocol.State(state), d.agent())
}
