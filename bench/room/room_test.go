package room

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// speechLike returns noise with roughly the long-term spectrum of speech, at -20 dBFS.
func speechLike(seed uint64, n int) []int16 {
	rng := rand.New(rand.NewPCG(seed, seed))
	pole := 1 - math.Exp(-2*math.Pi*600/audio.SampleRate)
	low, lower := 0.0, 0.0
	x := make([]float32, n)
	for i := range x {
		low += pole * (rng.NormFloat64() - low)
		lower += pole * (low - lower)
		x[i] = float32(lower)
	}
	highPass(x)
	out := make([]int16, n)
	for i, v := range toUnit(x) {
		out[i] = int16(max(min(v*3276.8, 32767), -32768))
	}
	return out
}

// play runs a room for the length of far, and returns the microphone signal and the
// number of rendered frames. near may be nil.
func play(t testing.TB, cfg Config, far, near []int16) (heard []int16, rendered int) {
	t.Helper()
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	render := func(f *audio.Frame) {
		clear(f[:])
		if at := rendered * part; at < len(far) {
			copy(f[:], far[at:])
		}
		rendered++
	}
	for at := 0; at+part <= max(len(far), len(near)); at += part {
		var n, mic audio.Frame
		if at < len(near) {
			copy(n[:], near[at:])
		}
		r.Capture(render, &n, &mic)
		heard = append(heard, mic[:]...)
	}
	return heard, rendered
}

func rms(pcm []int16) float64 { return audio.LevelOf(pcm).RMS }

func TestConvolverIsConvolution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, taps := range []int{1, part - 1, part, part + 1, 3*part + 7} {
		h, x := make([]float32, taps), make([]float32, 6*part)
		for i := range h {
			h[i] = float32(rng.NormFloat64())
		}
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		c := newConvolver(h)
		for at := 0; at < len(x); at += part {
			var b block
			copy(b[:], x[at:])
			c.filter(&b)
			for i, got := range b {
				want := 0.0
				for k := 0; k < taps && k <= at+i; k++ {
					want += float64(h[k]) * float64(x[at+i-k])
				}
				if math.Abs(float64(got)-want) > 1e-3*math.Sqrt(float64(taps)) {
					t.Fatalf("%d taps, sample %d: %g, want %g", taps, at+i, got, want)
				}
			}
		}
	}
}

// TestT60 measures the decay as in ISO 3382: Schroeder's integral, from -5 to
// -25 dB. Eyring's formula is for a diffuse field, which a box is not quite.
func TestT60(t *testing.T) {
	for _, s := range Shapes {
		h := s.response(s.Person)
		remaining := make([]float64, len(h)+1)
		for i := len(h) - 1; i >= 0; i-- {
			remaining[i] = remaining[i+1] + float64(h[i])*float64(h[i])
		}
		// The energy remaining after each sample, from the peak of the direct sound on.
		first := int(distance(s.Person, s.Mic)/soundSpeed*audio.SampleRate) + sincHalf
		at := func(db float64) float64 {
			for i := first; i < len(h); i++ {
				if 10*math.Log10(remaining[i]/remaining[first]) < db {
					return float64(i)
				}
			}
			t.Fatalf("%s does not decay by %v dB", s.Name, db)
			return 0
		}
		top, bottom := -5.0, -15.0
		got := (at(bottom) - at(top)) / audio.SampleRate * 60 / (top - bottom)
		if want := s.T60.Seconds(); got < 0.85*want || got > 1.15*want {
			t.Errorf("%s decays by 60 dB in %.0f ms, want %v", s.Name, 1000*got, s.T60)
		}
	}
}

func TestEchoGainIsThatOfSpeech(t *testing.T) {
	far := speechLike(1, 3*audio.SampleRate/2)
	for _, s := range Shapes {
		for _, gain := range []float64{-6, -12} {
			heard, _ := play(t, Config{Echo: s.EchoResponse(), EchoGain: gain}, far, nil)
			if got := rms(heard[audio.SampleRate/2:]) - rms(far[audio.SampleRate/2:]); math.Abs(got-gain) > 1.5 {
				t.Errorf("%s: echo at %.1f dB, want %v", s.Name, got, gain)
			}
		}
	}
}

func TestDelayIsFromTheRenderedSample(t *testing.T) {
	far := make([]int16, audio.SampleRate)
	const click = 5000
	far[click] = 16000
	for _, delay := range []time.Duration{0, 20 * time.Millisecond, 250 * time.Millisecond} {
		heard, _ := play(t, Config{Echo: []float32{1}, Delay: delay}, far, nil)
		if want := click + int(audio.Samples(delay)); heard[want] != 16000 {
			t.Errorf("the click is not at %v", delay)
		}
	}
	s, _ := ShapeNamed("study")
	heard, _ := play(t, Config{Echo: s.EchoResponse(), Delay: 20 * time.Millisecond}, far, nil)
	first := 0
	for math.Abs(float64(heard[first])) < 500 {
		first++
	}
	air := distance(s.Speaker, s.Mic) / soundSpeed * audio.SampleRate
	if got := float64(first - click - int(audio.Samples(20*time.Millisecond))); math.Abs(got-air) > sincHalf {
		t.Errorf("sound takes %.0f samples through the air, want %.0f", got, air)
	}
}

// TestDrift plays a tone over a cable: with a speaker clock 1000 ppm fast the pitch
// rises by 1000 ppm without distortion, and 1001 frames are rendered for 1000
// captured ones.
func TestDrift(t *testing.T) {
	const n, f = 1000, 1000.0
	far := make([]int16, (n+2)*part)
	for i := range far {
		far[i] = int16(10000 * math.Sin(2*math.Pi*f*float64(i)/audio.SampleRate))
	}
	for _, ppm := range []float64{1000, -1000} {
		heard, rendered := play(t, Config{Echo: []float32{1}, DriftPPM: ppm, Delay: 10 * time.Millisecond}, far[:n*part], nil)
		if want := n + int(ppm)/1000; rendered != want && rendered != want+1 {
			t.Errorf("at %v ppm %d frames were rendered, want %d", ppm, rendered, want)
		}
		w := 2 * math.Pi * f * (1 + ppm*1e-6) / audio.SampleRate
		heard = heard[audio.SampleRate : 8*audio.SampleRate]
		var re, im, total float64
		for i, v := range heard {
			sin, cos := math.Sincos(w * float64(i))
			re, im, total = re+float64(v)*cos, im+float64(v)*sin, total+float64(v)*float64(v)
		}
		tone := (re*re + im*im) * 2 / float64(len(heard))
		if rest := 10 * math.Log10((total-tone)/total); rest > -60 {
			t.Errorf("at %v ppm a tone has a distortion of %.0f dB", ppm, rest)
		}
	}
}

func TestClipping(t *testing.T) {
	far := speechLike(2, audio.SampleRate)
	for i := range far {
		far[i] = int16(max(min(3*int(far[i]), 32767), -32767))
	}
	loudest := func(cfg Config) int16 {
		cfg.Echo = []float32{1}
		heard, _ := play(t, cfg, far, nil)
		return int16(audioPeak(heard))
	}
	if got := loudest(Config{SpeakerClip: 0.25, EchoGain: -6.0206}); got < 4090 || got > 4100 {
		t.Errorf("a speaker that clips at a quarter, 6 dB down, peaks at %d", got)
	}
	if got := loudest(Config{MicClip: 0.25}); got != 8192 {
		t.Errorf("a microphone that clips at a quarter peaks at %d", got)
	}
	if got := loudest(Config{EchoGain: 20}); got != math.MaxInt16 {
		t.Errorf("full scale is %d", got)
	}
}

func audioPeak(pcm []int16) (peak int) {
	for _, v := range pcm {
		peak = max(peak, int(v), -int(v))
	}
	return min(peak, math.MaxInt16)
}

func TestActiveLevelExcludesPauses(t *testing.T) {
	speech := speechLike(3, audio.SampleRate)
	want := rms(speech)
	if got := ActiveLevel(append(make([]int16, 5*audio.SampleRate), speech...)); math.Abs(got-want) > 0.3 {
		t.Errorf("with a pause of 5 s %.1f dBFS, without %.1f", got, want)
	}
	if got := ActiveLevel(make([]int16, 4800)); got != audio.SilenceLevel {
		t.Errorf("the level of silence is %v", got)
	}
}

func TestNoiseIsAtItsSNR(t *testing.T) {
	speech := [][]int16{speechLike(4, 2*audio.SampleRate), speechLike(5, audio.SampleRate)}
	near := append(make([]int16, 4*audio.SampleRate), speech[0]...)
	level := ActiveLevel(near)
	for name, noise := range map[string][]float32{"fan": Fan(1), "babble": Babble(1, speech...)} {
		for _, snr := range []float64{20, 10, 5} {
			heard, _ := play(t, Config{Noise: noise, NoiseLevel: level - snr}, nil, near)
			if got := level - rms(heard[:4*audio.SampleRate]); math.Abs(got-snr) > 1 {
				t.Errorf("%s at %v dB is at %.1f", name, snr, got)
			}
		}
	}
	if Babble(1, make([]int16, 4800)) != nil {
		t.Error("babble without speech")
	}
}

func TestFanIsLow(t *testing.T) {
	x := make([]float64, 1<<15)
	for i, v := range Fan(3)[:len(x)] {
		x[i] = float64(v)
	}
	low, high := 0.0, 0.0
	for k, c := range fourier.NewFFT(len(x)).Coefficients(nil, x) {
		p := real(c)*real(c) + imag(c)*imag(c)
		if k*audio.SampleRate/len(x) < 1000 {
			low += p
		} else {
			high += p
		}
	}
	if share := low / (low + high); share < 0.8 || share > 0.999 {
		t.Errorf("%.4f of a fan's power is below 1 kHz", share)
	}
}

func TestSameSeedSameMicrophone(t *testing.T) {
	s, _ := ShapeNamed("living")
	far, near := speechLike(6, audio.SampleRate), speechLike(7, audio.SampleRate)
	hear := func(seed uint64) []int16 {
		heard, _ := play(t, Config{Echo: s.EchoResponse(), EchoGain: -6, Near: s.NearResponse(), DriftPPM: 50,
			Delay: 60 * time.Millisecond, Noise: Fan(seed), NoiseLevel: -40}, far, near)
		return heard
	}
	a, b, c := hear(1), hear(1), hear(2)
	same := true
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("sample %d is %d, then %d", i, a[i], b[i])
		}
		same = same && a[i] == c[i]
	}
	if same {
		t.Error("the noise does not depend on its seed")
	}
}

// TestNearSpeechKeepsItsOnset: onset labels stay valid in a room.
func TestNearSpeechKeepsItsOnset(t *testing.T) {
	near := make([]int16, audio.SampleRate)
	near[4800] = 20000
	for _, s := range Shapes {
		heard, _ := play(t, Config{Near: s.NearResponse()}, nil, near)
		first := 0
		for first < len(heard) && audioPeak(heard[first:first+1]) < 1000 {
			first++
		}
		if first < 4800 || first > 4800+2*sincHalf {
			t.Errorf("%s: a click at 4800 is at %d", s.Name, first)
		}
	}
}

func TestNewRejectsInvalidConfigs(t *testing.T) {
	for _, cfg := range []Config{{Delay: -1}, {Delay: 3 * time.Second}, {DriftPPM: 6000}, {DriftPPM: -6000}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("accepted %+v", cfg)
		}
	}
	if _, ok := ShapeNamed("cellar"); ok {
		t.Error("found the unknown shape cellar")
	}
}

// loaded returns a room with echo, drift and noise; with person, the near end has a
// room response too.
func loaded(t testing.TB, person bool) (r *Room, render func(*audio.Frame), near audio.Frame) {
	s, _ := ShapeNamed("hall")
	cfg := Config{Echo: s.EchoResponse(), DriftPPM: 100, Delay: 60 * time.Millisecond, Noise: Fan(1), NoiseLevel: -40}
	if person {
		cfg.Near = s.NearResponse()
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	far := speechLike(8, audio.SampleRate)
	copy(near[:], far)
	at := 0
	return r, func(f *audio.Frame) {
		copy(f[:], far[at:])
		at = (at + part) % (len(far) - part)
	}, near
}

func TestCaptureAllocatesNothing(t *testing.T) {
	r, render, near := loaded(t, true)
	var mic audio.Frame
	if n := testing.AllocsPerRun(200, func() { r.Capture(render, &near, &mic) }); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

// BenchmarkCapture measures a 10 ms frame in the room with the longest response.
func BenchmarkCapture(b *testing.B) {
	for name, person := range map[string]bool{"DryPerson": false, "PersonInRoom": true} {
		b.Run(name, func(b *testing.B) {
			r, render, near := loaded(b, person)
			var mic audio.Frame
			b.ReportAllocs()
			for b.Loop() {
				r.Capture(render, &near, &mic)
			}
			b.ReportMetric(0.01/(b.Elapsed().Seconds()/float64(b.N)), "x-realtime")
		})
	}
}
