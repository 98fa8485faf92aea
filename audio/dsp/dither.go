package dsp

import "math/rand/v2"

// dither adds noise of -16 to 15 (-71 dBFS) to the far end that the canceller sees.
// Speech does not excite all bands at once, and the canceller's coefficients drift in
// the empty ones until it stops cancelling for good: after eight minutes of speech in
// a room like "meeting". Noise without an echo keeps them bounded (Haykin, Adaptive
// Filter Theory, leakage).
type dither struct{ source rand.PCG }

// bits is the number of random bits per sample.
const bits = 5

func (d *dither) add(far []int16) {
	for i, s := range far {
		n := int32(s) + int32(d.source.Uint64()>>(64-bits)) - 1<<(bits-1)
		far[i] = int16(min(max(n, -1<<15), 1<<15-1))
	}
}
