package dsp

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Search for the echo, in blocks of half a second at rate.
const (
	findSamples = 8192
	// findLow to findHigh is the band of speech fundamentals and formants, which every
	// speaker reproduces.
	findLow, findHigh = 200, 4000 // Hz
	// findMemory is the weight of a new block: it averages 1.5 s of speech.
	findMemory = 1.0 / 3
	// findReach is the search range before and after the reference.
	findReach = 256 * rate / 1000
	// prominent is the required ratio of the peak to the RMS of the correlation.
	// Unrelated sounds reach 6.
	prominent = 9
)

// finder measures the delay of the near end's echo: the peak of the phase-only
// cross-correlation with the far end (GCC-PHAT, Knapp and Carter, 1976), which
// reverberation does not smear. It costs four FFTs every half second, and is accurate
// to a few microseconds.
type finder struct {
	fft       *fourier.FFT
	far, near []float64
	n         int          // samples of this block
	active    int          // of those, samples with an active far end
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

// push takes a frame of each stream. done reports the end of a block. If the far end
// was active in it and an echo was found, echo is its distance behind the reference,
// in samples at 48 kHz.
func (d *finder) push(far, near []int16, heard bool) (echo float64, found, done bool) {
	for i := range far {
		if d.n == findSamples {
			break // the rest of the frame can be ignored
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

// accumulate adds the phases of the block's cross-spectrum to the running average.
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

// peak returns the lag of the correlation's peak, interpolated by a parabola, in
// samples at rate.
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
