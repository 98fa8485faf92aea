package dsp

import (
	"math"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	millisecond = audio.SampleRate / 1000
	// reportStep is by how much a reported delay must change to be followed:
	// devices report their latency for each frame, and each move costs the
	// canceller some of what it learnt.
	reportStep = 10 * millisecond
	// An echo so far behind its reference needs no correction: the filter of the
	// canceller spans 128 ms, of which most belongs to the room.
	leastResidual, mostResidual = 12 * millisecond, 70 * millisecond
	// agree is how often, each half second, an echo must be found in one place to
	// be believed.
	agree = 3
)

// corrector turns the delay that the devices report into the one that there is,
// with the help of the echo that is found.
type corrector struct {
	reported   int64 // followed so far, samples
	correction int64 // samples
	started    bool
	moved      bool
	recalled   bool // and not observed since

	echo float64 // how far it was last found behind its reference, samples
	same int     // how often it was found there
}

// total is the delay to align with, in samples.
func (c *corrector) total() int64 { return max(0, c.reported+c.correction) }

// recall begins with a correction that was found before. The echo counts as found
// until it is found elsewhere than where it may be.
func (c *corrector) recall(samples int64) {
	c.correction, c.moved = samples, true
	c.recalled, c.same = true, agree
}

// known says that the echo was found where it last was for long enough.
func (c *corrector) known() bool { return c.same >= agree }

// delay is the delay to align with, in samples, and whether it is another than
// before.
func (c *corrector) delay(reported int64) (samples int64, changed bool) {
	switch d := reported - c.reported; {
	case !c.started: // what was recalled is of these devices
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

// observe takes how far the echo was found behind its reference, in samples. It
// says whether the delay is to be another, and what was learnt is of no use.
func (c *corrector) observe(echo float64) (moved bool) {
	inPlace := echo >= leastResidual && echo <= mostResidual
	if c.recalled && !inPlace || !c.recalled && math.Abs(echo-c.echo) > nearby {
		c.same = 0
	}
	c.recalled = false
	c.echo = echo
	c.same++
	if !c.known() || inPlace {
		return false
	}
	// Below 0 there is nothing to hold back, and it stays.
	before := c.total()
	c.correction = max(c.correction+int64(math.Round(echo))-lead, -c.reported)
	if c.moved = c.total() != before; c.moved {
		c.same = 0
	}
	return c.moved
}
