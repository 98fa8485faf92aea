package room

import (
	"math"
	"math/bits"
)

// fft transforms blocks of a fixed power of two, in place. It is the textbook's
// iterative radix 2: a room needs two transforms a frame, which is little beside
// the multiplications between them.
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

// forward transforms x, whose length is that of the fft.
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

// inverse is forward's inverse.
func (f *fft) inverse(x []complex64) {
	scale := 1 / float32(len(x))
	for i, v := range x {
		x[i] = complex(real(v)*scale, -imag(v)*scale)
	}
	f.forward(x)
	for i, v := range x {
		x[i] = complex(real(v), -imag(v))
	}
}
