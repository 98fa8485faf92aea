package dsp

import "math/rand/v2"

// dither is the noise that the canceller finds under the far end, from -16 to 15 of a
// sample: -71 dBFS. Speech is not in all bands at once, and what the filter of the
// canceller has for an empty one drifts, until, after eight minutes of speech in a
// room like "meeting", it cancels nothing any more and does not find back. A noise
// that has no echo keeps it where it is (Haykin, Adaptive Filter Theory, leakage).
type dither struct{ source rand.PCG }

// bits are those of a number that make a sample.
const bits = 5

func (d *dither) add(far []int16) {
	for i, s := range far {
		n := int32(s) + int32(d.source.Uint64()>>(64-bits)) - 1<<(bits-1)
		far[i] = int16(min(max(n, -1<<15), 1<<15-1))
	}
}
