package audio

import (
	"fmt"
	"math"
)

// The filter: a sinc of halfZeros zero crossings to each side under a Kaiser
// window. Its stop band begins at the lower of the two Nyquist frequencies and is
// 70 dB down; the pass band reaches 86 % of that (6.9 kHz at 16 kHz).
const (
	halfZeros   = 32
	attenuation = 70.0
	maxRate     = 192000
)

// Resampler converts mono audio from one rate to another as a stream, by a
// rational ratio. Output sample k is the input at time k/to exactly: there is no
// delay to make up for, the output only comes later, by half the filter. A
// Resampler is used by one goroutine.
type Resampler struct {
	up, down int // to/from in lowest terms
	half     int // filter length to each side, in input samples
	phases   [][]float32

	buf     []float32 // input that is still needed, then room for more
	n       int       // how much of buf is filled
	at      int       // where in buf the filter of the next output begins
	phase   int
	in, out int64
}

// NewResampler fails for rates outside of 1 kHz to 192 kHz.
func NewResampler(from, to int) (*Resampler, error) {
	for _, rate := range []int{from, to} {
		if rate < 1000 || rate > maxRate {
			return nil, fmt.Errorf("cannot convert audio of %d Hz to %d Hz; use rates from 1000 to %d", from, to, maxRate)
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

// Reset forgets what was processed.
func (r *Resampler) Reset() {
	clear(r.buf)
	r.n, r.at, r.phase, r.in, r.out = r.half-1, 0, 0, 0, 0
}

// Process appends to dst what src adds to the output. It allocates nothing when
// dst has room: len(src)*to/from, rounded up.
func (r *Resampler) Process(dst, src []int16) []int16 {
	if r.up == r.down {
		return append(dst, src...)
	}
	r.in += int64(len(src))
	for len(src) > 0 {
		n := min(len(src), len(r.buf)-r.n)
		for i, s := range src[:n] {
			r.buf[r.n+i] = float32(s)
		}
		r.n += n
		src = src[n:]
		dst = r.drain(dst, math.MaxInt64)
	}
	return dst
}

// Flush appends the rest of the output to dst, as if silence followed, and
// resets. In all, n input samples give n*to/from output samples, rounded up.
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

// drain appends all output that the input in buf suffices for, up to a total, and
// makes room in buf.
func (r *Resampler) drain(dst []int16, total int64) []int16 {
	taps := 2 * r.half
	for r.at+taps <= r.n && r.out < total {
		dst = append(dst, toInt16(dot(r.phases[r.phase], r.buf[r.at:r.at+taps])))
		r.out++
		r.phase += r.down
		r.at += r.phase / r.up
		r.phase %= r.up
	}
	// With much more input than output, the next filter may begin behind the
	// input that has come.
	used := min(r.at, r.n)
	r.n = copy(r.buf, r.buf[used:r.n])
	r.at -= used
	return dst
}

// buildFilter samples the windowed sinc once for each phase.
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

// dot is the inner product, in four sums that do not wait for each other.
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
