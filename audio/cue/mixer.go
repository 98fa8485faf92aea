package cue

import (
	"math"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// settleFrames is how long speech is silent before a cue begins: 100 ms, more
	// than the pauses within words, where a decoder may give exact zeros.
	settleFrames = 10
	// patienceFrames is how long a cue about a moment waits to begin: 300 ms.
	patienceFrames = 30
)

// Mixer adds cues to the frames of a rendering function. The device's thread
// calls Render; Play, Stop, SetVolume and Sounding may be called by anybody, at
// any time.
type Mixer struct {
	inner func(*audio.Frame)
	cues  [NumCues][]int16

	order    atomic.Uint64 // orders given so far << 8 | the last one's Cue
	volume   atomic.Uint32 // bits of a float32
	sounding atomic.Uint32 // Cue

	r rendering
}

// rendering is what only Render touches.
type rendering struct {
	seen   uint64  // the order that was taken last
	now    Cue     // sounds
	pos    int     // of now, in samples
	next   Cue     // waits for silence
	waited int     // frames that next has waited
	quiet  int     // frames since speech, at most settleFrames
	gain   float32 // at the end of the last frame
}

// NewMixer returns a mixer at volume 1 around inner, which fills a whole frame
// with speech, and with zeros where there is none (audio.Player.Render).
func NewMixer(inner func(*audio.Frame)) *Mixer {
	m := &Mixer{inner: inner, cues: synthesised()}
	m.r.quiet = settleFrames
	m.SetVolume(1)
	return m
}

// Play orders c in place of all earlier orders; what sounds fades out in the next
// frame. A loop that sounds continues when it is ordered again. None stops.
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

// Stop ends what sounds and forgets what waits.
func (m *Mixer) Stop() { m.Play(None) }

// SetVolume sets the loudness: the factor on the amplitude, 0 to 1, so that 0.5
// is 6 dB less than 1. 0 is off: what sounds fades out, and later orders are lost.
// What is outside the range, or no number, is taken for the nearest bound or 0.
func (m *Mixer) SetVolume(v float64) {
	if !(v > 0) {
		v = 0
	}
	m.volume.Store(math.Float32bits(float32(min(v, 1))))
}

// Sounding is the cue in the frame that was rendered last; None when there was
// none. It counts as sound of the loudspeaker, as speech does.
func (m *Mixer) Sounding() Cue { return Cue(m.sounding.Load()) }

// Render fills f with the inner function and adds the cue. It is the device's
// side: it takes no lock, allocates nothing, and is called by one goroutine at a
// time.
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
	// What was there before must be gone, in a frame of its own, before the next.
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

// take reads the newest order, and says whether it ends what sounds.
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

// begin starts what waits, when it may.
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

// mix adds the next 10 ms of what sounds, and says whether they are the last.
// Within the frame the gain goes in a straight line to target.
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

// saturated rounds to the nearest sample there is.
func saturated(v float32) int16 {
	return int16(math.RoundToEven(float64(min(max(v, math.MinInt16), math.MaxInt16))))
}
