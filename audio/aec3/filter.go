package aec3

import "math"

// filter is a high-pass at 100 Hz, a Butterworth of second order, as WebRTC has before
// AEC3.
type filter struct{ x1, x2, y1, y2 float64 }

// Coefficients of the bilinear transform.
var (
	warped = math.Tan(math.Pi * 100 / SampleRate)
	scale  = 1 / (1 + math.Sqrt2*warped + warped*warped)
	pole1  = 2 * scale * (warped*warped - 1)
	pole2  = scale * (1 - math.Sqrt2*warped + warped*warped)
)

func (f *filter) process(samples []int16) {
	for i, s := range samples {
		x := float64(s)
		y := scale*(x-2*f.x1+f.x2) - pole1*f.y1 - pole2*f.y2
		f.x2, f.x1, f.y2, f.y1 = f.x1, x, f.y1, y
		samples[i] = int16(min(max(math.RoundToEven(y), math.MinInt16), math.MaxInt16))
	}
}
