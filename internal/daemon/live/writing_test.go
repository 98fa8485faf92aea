//go:build cgo

package live

import (
	"errors"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// noDevice is the failure of a machine without sound.
var noDevice = &audio.DeviceError{Code: string(csm.CodeDeviceUnavailable), Device: "speaker", Err: errors.New("no speaker found"), Remedy: "connect a speaker"}

// withoutSound is a machine without sound devices.
func withoutSound() Config {
	return Config{
		Source: func(protocol.Settings) (audio.Source, error) { return nil, noDevice },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return nil, noDevice },
	}
}

// TestTypedTextNeedsNoSoundDevice: over SSH, in a container or for a deaf user, a conversation that
// begins with typed text is held in writing. The user is told, and no microphone is said to be
// open.
func TestTypedTextNeedsNoSoundDevice(t *testing.T) {
	tk := idleTalk(t, nil, withoutSound())
	tk.d.Post(csm.UserText{Utterance: 1, Words: 1})
	tk.want(protocol.StatePreparing, protocol.StateListening, protocol.StateProcessing)
	tk.until(protocol.StateSpeaking)
	if mic := tk.d.Snapshot().Microphone; mic.Open || !mic.Muted {
		t.Errorf("the microphone is said to be %+v", mic)
	}
	tk.until(protocol.StateListening)
	if !tk.noted(protocol.CodeTextOnly) {
		t.Error("the user is not told that the conversation is in writing")
	}
}

// TestVoiceNeedsASoundDevice: a conversation that begins by voice says what is missing.
func TestVoiceNeedsASoundDevice(t *testing.T) {
	tk := idleTalk(t, nil, withoutSound())
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StateFaulted)
}
