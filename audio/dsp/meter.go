package dsp

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Stats describes the processing, over about the last two seconds.
type Stats struct {
	// Far reports whether the assistant was audible. ERLE and Echo are meaningful only
	// if it was.
	Far bool
	// ERLE (echo return loss enhancement) is by how many dB echo cancellation
	// attenuated the microphone while the assistant was audible. It is small without
	// echo, and drops while the user speaks.
	ERLE float64
	// Echo reports whether the microphone hears the assistant: an echo was found, or
	// cancellation removed much of the signal.
	Echo bool
	// Learning reports whether the canceller is still adapting. During that time the
	// trigger may hear the assistant (in its first second), and hears a user who
	// speaks over it less well (in its first six).
	Learning bool
	// Delay is the delay in use from Reference to the echo in Process. Measured
	// reports whether the echo was found there; otherwise Delay is as reported.
	Delay    time.Duration
	Measured bool
	// Reported is the delay as the devices report it; see SetDelay.
	Reported time.Duration
	// Drift is by how much the speaker's clock appears faster than the microphone's,
	// in ppm.
	Drift float64
	// Underruns counts frames whose far end came too late, Overruns far-end frames
	// dropped because the ring was full, Slips samples skipped or repeated to follow
	// drift, Resyncs realignments of the streams.
	Underruns, Overruns, Slips, Resyncs int64
	// Clipped is the fraction of microphone samples that clip, 0 to 1.
	Clipped float64
	// Zero is how long the microphone has delivered only zeros.
	Zero time.Duration
}

const (
	// smoothing is the weight of a new frame: a time constant of 2 s.
	smoothing = 1.0 / 200
	// heard is the power, relative to full scale, above which the far end is active: -60 dBFS.
	heard = 1e-6
	// tail is how many frames a room may reverberate after the far end.
	tail = 30
	// clipLevel is the least level at which a flat top is clipping: -20 dBFS.
	clipLevel = 1 << 15 / 10
	// flatTop is how many equal samples at a frame's peak indicate clipping.
	flatTop = 3
	// foundERLE is the ERLE that proves an echo, in dB.
	foundERLE = 6
)

// meter measures on the capturing goroutine and publishes the figures to others.
type meter struct {
	near, left float64 // power before and after cancellation, while the far end is active
	far        float64 // fraction of the time that it is active
	clipped    float64
	zeros      int
	sinceFar   int
	last       cut
	public     [numFigures]atomic.Uint64
}

// The published figures.
const (
	figERLE = iota
	figLearnt
	figFar
	figClipped
	figZeros
	figDelay
	figMeasured
	figDrift
	figUnderruns
	figOverruns
	figSlips
	figResyncs
	numFigures
)

func (m *meter) set(figure int, v float64) { m.public[figure].Store(math.Float64bits(v)) }
func (m *meter) get(figure int) float64    { return math.Float64frombits(m.public[figure].Load()) }

func (m *meter) reset() {
	m.near, m.left, m.far, m.clipped, m.zeros, m.sinceFar, m.last = 0, 0, 0, 0, 0, 0, cut{}
	for i := range m.public {
		m.public[i].Store(0)
	}
}

// microphone detects clipping and a silent microphone.
func (m *meter) microphone(f *audio.Frame) {
	peak := 0
	for _, s := range f {
		peak = max(peak, int(s), -int(s))
	}
	if peak == 0 {
		m.zeros++
	} else {
		m.zeros = 0
	}
	cut := 0
	if peak >= clipLevel {
		cut = flat(f, peak)
	}
	m.clipped += smoothing * (float64(cut)/audio.FrameSamples - m.clipped)
	m.set(figClipped, m.clipped)
	m.set(figZeros, float64(m.zeros))
}

// flat counts the samples in runs at the peak level.
func flat(f *audio.Frame, peak int) (samples int) {
	run := 0
	for i, s := range f {
		if int(s) < peak-1 && -int(s) < peak-1 {
			continue
		}
		if i > 0 && run > 0 && (s > 0) == (f[i-1] > 0) && max(int(f[i-1]), -int(f[i-1])) >= peak-1 {
			run++
		} else {
			run = 1
		}
		if run == flatTop {
			samples += flatTop
		} else if run > flatTop {
			samples++
		}
	}
	return samples
}

// echo takes the powers of a frame: far end, near end, and residual after the
// canceller. It reports whether the far end or its reverberation is audible.
func (m *meter) echo(far, near, left float64) (heardNow bool) {
	m.sinceFar++
	if far > heard {
		m.sinceFar = 0
	}
	is := 0.0
	if m.sinceFar < tail {
		is = 1
		m.near += smoothing * (near - m.near)
		m.left += smoothing * (left - m.left)
	}
	m.far += smoothing * (is - m.far)
	m.set(figERLE, ratio(m.near, m.left))
	m.set(figFar, m.far)
	return is > 0
}

// ratio returns the ratio of two powers in dB; 0 for silence.
func ratio(before, after float64) float64 {
	const silence = 1e-10 // -100 dBFS
	return 10 * math.Log10((before+silence)/(after+silence))
}

// alignment publishes the alignment of the streams.
func (m *meter) alignment(p *Processor) {
	a, c := &p.aligner, &p.corrector
	m.set(figDelay, float64(c.total()))
	m.set(figMeasured, 0)
	if c.known() {
		m.set(figDelay, float64(a.delay(c.echo)))
		m.set(figMeasured, 1)
	}
	m.set(figDrift, a.speed/audio.FrameSamples*1e6)
	m.set(figUnderruns, float64(a.underruns))
	m.set(figOverruns, float64(p.ring.dropped.Load()))
	m.set(figSlips, float64(a.slipped))
	m.set(figResyncs, float64(a.resyncs))
	m.set(figLearnt, 0)
	if !p.learner.learning() {
		m.set(figLearnt, 1)
	}
}

func (m *meter) stats() Stats {
	s := Stats{
		Far:       m.get(figFar) > 0.1,
		ERLE:      m.get(figERLE),
		Learning:  m.get(figLearnt) == 0,
		Delay:     audio.Duration(int64(m.get(figDelay))),
		Measured:  m.get(figMeasured) != 0,
		Drift:     m.get(figDrift),
		Underruns: int64(m.get(figUnderruns)),
		Overruns:  int64(m.get(figOverruns)),
		Slips:     int64(m.get(figSlips)),
		Resyncs:   int64(m.get(figResyncs)),
		Clipped:   m.get(figClipped),
		Zero:      time.Duration(m.get(figZeros)) * audio.FrameTime,
	}
	s.Echo = s.Far && (s.Measured || s.ERLE > foundERLE)
	return s
}

// power returns the mean power of pcm, relative to full scale.
func power(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum / (1 << 30) / float64(len(pcm))
}

// The windows of EchoReduction, in frames: 30 and 120 ms.
const (
	shortCut = 3
	longCut  = 12
)

// cut holds the powers before and after the canceller for the last frames.
type cut struct {
	before, after highPass
	near, left    [longCut]float64 // power of each frame
	frames        int
}

// push takes a frame before and after the canceller.
func (c *cut) push(near, left []int16) {
	c.near[c.frames%longCut], c.left[c.frames%longCut] = c.before.power(near), c.after.power(left)
	c.frames++
}

// decibels returns the reduction over the last frames.
func (c *cut) decibels(frames int) float64 {
	near, left := 0.0, 0.0
	for i := range min(frames, c.frames) {
		last := (c.frames - 1 - i) % longCut
		near += c.near[last]
		left += c.left[last]
	}
	return ratio(near/float64(frames), left/float64(frames))
}

// highPass removes hum and rumble below 130 Hz, at rate. The library's own high-pass
// does so only after the canceller.
type highPass struct{ x, y float64 }

// power returns the mean power of filtered pcm, relative to full scale.
func (h *highPass) power(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		x := float64(s)
		h.y, h.x = x-h.x+0.95*h.y, x
		sum += h.y * h.y
	}
	return sum / (1 << 30) / float64(len(pcm))
}
