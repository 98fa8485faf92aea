package audio

import (
	"math"
	"slices"
	"testing"
)

func sine(rate int, hz, amplitude float64, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(math.Round(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return pcm
}

// amplitudeAt is the amplitude of one frequency in pcm.
func amplitudeAt(pcm []int16, rate int, hz float64) float64 {
	re, im, norm := 0.0, 0.0, 0.0
	for i, s := range pcm {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(pcm))) // Hann
		a := 2 * math.Pi * hz * float64(i) / float64(rate)
		re += w * float64(s) * math.Cos(a)
		im += w * float64(s) * math.Sin(a)
		norm += w
	}
	return 2 * math.Hypot(re, im) / norm
}

func resample(t testing.TB, from, to int, pcm []int16) []int16 {
	t.Helper()
	r, err := NewResampler(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return r.Flush(r.Process(nil, pcm))
}

var rates = [][2]int{
	{8000, 48000}, {11025, 48000}, {16000, 48000}, {22050, 48000}, {24000, 48000}, {44100, 48000}, {96000, 48000}, {192000, 48000},
	{48000, 8000}, {48000, 16000}, {48000, 22050}, {48000, 24000}, {48000, 44100}, {16000, 8000}, {12345, 48000},
}

func TestResamplerKeepsThePassBand(t *testing.T) {
	const amplitude = 16000
	for _, c := range rates {
		from, to := c[0], c[1]
		band := 0.5 * float64(min(from, to))
		for _, part := range []float64{0.02, 0.3, 0.6, 0.86} {
			hz := part * band
			out := resample(t, from, to, sine(from, hz, amplitude, from))
			if len(out) != to {
				t.Fatalf("%d to %d Hz: 1 s became %d samples", from, to, len(out))
			}
			middle := out[to/10 : to-to/10]
			if db := 20 * math.Log10(amplitudeAt(middle, to, hz)/amplitude); math.Abs(db) > 0.1 {
				t.Errorf("%d to %d Hz: a tone of %.0f Hz changed by %.2f dB", from, to, hz, db)
			}
			// Everything that is not the tone: aliases, images and noise.
			want := sine(to, hz, amplitude, to)[to/10 : to-to/10]
			errorPower := 0.0
			for i := range middle {
				d := float64(middle[i]) - float64(want[i])
				errorPower += d * d
			}
			snr := 10 * math.Log10(amplitude*amplitude/2/(errorPower/float64(len(middle))))
			if part < 0.8 && snr < 60 {
				t.Errorf("%d to %d Hz: a tone of %.0f Hz is %.1f dB above its error", from, to, hz, snr)
			}
		}
	}
}

func TestResamplerStopsAliases(t *testing.T) {
	const amplitude = 16000
	for _, c := range rates {
		from, to := c[0], c[1]
		if from <= to {
			continue
		}
		for _, part := range []float64{1.01, 1.2, 1.8} {
			hz := part * 0.5 * float64(to)
			if hz >= 0.5*float64(from) {
				continue
			}
			out := resample(t, from, to, sine(from, hz, amplitude, from))
			if level := LevelOf(out[to/10 : to-to/10]); level.RMS > LevelOf([]int16{amplitude}).RMS-3-60 {
				t.Errorf("%d to %d Hz: a tone of %.0f Hz leaves an alias of %.1f dBFS", from, to, hz, level.RMS)
			}
		}
	}
}

func TestResamplerIsIndependentOfChunkSize(t *testing.T) {
	pcm := sine(44100, 440, 9000, 30000)
	want := resample(t, 44100, 48000, pcm)
	r, err := NewResampler(44100, 48000)
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{1, 7, 441, 882, 9999} {
		var got []int16
		for rest := pcm; len(rest) > 0; {
			n := min(chunk, len(rest))
			got, rest = r.Process(got, rest[:n]), rest[n:]
		}
		got = r.Flush(got)
		if len(got) != len(want) {
			t.Fatalf("chunks of %d: %d samples, want %d", chunk, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("chunks of %d: sample %d is %d, want %d", chunk, i, got[i], want[i])
			}
		}
	}
}

// TestResamplerSkipsSilenceOnly: silence is not filtered, and what stands before and
// after it does not change.
func TestResamplerSkipsSilenceOnly(t *testing.T) {
	for _, c := range rates {
		tone, silence := sine(c[0], 300, 8000, c[0]/20), make([]int16, c[0]/10)
		before := resample(t, c[0], c[1], slices.Concat(tone, silence, silence[:len(tone)]))
		after := resample(t, c[0], c[1], slices.Concat(silence[:len(tone)], silence, tone))
		both := resample(t, c[0], c[1], slices.Concat(tone, silence, tone))
		for i := range both {
			if d := int(both[i]) - int(before[i]) - int(after[i]); d < -1 || d > 1 { // rounding
				t.Fatalf("%d to %d Hz: sample %d is %d, and %d and %d in parts", c[0], c[1], i, both[i], before[i], after[i])
			}
		}
	}
}

func TestResamplerClipsInsteadOfWrapping(t *testing.T) {
	square := make([]int16, 1600)
	for i := range square {
		square[i] = math.MaxInt16
		if i/20%2 == 1 {
			square[i] = math.MinInt16
		}
	}
	for i, s := range resample(t, 16000, 48000, square)[:4800] {
		if in := square[min(i/3, len(square)-1)]; i%60 == 30 && (s > 0) != (in > 0) {
			t.Fatalf("sample %d is %d where the input is %d", i, s, in)
		}
	}
}

func TestResamplerRejectsInvalidRates(t *testing.T) {
	for _, c := range [][2]int{{0, 48000}, {48000, -1}, {48000, 1 << 30}} {
		if _, err := NewResampler(c[0], c[1]); err == nil {
			t.Errorf("%d to %d Hz was accepted", c[0], c[1])
		}
	}
}

func BenchmarkResampler(b *testing.B) {
	for name, c := range map[string][2]int{"16to48": {16000, 48000}, "44.1to48": {44100, 48000}, "48to16": {48000, 16000}} {
		b.Run(name, func(b *testing.B) {
			r, err := NewResampler(c[0], c[1])
			if err != nil {
				b.Fatal(err)
			}
			in := sine(c[0], 440, 9000, c[0]/100)
			out := make([]int16, 0, FrameSamples+1)
			b.ReportAllocs()
			for b.Loop() {
				r.Process(out, in)
			}
		})
	}
}
