//go:build cgo && !race

package roomsim

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
)

// TestUncancelledEcho makes the assistant interrupt itself only twice, and
// twice again after half a minute.
func TestUncancelledEcho(t *testing.T) {
	says, _ := synthetic(t)
	res, err := Run(Cell{Place: usual("study", -6), Seed: 3, Profile: "default", Alone: 30 * time.Second, DSP: &dsp.Config{}}, says, NewNoises(1, says, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.FalseAt) > 2 || res.HalfDuplex < 20*time.Second {
		t.Errorf("false pauses at %v, half duplex for %v", res.FalseAt, res.HalfDuplex)
	}
}

// TestCoughsDoNotCauseHalfDuplex: where the echo is cancelled, and with headphones,
// interruptions stay possible however many were retracted.
func TestCoughsDoNotCauseHalfDuplex(t *testing.T) {
	says, all := synthetic(t)
	for _, headphones := range []bool{false, true} {
		place := usual("study", -6)
		place.Headphones = headphones
		c := Cell{Place: place, Seed: 3, Profile: "default"}
		for _, k := range all {
			if k.Kind == Backchannel {
				c.Cases = append(c.Cases, k)
			}
		}
		res, err := Run(c, says, NewNoises(1, says, nil))
		if err != nil {
			t.Fatal(err)
		}
		if res.HalfDuplex > 0 {
			t.Errorf("headphones %v: half duplex for %v", headphones, res.HalfDuplex)
		}
	}
}
