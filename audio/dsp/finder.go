package dsp

import (
	"math"
	"math/bits"

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
	fft       *fft
	far, near []complex64
	n         int // samples of this block
	active    int // of those, beside a far end that is heard
	cross     []complex64
	work      []complex64
}

func newFinder() *finder {
	return &finder{
		fft:   newFFT(findSamples),
		far:   make([]complex64, findSamples),
		near:  make([]complex64, findSamples),
		cross: make([]complex64, findSamples/2),
		work:  make([]complex64, findSamples),
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
		d.far[d.n] = complex(float32(far[i]), 0)
		d.near[d.n] = complex(float32(near[i]), 0)
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
	d.fft.forward(d.far)
	d.fft.forward(d.near)
	for k := findLow * findSamples / rate; k < findHigh*findSamples/rate; k++ {
		x, y := d.far[k], d.near[k]
		c := complex(real(y)*real(x)+imag(y)*imag(x), imag(y)*real(x)-real(y)*imag(x))
		if size := float32(math.Hypot(float64(real(c)), float64(imag(c)))); size > 0 {
			c = complex(real(c)/size, imag(c)/size)
		}
		d.cross[k] += complex(findMemory, 0) * (c - d.cross[k])
	}
}

// peak looks for the echo in the correlation, which it interpolates by a parabola;
// in samples at rate.
func (d *finder) peak() (lag float64, found bool) {
	clear(d.work)
	for k, c := range d.cross {
		// The inverse of something real is the real part of its transform.
		d.work[k] = complex(real(c), -imag(c))
	}
	d.fft.forward(d.work)
	at := func(lag int) float64 { return float64(real(d.work[lag&(findSamples-1)])) }
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

// fft transforms blocks of a fixed power of two, in place: the textbook's iterative
// radix 2.
type fft struct {
	twiddle []complex64 // exp(-2 pi i k / n) for k < n/2
	swap    []int32     // pairs of bit-reversed positions
}

func newFFT(n int) *fft {
	f := &fft{twiddle: make([]complex64, n/2)}
	for k := range f.twiddle {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
		f.twiddle[k] = complex(float32(cos), float32(sin))
	}
	shift := 64 - bits.Len(uint(n-1))
	for i := range n {
		if j := int(bits.Reverse64(uint64(i)) >> shift); i < j {
			f.swap = append(f.swap, int32(i), int32(j))
		}
	}
	return f
}

func (f *fft) forward(x []complex64) {
	for i := 0; i < len(f.swap); i += 2 {
		a, b := f.swap[i], f.swap[i+1]
		x[a], x[b] = x[b], x[a]
	}
	for half := 1; half < len(x); half *= 2 {
		step := len(x) / (2 * half)
		for start := 0; start < len(x); start += 2 * half {
			low, high := x[start:start+half], x[start+half:start+2*half]
			for k, t := 0, 0; k < half; k, t = k+1, t+step {
				w, h := f.twiddle[t], high[k]
				p := complex(real(w)*real(h)-imag(w)*imag(h), real(w)*imag(h)+imag(w)*real(h))
				high[k] = low[k] - p
				low[k] += p
			}
		}
	}
}
