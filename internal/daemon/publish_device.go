package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// deviceBack is the message for the user when a lost device works again.
var deviceBack = map[protocol.Locale]string{
	protocol.English:  "The audio device is back.",
	protocol.German:   "Das Audiogerät ist wieder da.",
	protocol.Japanese: "オーディオデバイスが再び使えるようになりました。",
}

// lacksDevice reports whether a conversation waits for a device.
func lacksDevice(st csm.State) bool {
	return st.Hold&csm.SuspendDevice != 0
}

// device reports a lost device, with what to do, and its return. The state says the
// same, but only to a client that interprets the reason.
func (p *publisher) device(before csm.State, s dispatch.Step) {
	had, has := lacksDevice(before), lacksDevice(s.State)
	_, restored := s.Envelope.Event.(csm.AudioRestored)
	switch {
	case has && !had:
		p.d.voice.problem.Store(true)
		p.notify(protocol.NotifyError, p.d.failure(csm.CodeDeviceLost, p.reason))
	case had && !has && restored:
		p.notify(protocol.NotifyNotification, protocol.NotificationParams{
			Message: deviceBack[p.d.locale()], Severity: protocol.SeverityInfo, Kind: protocol.NotificationMessage,
			Code: protocol.CodeDeviceLost, TurnID: turnID(s.State.Current.ID),
		})
	}
}
