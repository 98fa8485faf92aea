package dsp

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The search for the echo: blocks of half a second, at rate.
const (
	findSamples = 8192
	// The band that is looked at: the fundamentals and formants of speech, which
	// every loudspeaker plays.
	findLow, findHigh = 200, 4000 // Hz
	// findMemory is the weight of a new block: a second and a half of speech.
	findMemory = 1.0 / 3
	// findReach is how far before and behind its reference an echo is looked for.
	findReach = 256 * rate / 1000
	// prominent is by how much an echo must stand out of the correlation's
	// effective value. Unrelated sounds reach 6.
	prominent = 9
)

// finder finds by how much the near end's echo is behind the far end: the peak of
// their cross-correlation, of which only the phases count (GCC-PHAT, Knapp and
// Carter, 1976), so that a room's reverberation does not smear it. It costs four
// transforms each half second, and finds an echo to a few microseconds.
type finder struct {
	fft       *fourier.FFT
	far, near []float64
	n         int          // samples of this block
	active    int          // of those, beside a far end that is heard
	x, y      []complex128 // the spectra of the block
	cross     []complex128
	work      []float64
}

func newFinder() *finder {
	return &finder{
		fft:   fourier.NewFFT(findSamples),
		far:   make([]float64, findSamples),
		near:  make([]float64, findSamples),
		x:     make([]complex128, findSamples/2+1),
		y:     make([]complex128, findSamples/2+1),
		cross: make([]complex128, findSamples/2+1),
		work:  make([]float64, findSamples),
	}
}

func (d *finder) reset() {
	d.n, d.active = 0, 0
	clear(d.cross)
}

// push takes a frame of each stream. At the end of each block, if the far end
// was heard in it, it tells where the echo is, in samples at 48 kHz behind the
// reference, and whether one was found; done says that a block ended.
func (d *finder) push(far, near []int16, heard bool) (echo float64, found, done bool) {
	for i := range far {
		if d.n == findSamples {
			break // the rest of a frame is of no importance
		}
		d.far[d.n] = float64(far[i])
		d.near[d.n] = float64(near[i])
		d.n++
	}
	if heard {
		d.active += len(far)
	}
	if d.n < findSamples {
		return 0, false, false
	}
	enough := d.active > findSamples/2
	d.n, d.active = 0, 0
	if !enough {
		return 0, false, true
	}
	d.accumulate()
	lag, found := d.peak()
	return lag * audio.SampleRate / rate, found, true
}

// accumulate adds the phases of the block's cross-spectrum to those before.
func (d *finder) accumulate() {
	d.fft.Coefficients(d.x, d.far)
	d.fft.Coefficients(d.y, d.near)
	for k := findLow * findSamples / rate; k < findHigh*findSamples/rate; k++ {
		c := d.y[k] * cmplx.Conj(d.x[k])
		if size := cmplx.Abs(c); size > 0 {
			c /= complex(size, 0)
		}
		d.cross[k] += findMemory * (c - d.cross[k])
	}
}

// peak looks for the echo in the correlation, which it interpolates by a parabola;
// in samples at rate.
func (d *finder) peak() (lag float64, found bool) {
	d.fft.Sequence(d.work, d.cross)
	at := func(lag int) float64 { return d.work[lag&(findSamples-1)] }
	best, sum := -findReach+1, 0.0
	for l := -findReach + 1; l < findReach; l++ {
		v := at(l)
		sum += v * v
		if v > at(best) {
			best = l
		}
	}
	if top := at(best); top < prominent*math.Sqrt(sum/(2*findReach)) || top == 0 {
		return 0, false
	}
	before, top, after := at(best-1), at(best), at(best+1)
	return float64(best) + 0.5*(before-after)/(before-2*top+after), true
}
