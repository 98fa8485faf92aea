//go:build cgo && !race && !noapm

package dsp

import (
	"math"
	"testing"
	"time"
)

func TestNoiseSuppressionIsSwitchableAndForTheUplink(t *testing.T) {
	noise := fan(-40, 8*time.Second)
	for _, on := range []bool{true, false} {
		heard := hear(t, libraries[0], Config{EchoCancellation: true, NoiseSuppression: on}, noise)
		if quieter := heard.trigger - heard.uplink; on != (quieter > 6) || !on && quieter != 0 {
			t.Errorf("with noise suppression %v, a fan is %.1f dB quieter in the uplink than in the trigger", on, quieter)
		}
		if quieter := heard.mic - heard.trigger; math.Abs(quieter) > 2 {
			t.Errorf("with noise suppression %v, a fan is %.1f dB quieter in the trigger", on, quieter)
		}
	}
}

func TestGainControlIsSwitchableAndForTheUplink(t *testing.T) {
	quiet := append(sentences[0].human(t, -45), sentences[3].human(t, -45)...)
	for _, on := range []bool{true, false} {
		heard := hear(t, libraries[0], Config{EchoCancellation: true, GainControl: on}, quiet)
		if louder := heard.uplink - heard.trigger; on != (louder > 5) || !on && louder != 0 {
			t.Errorf("with gain control %v, quiet speech is %.1f dB louder in the uplink", on, louder)
		}
	}
}
