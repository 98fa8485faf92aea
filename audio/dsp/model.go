package dsp

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Parameters of the echo path model, at rate. The path is estimated from one short
// sound, the tone that signals an open microphone, so that the echo of the first word
// can be predicted. (Room bench, seeds 61 to 63.)
const (
	// modelWindow is the last second, in which sound and echo are compared.
	modelWindow  = 16384
	windowFrames = modelWindow / frameSamples // frames
	// A sound is short if it lasts modelMin to modelMax frames. It is compared modelGap
	// frames after its end, if nothing else was rendered in the window.
	modelMin = 10
	modelMax = 40
	modelGap = 30
	// modelTaps is the length of the response: 64 ms, starting modelLead before its
	// peak. The peak is at most modelReach behind the reference. Anything after
	// modelLate is not echo.
	modelTaps  = 1024
	modelLead  = 2 * rate / 1000
	modelReach = 100 * rate / 1000
	modelLate  = 700 * rate / 1000
	// The estimate spans modelLow to modelHigh, in Hz, and is regularized where the
	// sound has less than modelWeight of its power.
	modelLow, modelHigh = 90, 4000
	modelWeight         = 0.03
	// The response is accepted if it has modelStands times the energy of an equally
	// long part of the estimate before it, which is noise. The room has no echo if
	// both together have less than modelAbsent of the energy of an echo as loud as
	// the sound, and the microphone is not muted.
	modelStands = 16.0
	modelAbsent = 1e-3
	modelMuted  = frameSamples * 4
	// The model is used while it is trusted: each frame that it attenuates by 6 dB
	// increases trust, each that it makes louder decreases it.
	trustMin, trustMax = 3, 8
	modelTakes         = 4.0
	modelFaintest      = frameSamples * 100
	// The last modelFrames frames contain a person if they exceed the predicted echo by
	// modelPerson, a ratio of powers. The prediction decays by modelFalls per frame,
	// because rooms reverberate for longer than the response.
	modelFrames = 4
	modelPerson = 1.5
	modelFalls  = 0.83
	// A sound 14 dB below the loudest recent echo is not a person. The loudest level
	// decays by 4 dB per second.
	modelQuiet = 1.0 / 25
	modelFades = 0.99
)

// pathState is the knowledge of the echo path.
type pathState uint8

const (
	pathUnknown pathState = iota
	pathEcho              // the response is estimated
	pathNoEcho            // headphones, or a speaker that is off
)

// pathModel predicts the echo from the first word, while the canceller still adapts.
// Only the capturing goroutine uses it.
type pathModel struct {
	fft       *fourier.FFT
	work      []float64
	x, y      []complex128
	far, near []float32 // the last modelWindow samples, aligned
	quiet     int       // frames since the far end was heard
	since     int       // frames since the last sound started
	before    int       // frames of silence before it

	state    pathState
	response [modelTaps]float32 // reversed
	start    int                // lag of its first sample
	trust    int

	left           [frameSamples]int16 // last frame without the echo
	bands          [4]bandPass
	echo, farther  float64              // predicted powers, decaying
	loudest        float64              // of the echo, decaying slowly
	more, expected [modelFrames]float64 // powers
	frames         int
}

func newPathModel() *pathModel {
	return &pathModel{
		fft: fourier.NewFFT(modelWindow), work: make([]float64, modelWindow),
		x: make([]complex128, modelWindow/2+1), y: make([]complex128, modelWindow/2+1),
		far: make([]float32, modelWindow), near: make([]float32, modelWindow),
		quiet: windowFrames,
	}
}

func (m *pathModel) reset() {
	m.quiet = windowFrames
	m.forget()
}

// forget discards the estimate, because the path has changed.
func (m *pathModel) forget() {
	m.state, m.trust = pathUnknown, 0
	m.echo, m.loudest, m.farther = 0, 0, 0
	clear(m.far)
	clear(m.near)
	m.before = 0 // the start of the current sound is lost
}

// push processes a frame of each stream and predicts its echo.
func (m *pathModel) push(far, near []int16, farHeard bool) {
	slide(m.far, far)
	slide(m.near, near)
	m.since++
	switch m.quiet++; {
	case farHeard && m.quiet > modelGap:
		m.before, m.since, m.quiet = m.quiet, 1, 0
	case farHeard:
		m.quiet = 0
	case m.quiet == modelGap && m.state == pathUnknown:
		long := m.since - modelGap
		if long >= modelMin && long <= modelMax && m.before+m.since > windowFrames {
			m.estimate()
		}
	}
	m.predict(near)
}

func slide(buf []float32, frame []int16) {
	n := copy(buf, buf[len(frame):])
	for i, v := range frame {
		buf[n+i] = float32(v)
	}
}

// estimate estimates the response from the sound in the window.
func (m *pathModel) estimate() {
	for i, v := range m.far {
		m.work[i] = float64(v)
	}
	m.fft.Coefficients(m.x, m.work)
	for i, v := range m.near {
		m.work[i] = float64(v)
	}
	m.fft.Coefficients(m.y, m.work)
	const from, to = modelLow * modelWindow / rate, modelHigh * modelWindow / rate
	mean := 0.0
	for k := from; k < to; k++ {
		mean += math.Log(real(m.x[k]*cmplx.Conj(m.x[k])) + 1)
	}
	weight := modelWeight * math.Exp(mean/(to-from))
	for k := range m.y {
		if k < from || k > to {
			m.y[k] = 0
			continue
		}
		m.y[k] *= cmplx.Conj(m.x[k]) / complex(real(m.x[k]*cmplx.Conj(m.x[k]))+weight, 0)
	}
	m.fft.Sequence(m.work, m.y)
	best := 0
	for l := range modelLate {
		if math.Abs(m.work[l]) > math.Abs(m.work[best]) {
			best = l
		}
	}
	start := max(best-modelLead, 0)
	energy, rest := 0.0, 0.0
	for j := range modelTaps {
		v := m.work[start+j] / modelWindow
		m.response[modelTaps-1-j] = float32(v)
		energy += v * v
		w := m.work[modelWindow-modelLead-modelTaps+j] / modelWindow
		rest += w * w
	}
	m.start = start
	switch {
	case energy >= modelStands*rest && energy > modelAbsent && best < modelReach:
		m.state = pathEcho
	case energy+rest <= modelAbsent && !m.muted():
		m.state = pathNoEcho
	}
}

// muted reports whether the microphone was silent at any time since the sound started.
func (m *pathModel) muted() bool {
	for at := modelWindow - m.since*frameSamples; at < modelWindow; at += frameSamples {
		sum := float32(0)
		for _, v := range m.near[at : at+frameSamples] {
			sum += v * v
		}
		if sum < modelMuted {
			return true
		}
	}
	return false
}

// predict removes the echo from the last near-end frame.
func (m *pathModel) predict(near []int16) {
	copy(m.left[:], near)
	if m.state == pathUnknown {
		return
	}
	var heard, far, echo, left float64 // powers
	sounding := m.state == pathEcho && m.quiet*frameSamples < modelTaps+m.start+frameSamples
	const from = modelWindow - frameSamples
	for i := range near {
		predicted := float32(0)
		if sounding {
			at := from + i - m.start
			predicted = dot(m.far[at-modelTaps+1:at+1], &m.response)
		}
		v := float32(near[i]) - predicted
		m.left[i] = int16(min(max(math.RoundToEven(float64(v)), math.MinInt16), math.MaxInt16))
		heard += m.bands[0].power(float64(near[i]))
		far += m.bands[1].power(float64(m.far[from+i]))
		echo += m.bands[2].power(float64(predicted))
		left += m.bands[3].power(float64(v))
	}
	switch {
	case echo < modelFaintest:
	case left*modelTakes < heard:
		m.trust = min(m.trust+1, trustMax)
	case left > heard:
		m.trust = max(m.trust-1, 0)
	}
	m.echo = max(echo, m.echo*modelFalls)
	m.loudest = max(echo, m.loudest*modelFades)
	m.farther = max(far*modelAbsent, m.farther*modelFalls)
	at := m.frames % modelFrames
	m.more[at], m.expected[at] = left, max(m.echo, m.loudest*modelQuiet, m.farther)
	m.frames++
}

// known reports whether the echo can be predicted.
func (m *pathModel) known() bool {
	return m.state == pathNoEcho || m.state == pathEcho && m.trust >= trustMin
}

// person reports whether the last frames contain more than the predicted echo.
func (m *pathModel) person() bool {
	more, expected := 0.0, 0.0
	for i := range modelFrames {
		more += m.more[i]
		expected += m.expected[i]
	}
	return more > modelPerson*expected
}

// dot returns the dot product.
func dot(x []float32, h *[modelTaps]float32) float32 {
	var a, b, c, d float32
	x = x[:modelTaps]
	for i := 0; i < modelTaps; i += 4 {
		a += x[i] * h[i]
		b += x[i+1] * h[i+1]
		c += x[i+2] * h[i+2]
		d += x[i+3] * h[i+3]
	}
	return a + b + (c + d)
}

// bandPass is the band in which a person is told apart from the prediction: 300 Hz to 3 kHz.
type bandPass struct{ highs, lows [2]pole }

type pole struct{ x, y, z float64 }

// power returns the square of the next filtered sample.
func (b *bandPass) power(v float64) float64 {
	const high, low = 0.89, 0.55
	for i := range b.highs {
		p := &b.highs[i]
		p.y, p.x = v-p.x+high*p.y, v
		v = p.y
	}
	for i := range b.lows { // with a double zero at the Nyquist frequency
		p := &b.lows[i]
		p.y += low * ((v+p.x)/2 - p.y)
		p.x = v
		v, p.z = (p.y+p.z)/2, p.y
	}
	return v * v
}
