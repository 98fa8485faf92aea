package rpc_test

import (
	"encoding/json"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// microphone reads up to the next agentvoice.microphone for which holds returns true.
func (c *client) microphone(what string, holds func(protocol.Microphone) bool) (mic protocol.Microphone) {
	c.t.Helper()
	c.until(what, func(m message) bool {
		if m.Method != protocol.NotifyMicrophone {
			return false
		}
		mic = protocol.Microphone{}
		if err := json.Unmarshal(m.Params, &mic); err != nil {
			c.t.Fatal(err)
		}
		return holds(mic)
	})
	return mic
}

// The snapshot says whether the device is being captured, and each change is published.
func TestTheSnapshotSaysWhatTheMicrophoneDoes(t *testing.T) {
	c := scripted(t, `
		await state listening
		await client/heartbeat
		device.lost
		await client/heartbeat
		device.restored
	`)
	c.initialize(nil, nil)
	if mic := c.snapshot().Microphone; mic.Open || mic.Muted || mic.Wake || mic.Mode != protocol.TurnAutomatic {
		t.Errorf("before the conversation: %+v", mic)
	}
	c.call(protocol.MethodStart, nil, nil)
	c.microphone("open", func(m protocol.Microphone) bool { return m.Open })
	c.state(protocol.StateListening)
	c.request(protocol.MethodMute, object{"muted": true})
	mic := c.microphone("muted", func(m protocol.Microphone) bool { return m.Muted })
	if !mic.Open || mic.MutedBy != protocol.MutedByUser {
		t.Errorf("muted: %+v", mic)
	}
	if now := c.snapshot().Microphone; now != mic {
		t.Errorf("the snapshot has %+v, published was %+v", now, mic)
	}
	c.notify(protocol.MethodHeartbeat, nil)
	c.microphone("the lost device", func(m protocol.Microphone) bool { return !m.Open })
	c.notify(protocol.MethodHeartbeat, nil)
	c.microphone("the device that is back", func(m protocol.Microphone) bool { return m.Open })
	c.request(protocol.MethodEnd, nil)
	if mic := c.microphone("the end", func(m protocol.Microphone) bool { return !m.Open }); !mic.Muted {
		t.Errorf("the end of the conversation unmuted: %+v", mic)
	}
	c.end()
}

// initialize repeats the mute of an earlier daemon: it applies before anything can be
// captured, also for the wake phrase.
func TestInitializeMutesBeforeAnythingIsCaptured(t *testing.T) {
	c := scripted(t, "")
	var r protocol.InitializeResult
	c.call(protocol.MethodInitialize, object{
		"protocolVersion": protocol.Version, "microphone": object{"muted": true, "by": "locked"},
		"configuration": object{"agentvoice.wake.enabled": true, "agentvoice.wake.phrase": "okay copilot"},
	}, &r)
	if mic := r.Snapshot.Microphone; !mic.Muted || mic.MutedBy != protocol.MutedByLocked || mic.Open || mic.Wake || mic.Phrase != "okay copilot" {
		t.Errorf("after initialize: %+v", mic)
	}
	for _, m := range c.seen {
		if m.Method == protocol.NotifyMicrophone {
			t.Errorf("published before: %s", m.Params)
		}
	}
	c.call(protocol.MethodMute, object{"muted": false}, nil)
	if mic := c.snapshot().Microphone; mic.Muted || !mic.Open || !mic.Wake || mic.MutedBy != "" {
		t.Errorf("unmuted: %+v", mic)
	}
	c.end()
}

// While muted, the wake phrase is not listened for; during a conversation, only the
// conversation uses the device.
func TestTheWakePhraseIsListenedForOnlyWhereTheSnapshotSaysSo(t *testing.T) {
	c := scripted(t, `
		await client/heartbeat
		wake
	`)
	c.initialize(nil, object{"agentvoice.wake.enabled": true})
	if mic := c.snapshot().Microphone; !mic.Wake || !mic.Open {
		t.Errorf("enabled: %+v", mic)
	}
	c.call(protocol.MethodMute, object{"muted": true}, nil)
	if mic := c.snapshot().Microphone; mic.Wake || mic.Open || mic.Phrase == "" {
		t.Errorf("muted: %+v", mic)
	}
	c.call(protocol.MethodMute, object{"muted": false}, nil)
	c.notify(protocol.MethodHeartbeat, nil)
	c.state(protocol.StateListening)
	if mic := c.snapshot().Microphone; mic.Wake || !mic.Open {
		t.Errorf("in the conversation: %+v", mic)
	}
	c.call(protocol.MethodEnd, nil, nil)
	c.microphone("the phrase after the conversation", func(m protocol.Microphone) bool { return m.Wake })
	c.call(protocol.MethodConfigure, object{"agentvoice.wake.enabled": false}, nil)
	if mic := c.snapshot().Microphone; mic.Wake || mic.Open || mic.Phrase != "" {
		t.Errorf("disabled: %+v", mic)
	}
	c.end()
}

// A conversation keeps the turn mode that it began with, and the snapshot shows it;
// push-to-talk follows it.
func TestTheTurnModeIsThatOfTheConversation(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(nil)
	c.call(protocol.MethodConfigure, object{"agentvoice.turnDetection.mode": "pushToTalk"}, nil)
	if mode := c.snapshot().Microphone.Mode; mode != protocol.TurnAutomatic {
		t.Errorf("in the conversation that began before: %s", mode)
	}
	c.refused(protocol.MethodPushToTalk, object{"down": true}, protocol.CodeInvalidState)
	c.call(protocol.MethodEnd, nil, nil)
	c.microphone("the next mode", func(m protocol.Microphone) bool { return m.Mode == protocol.TurnPushToTalk })
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.call(protocol.MethodPushToTalk, object{"down": true}, nil)
	c.end()
}

// A fault of the microphone is in its state until it is over, and each is told with what to do.
func TestFaultOfTheMicrophone(t *testing.T) {
	faults := map[string]protocol.ErrorCode{
		"muted": protocol.CodeMicrophoneMuted, "silent": protocol.CodeMicrophoneSilent,
		"clips": protocol.CodeMicrophoneClips, "quiet": protocol.CodeMicrophoneQuiet,
	}
	for name, code := range faults {
		t.Run(name, func(t *testing.T) {
			c := scripted(t, "await state listening\nmicrophone."+name+"\nawait client/heartbeat\nmicrophone.works\n")
			c.initialize(nil, nil)
			c.call(protocol.MethodStart, nil, nil)
			c.microphone(name, func(m protocol.Microphone) bool { return m.Fault == code })
			var told protocol.NotificationParams
			c.until("the notification", func(m message) bool {
				told = protocol.NotificationParams{}
				return m.Method == protocol.NotifyNotification && json.Unmarshal(m.Params, &told) == nil && told.Code == code
			})
			if told.Remediation != code.Spec().Remediation(protocol.English) {
				t.Errorf("told %+v", told)
			}
			c.notify(protocol.MethodHeartbeat, nil)
			c.microphone("works", func(m protocol.Microphone) bool { return m.Fault == "" && m.Open })
			c.end()
		})
	}
}
