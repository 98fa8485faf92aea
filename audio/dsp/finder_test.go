package dsp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// whisper is noise with the envelope of speech.
func whisper(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, seed))
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64() * 2000 * math.Max(0, math.Sin(2*math.Pi*float64(i)/3000))
	}
	return out
}

// find plays far and near to a finder and returns its last result.
func find(far, near []float64) (echo float64, found bool) {
	d := newFinder()
	var f, n [frameSamples]int16
	for at := 0; at+frameSamples <= min(len(far), len(near)); at += frameSamples {
		for i := range f {
			f[i], n[i] = int16(far[at+i]), int16(near[at+i])
		}
		if e, ok, done := d.push(f[:], n[:], true); done {
			echo, found = e, ok
		}
	}
	return echo, found
}

// TestFinderFindsTheEcho far before and behind its reference, between two samples,
// and under other sounds.
func TestFinderFindsTheEcho(t *testing.T) {
	const n = 5 * rate
	far := whisper(1, n)
	for _, lag := range []float64{-160, 0, 5.25, 30, 230} { // ms
		near := whisper(2, n)
		for i := range near {
			near[i] *= 0.3
			from := float64(i) - lag*rate/1000
			whole := math.Floor(from)
			for j := -8; j <= 8; j++ { // between the samples
				if k := int(whole) + j; k >= 0 && k < n {
					near[i] += 0.5 * far[k] * sincAt(from-float64(k))
				}
			}
		}
		got, found := find(far, near)
		if !found || math.Abs(got/millisecond-lag) > 0.01 {
			t.Errorf("echo at %v ms found at %.3f (found: %v)", lag, got/millisecond, found)
		}
	}
}

func sincAt(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func TestFinderFindsNoEchoInUnrelatedSounds(t *testing.T) {
	for seed := range uint64(20) {
		if at, found := find(whisper(2*seed+1, 2*rate), whisper(2*seed+2, 2*rate)); found {
			t.Errorf("found an echo between unrelated sounds, at %.1f ms", at/millisecond)
		}
	}
	if _, found := find(make([]float64, rate), make([]float64, rate)); found {
		t.Error("found an echo in silence")
	}
}
