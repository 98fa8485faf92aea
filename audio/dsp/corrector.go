package dsp

import "github.com/agentvoice/agentvoice-daemon/audio"

const (
	millisecond = audio.SampleRate / 1000
	// reportStep is by how much a reported delay must change to be followed:
	// devices report their latency anew for each frame, and each move costs the
	// canceller some of what it learnt.
	reportStep = 10 * millisecond
	// A residual delay within these needs no correction: the filter of the
	// canceller spans 128 ms, of which most belongs to the room.
	leastResidual, mostResidual = 12, 70 // ms
	// bias is by how much the canceller finds echoes too early: by the blocks of
	// its spectra.
	bias = 10 // ms
	// The canceller finds no echo that is further than this before its reference.
	earliest = -40 // ms
	// maxSpread is how much the delays of a second may differ to be believed.
	maxSpread = 12 // ms
	// agree is how many seconds must say the same.
	agree = 2
)

// corrector turns the delay that the devices report into the one that there is,
// with the help of the delay that the canceller still finds between its streams.
type corrector struct {
	reported   int64 // followed so far, samples
	correction int64 // samples
	started    bool
	moved      bool
	frames     int
	last       int // residual of the last second, ms
	same       int // seconds that agreed with it
	known      bool
}

// found is the delay of the echo behind its reference, in ms, when it is known.
func (c *corrector) found() int { return c.last + bias }

// total is the delay to align with, in samples.
func (c *corrector) total() int64 { return max(0, c.reported+c.correction) }

// delay is the delay to align with, in samples, and whether it is another than
// before.
func (c *corrector) delay(reported int64) (samples int64, changed bool) {
	if d := reported - c.reported; !c.started || d > reportStep || d < -reportStep {
		c.reported, c.started, c.moved = reported, true, true
	}
	changed, c.moved = c.moved, false
	return c.total(), changed
}

// due says once a second that the canceller's figures are to be observed.
func (c *corrector) due() bool {
	c.frames = (c.frames + 1) % 100
	return c.frames == 0
}

// observe takes the figures of a second in which the far end was to be heard for a
// part. It says whether the delay is to be another; the canceller must then begin
// anew, since its search for delays remembers the old one for ten seconds.
func (c *corrector) observe(s apmStats, farShare float64) (moved bool) {
	if s.spread < 0 || s.spread > maxSpread || farShare < 0.3 {
		c.same = 0
		return false
	}
	if d := s.delay - c.last; d > maxSpread || d < -maxSpread {
		c.same = 0
	}
	c.last = s.delay
	if c.same++; c.same < agree {
		return false
	}
	c.known = true
	residual := c.found()
	if residual >= leastResidual && residual <= mostResidual {
		return false
	}
	by := int64(residual*millisecond - lead)
	if residual <= earliest {
		by -= 2 * lead // it may be more
	}
	// Below 0 there is nothing to hold back, and it stays.
	before := c.total()
	c.correction = max(c.correction+by, -c.reported)
	c.moved = c.total() != before
	if c.moved {
		c.same, c.known = 0, false
	}
	return c.moved
}
