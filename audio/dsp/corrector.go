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
	// works is the ERLE, in dB, from which nothing is wrong, whatever delay is found:
	// in a reverberant room one far off is found now and then.
	works = 30
	// agree is for how many seconds the same must be found. The canceller brings its
	// figures up to date every 5 s, and the first of them may be chance: this is two.
	agree = 7
)

// corrector turns the delay that the devices report into the one that there is,
// with the help of the delay that the canceller still finds between its streams.
type corrector struct {
	reported   int64 // followed so far, samples
	correction int64 // samples
	started    bool
	moved      bool
	frames     int
	last       int  // residual of the last second, ms
	same       int  // seconds that agreed with it
	known      bool // last is to be believed: where an echo should be, one was found

	near, left float64 // power in this second, before and after, beside the far end
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
		c.same, c.known = 0, false
	}
	changed, c.moved = c.moved, false
	return c.total(), changed
}

// hear takes the power of a frame in which the far end was to be heard, before and
// after the canceller.
func (c *corrector) hear(near, left float64) {
	c.near += near
	c.left += left
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
	erle := ratio(c.near, c.left)
	c.near, c.left = 0, 0
	if s.spread < 0 || s.spread > maxSpread || farShare < 0.3 {
		c.same = 0
		return false
	}
	if d := s.delay - c.last; d > maxSpread || d < -maxSpread {
		c.same = 0
	}
	c.last = s.delay
	c.same++
	residual := c.found()
	if residual >= leastResidual && residual <= mostResidual {
		c.known = c.known || c.same > 1
		return false
	}
	if c.same < agree {
		return false
	}
	c.known = true
	if erle >= works {
		return false
	}
	return c.move(residual)
}

// move corrects the delay by a residual, in ms.
func (c *corrector) move(residual int) (moved bool) {
	by := int64(residual*millisecond - lead)
	if residual <= earliest {
		by -= 4 * lead // it may be more
	}
	// Below 0 there is nothing to hold back, and it stays.
	before := c.total()
	c.correction = max(c.correction+by, -c.reported)
	if c.moved = c.total() != before; c.moved {
		c.same, c.known = 0, false
	}
	return c.moved
}
