package cue

import (
	"math"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// settleFrames is how long speech must be silent before a cue starts: 100 ms, more
	// than the pauses within words, for which a decoder may output exact zeros.
	settleFrames = 10
	// patienceFrames is how long a cue about a moment waits to start: 300 ms.
	patienceFrames = 30
)

// Mixer adds cues to the frames of a render function. The device's thread calls
// Render; all other methods are safe for concurrent use.
type Mixer struct {
	inner func(*audio.Frame)
	cues  [NumCues][]int16

	order    atomic.Uint64 // orders given so far << 8 | the last one's Cue
	volume   atomic.Uint32 // bits of a float32
	sounding atomic.Uint32 // Cue

	r rendering
}

// rendering is the state that only Render uses.
type rendering struct {
	seen   uint64  // last order taken
	now    Cue     // playing
	pos    int     // of now, in samples
	next   Cue     // waiting for silence
	waited int     // frames for which next has waited
	quiet  int     // frames since speech, at most settleFrames
	gain   float32 // at the end of the last frame
}

// NewMixer returns a mixer at volume 1 around inner, which fills a whole frame with
// speech, or with zeros (audio.Player.Render).
func NewMixer(inner func(*audio.Frame)) *Mixer {
	m := &Mixer{inner: inner, cues: synthesised()}
	m.r.quiet = settleFrames
	m.SetVolume(1)
	return m
}

// Play orders c in place of all earlier orders. The current cue fades out in the next
// frame. Ordering a loop that is playing lets it continue. None stops.
func (m *Mixer) Play(c Cue) {
	if c >= NumCues {
		return
	}
	for {
		old := m.order.Load()
		if m.order.CompareAndSwap(old, (old>>8+1)<<8|uint64(c)) {
			return
		}
	}
}

// Stop ends the current cue and drops the waiting one.
func (m *Mixer) Stop() { m.Play(None) }

// SetVolume sets the gain, 0 to 1, so that 0.5 is 6 dB less than 1. 0 is off: the
// current cue fades out, and later orders are dropped. Values outside the range are
// clamped, and NaN counts as 0.
func (m *Mixer) SetVolume(v float64) {
	if !(v > 0) {
		v = 0
	}
	m.volume.Store(math.Float32bits(float32(min(v, 1))))
}

// Sounding returns the cue in the last rendered frame, or None. It counts as speaker
// output, like speech.
func (m *Mixer) Sounding() Cue { return Cue(m.sounding.Load()) }

// Render fills f with the inner function and adds the cue. The device calls it from one
// goroutine at a time. It takes no lock and does not allocate.
func (m *Mixer) Render(f *audio.Frame) {
	m.inner(f)
	speech := *f != audio.Frame{}
	volume := math.Float32frombits(m.volume.Load())
	r := &m.r
	ordered := m.take(volume)
	stop := r.now != None && (ordered || speech)
	if speech {
		r.quiet = 0
	} else {
		r.quiet = min(r.quiet+1, settleFrames)
	}
	// The previous cue must fade out in its own frame before the next one starts.
	if r.now == None {
		m.begin(volume)
	}
	m.sounding.Store(uint32(r.now))
	if r.now == None {
		return
	}
	target := volume
	if stop {
		target = 0
	}
	over := m.mix(f, target)
	switch {
	case stop:
		if r.now.asks() && !ordered {
			r.next, r.waited = r.now, 0
		}
		r.now = None
	case over:
		r.now = None
	}
}

// take reads the newest order, and reports whether it ends the current cue.
func (m *Mixer) take(volume float32) (ends bool) {
	r := &m.r
	if o := m.order.Load(); o != r.seen {
		r.seen = o
		c := Cue(o & 0xff)
		if !(c == r.now && c.loops()) {
			r.next, r.waited, ends = c, 0, true
		}
	}
	if volume == 0 {
		r.next, ends = None, true
	}
	return ends
}

// begin starts the waiting cue if allowed.
func (m *Mixer) begin(volume float32) {
	r := &m.r
	switch {
	case r.next == None:
	case r.quiet >= settleFrames:
		r.now, r.pos, r.gain, r.next = r.next, 0, volume, None
	default:
		r.waited++
		if r.waited >= patienceFrames && !r.next.asks() && !r.next.loops() {
			r.next = None
		}
	}
}

// mix adds the next 10 ms of the current cue, and reports whether they are the last.
// Within the frame the gain moves linearly to target.
func (m *Mixer) mix(f *audio.Frame, target float32) (over bool) {
	r := &m.r
	pcm := m.cues[r.now]
	step := (target - r.gain) / audio.FrameSamples
	for i := range f {
		if r.pos == len(pcm) {
			if !r.now.loops() {
				break
			}
			r.pos = 0
		}
		r.gain += step
		f[i] = saturated(float32(f[i]) + float32(pcm[r.pos])*r.gain)
		r.pos++
	}
	r.gain = target
	return r.pos == len(pcm) && !r.now.loops()
}

// saturated rounds and clamps to the range of a sample.
func saturated(v float32) int16 {
	return int16(math.RoundToEven(float64(min(max(v, math.MinInt16), math.MaxInt16))))
}
