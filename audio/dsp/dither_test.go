package dsp

import (
	"math"
	"testing"
)

func TestDither(t *testing.T) {
	far := make([]int16, 16000)
	var d dither
	d.add(far)
	mean := 0.0
	for _, s := range far {
		if s < -16 || s > 15 {
			t.Fatalf("a sample of silence became %d", s)
		}
		mean += float64(s) / float64(len(far))
	}
	if level := 10 * math.Log10(power(far)); math.Abs(level+71) > 0.5 {
		t.Errorf("the noise has %.1f dBFS, want -71", level)
	}
	if math.Abs(mean) > 1 {
		t.Errorf("the mean is %.2f", mean)
	}
	for _, peak := range []int16{math.MinInt16, math.MaxInt16} {
		loud := []int16{peak, peak, peak, peak, peak, peak, peak, peak}
		d.add(loud)
		for _, s := range loud {
			if (s < 0) != (peak < 0) {
				t.Errorf("%d became %d", peak, s)
			}
		}
	}
}
