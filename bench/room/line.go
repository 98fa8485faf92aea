package room

import "math"

// Interpolation between samples under clock drift: windowed sincs of 2*lineHalf taps,
// tabulated at linePhases fractional positions. For speech its error is below that of
// 16 bits.
const (
	lineHalf   = 12
	linePhases = 512
)

// line converts from the speaker's clock to the microphone's, with the delay of both
// devices. Output sample k is the input at k*step - delay.
type line struct {
	buf    []float32               // input, a ring whose length is a power of two
	n      int64                   // samples received
	frames int64                   // frames read
	delay  float64                 // samples of input
	step   float64                 // input samples per output sample
	phases [][2 * lineHalf]float32 // nil without drift
	in     block
}

// newLine returns a line whose delay may grow by most samples.
func newLine(delay, most int, ppm float64) *line {
	size := 1
	for size < delay+most+4*part+4*lineHalf {
		size *= 2
	}
	l := &line{buf: make([]float32, size), delay: float64(delay), step: 1 + ppm*1e-6}
	if ppm == 0 {
		return l
	}
	l.delay = max(l.delay, lineHalf) // the interpolation looks ahead
	l.phases = make([][2 * lineHalf]float32, linePhases)
	for p := range l.phases {
		sum := 0.0
		var taps [2 * lineHalf]float64
		for j := range taps {
			taps[j] = windowedSinc(float64(j-lineHalf+1)-float64(p)/linePhases, lineHalf)
			sum += taps[j]
		}
		for j, v := range taps {
			l.phases[p][j] = float32(v / sum)
		}
	}
	return l
}

// read returns a frame of output. It requests an input frame whenever the speaker's
// clock has reached its start by the end of the output: once without drift.
func (l *line) read(out *block, more func(b *block)) {
	begin := float64(l.frames*part) * l.step
	for float64(l.n) < begin+part*l.step-0.5 {
		more(&l.in)
		for _, v := range l.in {
			l.buf[l.n&int64(len(l.buf)-1)] = v
			l.n++
		}
	}
	for i := range out {
		out[i] = l.sample(begin + float64(i)*l.step - l.delay)
	}
	l.frames++
}

// sample returns the input at a fractional position; it is silent before its first
// sample.
func (l *line) sample(at float64) float32 {
	whole := math.Floor(at)
	first, mask := int64(whole), int64(len(l.buf)-1)
	if l.phases == nil {
		if first < 0 {
			return 0
		}
		return l.buf[first&mask]
	}
	taps := &l.phases[int((at-whole)*linePhases)]
	first -= lineHalf - 1
	if first < 0 {
		return 0
	}
	sum := float32(0)
	for j, c := range taps {
		sum += c * l.buf[(first+int64(j))&mask]
	}
	return sum
}
