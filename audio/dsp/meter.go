package dsp

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Stats is how the processing fares, over about the last two seconds.
type Stats struct {
	// Far says that the assistant was to be heard, so that the next two mean
	// something.
	Far bool
	// ERLE is by how many dB the microphone became quieter by echo cancellation
	// while the assistant was to be heard. It is small without echo, and falls
	// while the user speaks.
	ERLE float64
	// Echo says that the microphone hears the assistant: the delay of an echo was
	// found, or taking the assistant out left much less.
	Echo bool
	// Learning says that the assistant was not heard for long enough yet to know the
	// room: the trigger may hear the assistant in its first second, and a user who
	// speaks over it in its first six less well than later.
	Learning bool
	// Delay is from Reference to the echo in Process, as used; Measured says that
	// the echo was found there, else it is as the devices report it.
	Delay    time.Duration
	Measured bool
	// Reported is the same as the devices report it; see SetDelay.
	Reported time.Duration
	// Drift is by how much the loudspeaker's clock seems faster than the
	// microphone's, in parts per million.
	Drift float64
	// Underruns are frames for which the far end came too late; Overruns frames
	// of it that nobody fetched; Slips samples that were skipped or repeated for
	// drift; Resyncs the number of realignments of the streams.
	Underruns, Overruns, Slips, Resyncs int64
	// Clipped is the share of the microphone's samples that are cut off, 0 to 1.
	Clipped float64
	// Zero is for how long the microphone has given nothing but zeros.
	Zero time.Duration
}

const (
	// smoothing is the weight of a new frame: a time constant of 2 s.
	smoothing = 1.0 / 200
	// heard is the power, of full scale, from which the far end is heard: -60 dBFS.
	heard = 1e-6
	// tail is how many frames a room may go on after the far end.
	tail = 30
	// clipLevel is the least level at which a flat top is clipping: -20 dBFS.
	clipLevel = 1 << 15 / 10
	// flatTop is how many equal samples at a frame's peak are a flat one.
	flatTop = 3
	// foundERLE is how much taking out must take to prove an echo, in dB.
	foundERLE = 6
)

// meter measures on the capturing goroutine and shows the figures to others.
type meter struct {
	near, left float64 // power before and after, while the far end is heard
	far        float64 // share of the time that it is
	clipped    float64
	zeros      int
	sinceFar   int
	last       cut
	public     [numFigures]atomic.Uint64
}

// The figures that are shown.
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

// microphone looks for the microphone's own faults.
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

// flat counts the samples at the peak that stand beside equals.
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

// echo takes the powers of a frame: of the far end, of the near end, and of what
// the canceller left of that. It says whether the far end is to be heard, or its
// last echo.
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

// ratio of two powers in dB; 0 for silence.
func ratio(before, after float64) float64 {
	const silence = 1e-10 // -100 dBFS
	return 10 * math.Log10((before+silence)/(after+silence))
}

// alignment shows how the streams lie.
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

// power is the mean power of pcm, of full scale.
func power(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum / (1 << 30) / float64(len(pcm))
}

// What Cut looks back over, in frames: 30 and 120 ms.
const (
	shortCut = 3
	longCut  = 12
)

// cut is what the canceller took of the last frames.
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

// decibels is what was taken of so many frames.
func (c *cut) decibels(frames int) float64 {
	near, left := 0.0, 0.0
	for i := range min(frames, c.frames) {
		last := (c.frames - 1 - i) % longCut
		near += c.near[last]
		left += c.left[last]
	}
	return ratio(near/float64(frames), left/float64(frames))
}

// highPass takes out what is below 130 Hz at rate: hum and rumble, which the
// library's own high-pass takes out behind the canceller only.
type highPass struct{ x, y float64 }

// power is that of pcm behind the filter, of full scale.
func (h *highPass) power(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		x := float64(s)
		h.y, h.x = x-h.x+0.95*h.y, x
		sum += h.y * h.y
	}
	return sum / (1 << 30) / float64(len(pcm))
}
