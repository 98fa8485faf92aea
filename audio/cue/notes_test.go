package cue

import (
	"math"
	"math/cmplx"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// strongest returns the frequency below 4 kHz with the most power, under a Hann window.
func strongest(pcm []int16) (hertz float64) {
	const step = 5
	most := 0.0
	for k := range 4000 / step {
		turn := cmplx.Exp(complex(0, -2*math.Pi*float64(k)*step/audio.SampleRate))
		sum, at := complex(0, 0), complex(1, 0)
		for i, s := range pcm {
			hann := (1 - math.Cos(2*math.Pi*float64(i)/float64(len(pcm)))) / 2
			sum += at * complex(float64(s)*hann, 0)
			at *= turn
		}
		if power := real(sum)*real(sum) + imag(sum)*imag(sum); power > most {
			most, hertz = power, float64(k)*step
		}
	}
	return hertz
}

// The table of the package doc.
func TestCuesMatchTheTable(t *testing.T) {
	for c := Listening; c < NumCues; c++ {
		pcm, peak := Samples(c), -20.0
		if c == Thinking {
			peak = -28
		}
		level := audio.LevelOf(pcm)
		length := audio.Duration(int64(len(pcm)))
		t.Logf("%-10v %v, peak %.2f dBFS, RMS %.2f dBFS", c, length, level.Peak, level.RMS)
		if math.Abs(level.Peak-peak) > 0.01 {
			t.Errorf("%v has a peak of %.2f dBFS, want %v", c, level.Peak, peak)
		}
		if c != Thinking && length >= 300*time.Millisecond {
			t.Errorf("%v lasts %v", c, length)
		}
		if pcm[0] != 0 || pcm[len(pcm)-1] != 0 {
			t.Errorf("%v begins with %d and ends with %d, want silence", c, pcm[0], pcm[len(pcm)-1])
		}
		for _, n := range scores[c].notes {
			from, length := audio.Samples(n.at), audio.Samples(n.length)
			middle := pcm[from+length/8 : from+length/2]
			if got := strongest(middle); math.Abs(got/n.hertz-1) > 0.05 {
				t.Errorf("%v has %v Hz at %v, want %v", c, got, n.at, n.hertz)
			}
		}
	}
	if len(Samples(None)) != 0 {
		t.Error("None has samples")
	}
}

// Clicks have energy at all frequencies. Measure the energy above 4.3 kHz as what
// resampling to 10 kHz loses. For these cues it is quantization noise, highest
// relative to the softest cue.
func TestCuesAreBandLimited(t *testing.T) {
	power := func(pcm []int16) (sum float64) {
		for _, s := range pcm {
			sum += float64(s) * float64(s)
		}
		return sum
	}
	for c := Listening; c < NumCues; c++ {
		pcm := Samples(c)
		rest := resample(t, resample(t, pcm, audio.SampleRate, 10000), 10000, audio.SampleRate)
		largest := 0.0
		for i := range pcm {
			rest[i] = pcm[i] - rest[i]
			if i > 0 {
				largest = max(largest, math.Abs(float64(pcm[i])-float64(pcm[i-1])))
			}
		}
		above := 10 * math.Log10(power(rest[:len(pcm)])/power(pcm))
		t.Logf("%-10v %.1f dB above 4.3 kHz, largest step %.0f", c, above, largest)
		if above > -55 {
			t.Errorf("%v has %.1f dB above 4.3 kHz", c, above)
		}
		// A sine of 4 kHz at the cue's peak has steps of half the peak.
		if peak := amplitude(scores[c].peak) * math.MaxInt16; largest > peak/2 {
			t.Errorf("%v has a step of %.0f at a peak of %.0f", c, largest, peak)
		}
	}
}

func resample(tb testing.TB, pcm []int16, from, to int) []int16 {
	tb.Helper()
	r, err := audio.NewResampler(from, to)
	if err != nil {
		tb.Fatal(err)
	}
	return r.Flush(r.Process(nil, pcm))
}

// The loop starts and ends in silence, so that it has no seam.
func TestLoopHasNoSeam(t *testing.T) {
	pcm := Samples(Thinking)
	for i, s := range pcm[len(pcm)-audio.SampleRate:] {
		if s != 0 {
			t.Fatalf("the last second of the loop has %d at %d", s, i)
		}
	}
}

func TestNamesOfCues(t *testing.T) {
	seen := map[string]bool{}
	for c := None; c <= NumCues; c++ {
		if seen[c.String()] || c.String() == "" {
			t.Errorf("cue %d is called %q", uint8(c), c)
		}
		seen[c.String()] = true
	}
}
