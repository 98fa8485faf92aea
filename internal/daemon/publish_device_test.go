package daemon

import (
	"reflect"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestLostDeviceIsToldOf: a lost device is reported apart from the state, with the
// device and what to do, in the user's language; its return is reported too.
func TestLostDeviceIsToldOf(t *testing.T) {
	var told []any
	d, _ := speakingTo(t, protocol.ProfileDefault, func(_ string, params any) {
		switch params.(type) {
		case protocol.StateParams, protocol.ErrorParams, protocol.NotificationParams:
			told = append(told, params)
		}
	})
	for range 2 { // each loss is reported
		told = nil
		d.fail(csm.AudioLost{Instance: 1}, `audio device "headset": it gives no sound; plug it in`)
		d.Post(csm.AudioLost{Instance: 1}) // a duplicate
		d.Drain()
		if len(told) != 2 {
			t.Fatalf("the client is told %+v", told)
		}
		state, ok := told[0].(protocol.StateParams)
		if !ok || state.State != protocol.StateSuspended || state.Cause != protocol.CauseDeviceLost || state.Metadata.Reason != string(protocol.SuspendDevice) {
			t.Errorf("first %+v", told[0])
		}
		lost, ok := told[1].(protocol.ErrorParams)
		if !ok || lost.Code != protocol.CodeDeviceLost || !lost.Retryable ||
			!strings.HasPrefix(lost.Message, "Das Audiogerät wurde getrennt.") || !strings.Contains(lost.Message, `"headset"`) ||
			!strings.Contains(lost.Remediation, "Schließen Sie es wieder an") {
			t.Errorf("then %+v", told[1])
		}
		told = nil
		d.Post(csm.AudioRestored{Instance: 1})
		d.Post(csm.AudioRestored{Instance: 1})
		d.Drain()
		var back []protocol.NotificationParams
		for _, p := range told {
			if n, ok := p.(protocol.NotificationParams); ok {
				back = append(back, n)
			}
		}
		if len(back) != 1 || back[0].Code != protocol.CodeDeviceLost || back[0].Severity != protocol.SeverityInfo || back[0].Message != "Das Audiogerät ist wieder da." {
			t.Errorf("when it is back: %+v", told)
		}
	}
	// A conversation that ends meanwhile does not report the return.
	d.Post(csm.AudioLost{Instance: 1})
	d.Drain()
	told = nil
	d.Post(csm.UserStop{})
	d.Drain()
	for _, p := range told {
		if n, ok := p.(protocol.NotificationParams); ok {
			t.Errorf("at the end: %+v", n)
		}
	}
}

// What one of the devices does is said of it alone. With the last that returns, the
// failure is over, which its code says; the remedy is not repeated.
func TestOneLostDevice(t *testing.T) {
	var told []any
	d, _ := speakingTo(t, protocol.ProfileDefault, func(_ string, params any) {
		switch params.(type) {
		case protocol.ErrorParams, protocol.NotificationParams:
			told = append(told, params)
		}
	})
	for _, c := range []struct {
		event csm.Event
		want  any // prefix of the error's message, or the notification
	}{
		{csm.AudioLost{Instance: 1, Device: csm.Microphone}, "Das Mikrofon wurde getrennt. (lost)"},
		{csm.AudioRestored{Instance: 1, Device: csm.Speaker}, nil},
		{csm.AudioLost{Instance: 1, Device: csm.Speaker}, "Das Audiogerät wurde getrennt. (lost)"},
		{csm.AudioRestored{Instance: 1, Device: csm.Microphone}, protocol.NotificationParams{Message: "Das Mikrofon ist wieder da."}},
		{csm.AudioRestored{Instance: 1, Device: csm.Speaker}, protocol.NotificationParams{Message: "Der Lautsprecher ist wieder da.", Code: protocol.CodeDeviceLost}},
		{csm.AudioLost{Instance: 1, Device: csm.Speaker}, "Der Lautsprecher wurde getrennt. (lost)"},
		{csm.AudioRestored{Instance: 1}, protocol.NotificationParams{Message: "Der Lautsprecher ist wieder da.", Code: protocol.CodeDeviceLost}},
	} {
		told = nil
		if _, lost := c.event.(csm.AudioLost); lost {
			d.fail(c.event, "lost")
		} else {
			d.Post(c.event)
		}
		d.Drain()
		var got any
		if len(told) > 0 {
			got = told[0]
		}
		switch e := got.(type) {
		case protocol.ErrorParams:
			got = e.Message
			if e.Code != protocol.CodeDeviceLost || e.Remediation == "" {
				t.Errorf("%+v: %+v", c.event, e)
			}
			// Without the speaker alone, the conversation goes on.
			if waits := strings.Contains(e.Remediation, "geht von selbst weiter"); waits == strings.HasPrefix(e.Message, "Der Lautsprecher") {
				t.Errorf("%q has the remedy %q", e.Message, e.Remediation)
			}
		case protocol.NotificationParams:
			got = protocol.NotificationParams{Message: e.Message, Code: e.Code, Remediation: e.Remediation}
			if e.Severity != protocol.SeverityInfo {
				t.Errorf("%+v: %+v", c.event, e)
			}
		}
		if len(told) > 1 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: the client is told %+v, want %+v", c.event, told, c.want)
		}
	}
}
