package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// deviceTexts are the messages about devices that were lost, with what to do, and that work again.
// Without such a text, that of the code is used.
var deviceTexts = map[csm.Device]struct{ gone, remedy, back map[protocol.Locale]string }{
	csm.BothDevices: {back: map[protocol.Locale]string{
		protocol.English:  "The audio device is back.",
		protocol.German:   "Das Audiogerät ist wieder da.",
		protocol.Japanese: "オーディオデバイスが再び使えるようになりました。",
	}},
	csm.Microphone: {
		gone: map[protocol.Locale]string{
			protocol.English:  "The microphone was disconnected.",
			protocol.German:   "Das Mikrofon wurde getrennt.",
			protocol.Japanese: "マイクが切断されました。",
		},
		back: map[protocol.Locale]string{
			protocol.English:  "The microphone is back.",
			protocol.German:   "Das Mikrofon ist wieder da.",
			protocol.Japanese: "マイクが再び使えるようになりました。",
		},
	},
	csm.Speaker: {
		gone: map[protocol.Locale]string{
			protocol.English:  "The speaker was disconnected.",
			protocol.German:   "Der Lautsprecher wurde getrennt.",
			protocol.Japanese: "スピーカーが切断されました。",
		},
		remedy: map[protocol.Locale]string{
			protocol.English:  "Reconnect it, or select another one; meanwhile you are heard, and answers can be read.",
			protocol.German:   "Schließen Sie ihn wieder an oder wählen Sie einen anderen; Sie werden inzwischen gehört, und Antworten lassen sich lesen.",
			protocol.Japanese: "接続し直すか、別のスピーカーを選んでください。その間も音声は聞き取られ、回答は画面で読めます。",
		},
		back: map[protocol.Locale]string{
			protocol.English:  "The speaker is back.",
			protocol.German:   "Der Lautsprecher ist wieder da.",
			protocol.Japanese: "スピーカーが再び使えるようになりました。",
		},
	},
}

const lostDevices = csm.SuspendMicrophone | csm.SuspendSpeaker

// deviceOf returns the device whose loss gives the reasons.
func deviceOf(why csm.SuspendReason) csm.Device {
	switch why {
	case csm.SuspendMicrophone:
		return csm.Microphone
	case csm.SuspendSpeaker:
		return csm.Speaker
	default:
		return csm.BothDevices
	}
}

// device reports a lost device, with what to do, and its return. The state says only that
// one is missing, and need not change with it. The code says that the failure is over, so
// it comes with the last device that returns.
func (p *publisher) device(before csm.State, s dispatch.Step) {
	had, has := before.Hold&lostDevices, s.State.Hold&lostDevices
	_, restored := s.Envelope.Event.(csm.AudioRestored)
	switch back := had &^ has; {
	case has&^had != 0:
		p.d.voice.problem.Store(true)
		lost := p.d.failure(csm.CodeDeviceLost, p.reason)
		if text := deviceTexts[deviceOf(has)].gone; text != nil {
			lost.Message = withReason(text[p.d.locale()], p.reason)
		}
		if text := deviceTexts[deviceOf(has)].remedy; text != nil {
			lost.Remediation = text[p.d.locale()]
		}
		p.notify(protocol.NotifyError, lost)
	case back != 0 && restored:
		says := protocol.NotificationParams{
			Message: deviceTexts[deviceOf(back)].back[p.d.locale()], Severity: protocol.SeverityInfo, Kind: protocol.NotificationMessage,
			TurnID: turnID(s.State.Current.ID),
		}
		if has == 0 {
			says.Code = protocol.CodeDeviceLost
		}
		p.notify(protocol.NotifyNotification, says)
	}
}

func withReason(message, reason string) string {
	if reason == "" {
		return message
	}
	return message + " (" + reason + ")"
}
