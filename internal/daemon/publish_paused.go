package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// pausedOf is what the user paused.
func pausedOf(st csm.State) protocol.Paused {
	return protocol.Paused{Conversation: st.UserPaused(), Voice: st.VoicePaused}
}

// paused tells the client when that changes: the state need not change with it.
func (p *publisher) paused(before, now csm.State) {
	if is := pausedOf(now); is != pausedOf(before) {
		p.notify(protocol.NotifyPaused, protocol.PausedParams{Conversation: is.Conversation, Voice: is.Voice, Label: p.d.label(now)})
	}
}

// label is what the state is called in the user's language. A voice that the user
// paused is not called speaking.
func (d *Daemon) label(st csm.State) string {
	if st.Phase() == csm.PhaseSpeaking && st.VoicePaused {
		return d.locale().VoicePausedLabel()
	}
	state, _ := st.Phase().Wire()
	return d.locale().Label(protocol.State(state), d.agent())
}
