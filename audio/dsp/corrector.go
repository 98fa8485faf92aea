package dsp

import (
	"math"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	millisecond = audio.SampleRate / 1000
	// reportStep is the smallest change of a reported delay that takes effect:
	// devices report latency for each frame, and each realignment costs the canceller
	// some of its adaptation.
	reportStep = 10 * millisecond
	// An echo this far behind its reference needs no correction: the canceller's filter
	// spans 128 ms, most of which is for the room.
	minResidual, maxResidual = 12 * millisecond, 70 * millisecond
	// agree is how many times in a row, at half-second intervals, an echo must be found
	// in the same place.
	agree = 3
)

// corrector corrects the delay that the devices report by the echo that was found.
type corrector struct {
	reported   int64 // reported delay in effect, in samples
	correction int64 // samples
	started    bool
	moved      bool
	recalled   bool // and not observed since

	echo float64 // last distance of the echo behind its reference, in samples
	same int     // how many times in a row it was found there
}

// total returns the delay to align with, in samples.
func (c *corrector) total() int64 { return max(0, c.reported+c.correction) }

// recall starts with a correction that was found earlier. The echo counts as found
// until it is found outside the allowed range.
func (c *corrector) recall(samples int64) {
	c.correction, c.moved = samples, true
	c.recalled, c.same = true, agree
}

// known reports whether the echo was found in the same place often enough.
func (c *corrector) known() bool { return c.same >= agree }

// delay returns the delay to align with, in samples, and whether it has changed.
func (c *corrector) delay(reported int64) (samples int64, changed bool) {
	switch d := reported - c.reported; {
	case !c.started: // a recalled correction belongs to these devices
		c.reported, c.started, c.moved = reported, true, true
	case d > reportStep || d < -reportStep:
		c.reported, c.moved = reported, true
		if !c.recalled {
			c.same = 0
		}
	}
	changed, c.moved = c.moved, false
	return c.total(), changed
}

// observe takes the echo's distance behind its reference, in samples. It reports
// whether the delay changes, which invalidates the canceller's adaptation.
func (c *corrector) observe(echo float64) (moved bool) {
	inPlace := echo >= minResidual && echo <= maxResidual
	if c.recalled && !inPlace || !c.recalled && math.Abs(echo-c.echo) > nearby {
		c.same = 0
	}
	c.recalled = false
	c.echo = echo
	c.same++
	if !c.known() || inPlace {
		return false
	}
	// The delay cannot be negative.
	before := c.total()
	c.correction = max(c.correction+int64(math.Round(echo))-lead, -c.reported)
	if c.moved = c.total() != before; c.moved {
		c.same = 0
	}
	return c.moved
}
