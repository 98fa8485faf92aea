package main

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestProcessingFollowsTheSettings: the default processing is used unless a setting
// changes a part, and recordings are not processed.
func TestProcessingFollowsTheSettings(t *testing.T) {
	of := processing("default")
	if got := of(protocol.DefaultSettings()); got != dsp.Default() {
		t.Errorf("by default %+v, want %+v", got, dsp.Default())
	}
	for name, want := range map[string]dsp.Config{
		"agentvoice.audio.echoCancellation": {HighPass: true},
		"agentvoice.audio.highPass":         {EchoCancellation: true},
		"agentvoice.audio.noiseSuppression": {EchoCancellation: true, HighPass: true, NoiseSuppression: true},
		"agentvoice.audio.gainControl":      {EchoCancellation: true, HighPass: true, GainControl: true},
	} {
		value := "true"
		if want == (dsp.Config{HighPass: true}) || want == (dsp.Config{EchoCancellation: true}) {
			value = "false"
		}
		flags := sharedFlags{settings: []string{name + "=" + value}}
		s, err := flags.parse(protocol.DefaultSettings())
		if err != nil {
			t.Fatal(err)
		}
		if got := of(s); got != want {
			t.Errorf("%s=%s: %+v, want %+v", name, value, got, want)
		}
	}
	for _, in := range []string{"wav:speech.wav", "null"} {
		if processing(in) != nil {
			t.Errorf("%s is processed", in)
		}
	}
}
