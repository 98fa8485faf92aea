//go:build cgo && !race

package cue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// threshold is the lowest probability that counts as speech in any profile.
const threshold = 0.35

func newDetector(tb testing.TB) vad.Detector {
	tb.Helper()
	model, err := assets.Silero()
	if err != nil {
		tb.Fatal(err)
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	d, err := vad.NewSilero(model, lib)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// speechIn returns the highest speech probability in pcm (48 kHz), over windows that
// start half a window apart, as with two interleaved detectors.
func speechIn(tb testing.TB, d vad.Detector, pcm []int16) float32 {
	tb.Helper()
	at16k := resample(tb, pcm, audio.SampleRate, vad.SampleRate)
	var highest float32
	for _, from := range []int{0, vad.WindowSamples / 2} {
		d.Reset()
		for window := range slices.Chunk(at16k[from:], vad.WindowSamples) {
			if len(window) < vad.WindowSamples {
				break
			}
			p, err := d.Process(window)
			if err != nil {
				tb.Fatal(err)
			}
			highest = max(highest, p)
		}
	}
	return highest
}

// played returns the mixer's output for c at volume 1: 30 s of a loop, or another cue
// five times, because the detector has a memory.
func played(c Cue) []int16 {
	m := NewMixer(func(f *audio.Frame) { clear(f[:]) })
	length := 5 * time.Second
	if c.loops() {
		length = 30 * time.Second
	}
	var pcm []int16
	for i := range int(length / audio.FrameTime) {
		if i%100 == 50 {
			m.Play(c)
		}
		var f audio.Frame
		m.Render(&f)
		pcm = append(pcm, f[:]...)
	}
	return pcm
}

// reverberant returns pcm in a room: the direct sound plus an exponential tail of 400
// ms (to -60 dB) with the same energy.
func reverberant(pcm []int16) []float64 {
	const taps = 40
	random := rand.New(rand.NewPCG(1, 2))
	delay, gain := make([]int, taps), make([]float64, taps)
	energy := 0.0
	for i := range taps {
		at := random.Float64() * 0.4
		delay[i] = int(at * audio.SampleRate)
		gain[i] = math.Pow(10, -3*at/0.4) * random.NormFloat64()
		energy += gain[i] * gain[i]
	}
	out := make([]float64, len(pcm))
	for i, s := range pcm {
		out[i] += float64(s)
		for k, d := range delay {
			if i+d < len(out) {
				out[i+d] += float64(s) * gain[k] / math.Sqrt(energy)
			}
		}
	}
	return out
}

// microphone returns the signal of a microphone: sound at a gain in dB, plus the
// noise of a quiet room (-65 dBFS).
func microphone(sound []float64, db float64) []int16 {
	random := rand.New(rand.NewPCG(3, 4))
	pcm := make([]int16, len(sound))
	for i, s := range sound {
		v := s*amplitude(db) + random.NormFloat64()*amplitude(-65)*math.MaxInt16
		pcm[i] = int16(math.Round(min(max(v, math.MinInt16), math.MaxInt16)))
	}
	return pcm
}

func floats(pcm []int16) []float64 {
	out := make([]float64, len(pcm))
	for i, s := range pcm {
		out[i] = float64(s)
	}
	return out
}

// heard returns the variants of a cue that the trigger may hear: as played by the
// device, with almost no echo cancellation, and with gain control on top of the
// loudest echo.
func heard(tb testing.TB, pcm []int16) map[string][]int16 {
	return map[string][]int16{
		"direct":         pcm,
		"via 44.1 kHz":   resample(tb, resample(tb, pcm, audio.SampleRate, 44100), 44100, audio.SampleRate),
		"echo at -6 dB":  microphone(floats(pcm), -6),
		"room at -12 dB": microphone(reverberant(pcm), -12),
		"room at -6 dB":  microphone(reverberant(pcm), -6),
		"room at +12 dB": microphone(reverberant(pcm), 12),
	}
}

// If a cue sounded like a voice, the trigger would detect it, and the assistant would
// interrupt itself.
func TestCuesAreNotSpeech(t *testing.T) {
	d := newDetector(t)
	for c := Listening; c < NumCues; c++ {
		highest, worst := float32(0), ""
		for way, pcm := range heard(t, played(c)) {
			if p := speechIn(t, d, pcm); p > highest {
				highest, worst = p, way
			}
		}
		t.Logf("%-10v speech with probability %.3f at most (%s)", c, highest, worst)
		if highest > threshold {
			t.Errorf("%v is speech with probability %.2f (%s), threshold %.2f", c, highest, worst, threshold)
		}
	}
}

// A cue with the harmonics of a voice and the formants of a vowel is speech to the
// same detector, so the test above can fail.
func TestVowelIsSpeech(t *testing.T) {
	d := newDetector(t)
	const pitch = 130.0
	vowel := timbre{attack: 20 * ms, release: 40 * ms}
	for h := 1.0; h*pitch < 4000; h++ {
		level := 0.0
		for _, formant := range []struct{ hertz, width, gain float64 }{{700, 130, 1}, {1220, 150, 0.5}, {2600, 250, 0.2}} {
			x := (h*pitch - formant.hertz) / formant.width
			level += formant.gain / (1 + x*x)
		}
		vowel.partials = append(vowel.partials, partial{h, 20 * math.Log10(level), time.Second})
	}
	cue := score{vowel, []note{{0, 290 * ms, pitch, 0}}, 290 * ms, -20, note{}}.render()
	var pcm []int16
	for range 5 {
		pcm = append(append(pcm, cue...), make([]int16, audio.SampleRate/2)...)
	}
	var highest float32
	for way, pcm := range heard(t, pcm) {
		p := speechIn(t, d, pcm)
		t.Logf("%-15s %.3f", way, p)
		highest = max(highest, p)
	}
	if highest <= 2*threshold {
		t.Errorf("a vowel is speech with a probability of %.2f; the detector is not effective here", highest)
	}
}
