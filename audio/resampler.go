package audio

import (
	"fmt"
	"math"
)

// The filter is a sinc with halfZeros zero crossings on each side, under a Kaiser
// window. The stop band starts at the lower of the two Nyquist frequencies, 70 dB
// down; the pass band reaches 86 % of it (6.9 kHz at 16 kHz).
const (
	halfZeros   = 32
	attenuation = 70.0
	maxRate     = 192000
)

// Resampler converts a mono stream from one rate to another by a rational ratio.
// Output sample k is the input at time k/to exactly: the output arrives late by half
// the filter, but its samples are not shifted. A Resampler is not safe for concurrent
// use.
type Resampler struct {
	up, down int // to/from in lowest terms
	half     int // filter length on each side, in input samples
	phases   [][]float32

	buf     []float32 // pending input, then free space
	n       int       // filled part of buf
	sound   int       // end of the last sample of buf that is not 0
	at      int       // start in buf of the next output's filter
	phase   int
	in, out int64
}

// NewResampler returns an error for rates outside 1 kHz to 192 kHz.
func NewResampler(from, to int) (*Resampler, error) {
	for _, rate := range []int{from, to} {
		if rate < 1000 || rate > maxRate {
			return nil, fmt.Errorf("cannot resample from %d Hz to %d Hz; use rates from 1000 to %d Hz", from, to, maxRate)
		}
	}
	g := gcd(from, to)
	r := &Resampler{up: to / g, down: from / g}
	cutoff := min(1, float64(to)/float64(from)) // in units of the input's Nyquist frequency
	r.half = int(math.Ceil(halfZeros / cutoff))
	r.buildFilter(cutoff)
	r.buf = make([]float32, 2*r.half+max(from/50, 2*r.half))
	r.Reset()
	return r, nil
}

// Reset discards all state.
func (r *Resampler) Reset() {
	clear(r.buf)
	r.n, r.sound, r.at, r.phase, r.in, r.out = r.half-1, 0, 0, 0, 0, 0
}

// Process resamples src and appends the available output to dst. It does not
// allocate if dst has room for len(src)*to/from samples, rounded up.
func (r *Resampler) Process(dst, src []int16) []int16 {
	if r.up == r.down {
		return append(dst, src...)
	}
	r.in += int64(len(src))
	for len(src) > 0 {
		n := min(len(src), len(r.buf)-r.n)
		for i, s := range src[:n] {
			r.buf[r.n+i] = float32(s)
			if s != 0 {
				r.sound = r.n + i + 1
			}
		}
		r.n += n
		src = src[n:]
		dst = r.drain(dst, math.MaxInt64)
	}
	return dst
}

// Flush appends the remaining output to dst, as if silence followed, and resets.
// In total, n input samples give n*to/from output samples, rounded up.
func (r *Resampler) Flush(dst []int16) []int16 {
	total := (r.in*int64(r.up) + int64(r.down) - 1) / int64(r.down)
	for r.out < total {
		n := min(r.half, len(r.buf)-r.n)
		clear(r.buf[r.n : r.n+n])
		r.n += n
		dst = r.drain(dst, total)
	}
	r.Reset()
	return dst
}

// drain appends the output that buf has enough input for, until total samples have
// been produced, and frees the consumed part of buf.
func (r *Resampler) drain(dst []int16, total int64) []int16 {
	taps := 2 * r.half
	for r.at+taps <= r.n && r.out < total {
		out := int16(0)
		if r.at < r.sound { // most streams are silent most of the time
			out = toInt16(dot(r.phases[r.phase], r.buf[r.at:r.at+taps]))
		}
		dst = append(dst, out)
		r.out++
		r.phase += r.down
		r.at += r.phase / r.up
		r.phase %= r.up
	}
	// When the input rate is much higher, the next filter may start past the
	// input received so far.
	used := min(r.at, r.n)
	r.n = copy(r.buf, r.buf[used:r.n])
	r.at -= used
	r.sound = max(0, r.sound-used)
	return dst
}

// buildFilter samples the windowed sinc for each phase.
func (r *Resampler) buildFilter(nyquist float64) {
	taps := 2 * r.half
	beta := 0.1102 * (attenuation - 8.7) // Kaiser's formulas
	transition := (attenuation - 7.95) / (2.285 * math.Pi * float64(taps))
	cutoff := nyquist - transition/2
	r.phases = make([][]float32, r.up)
	all := make([]float32, r.up*taps)
	for p := range r.phases {
		coeffs := all[p*taps : (p+1)*taps]
		sum := 0.0
		for j := range coeffs {
			t := float64(p)/float64(r.up) + float64(r.half-1-j)
			x := t / float64(r.half)
			c := sinc(cutoff*t) * bessel0(beta*math.Sqrt(max(0, 1-x*x)))
			coeffs[j] = float32(c)
			sum += c
		}
		for j := range coeffs {
			coeffs[j] /= float32(sum)
		}
		r.phases[p] = coeffs
	}
}

// dot returns the inner product, in four independent sums. The race detector does not
// instrument it, which would take most of the time of audio tests; its callers are checked.
//
//go:norace
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func toInt16(v float32) int16 {
	return int16(math.RoundToEven(float64(min(max(v, math.MinInt16), math.MaxInt16))))
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// bessel0 is the modified Bessel function of the first kind, order zero.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-12*sum; k++ {
		term *= (x / (2 * k)) * (x / (2 * k))
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
