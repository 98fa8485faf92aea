package dsp

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// sine returns one second of a tone that clips at top.
func sine(amplitude, top float64) (frames []audio.Frame) {
	for k := range 100 {
		var f audio.Frame
		for i := range f {
			v := amplitude * math.Sin(2*math.Pi*440*float64(k*audio.FrameSamples+i)/audio.SampleRate)
			f[i] = int16(max(min(v, top), -top))
		}
		frames = append(frames, f)
	}
	return frames
}

func TestClippingIsDetected(t *testing.T) {
	for _, tt := range []struct {
		name           string
		amplitude, top float64
		least, most    float64
	}{
		{"loud and whole", 30000, 32767, 0, 0.02},
		{"at full scale", 60000, 32767, 0.5, 0.8},
		{"below full scale", 20000, 10000, 0.5, 0.8},
		{"quiet", 2000, 1000, 0, 0},
	} {
		var m meter
		for range 10 {
			for _, f := range sine(tt.amplitude, tt.top) {
				m.microphone(&f)
			}
		}
		if got := m.stats().Clipped; got < tt.least || got > tt.most {
			t.Errorf("%s: clipped fraction %.3f", tt.name, got)
		}
	}
}

func TestSilentMicrophoneIsDetected(t *testing.T) {
	p, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var f audio.Frame
	var out Output
	for range 50 {
		_ = p.Process(&f, &out)
	}
	if got := p.Stats().Zero; got != 500*time.Millisecond {
		t.Errorf("only zeros for %v", got)
	}
	f[7] = 1
	_ = p.Process(&f, &out)
	if got := p.Stats().Zero; got != 0 {
		t.Errorf("after a sample, %v", got)
	}
}

// The zero Config passes audio through, without the library.
func TestZeroConfigPassesAudioThrough(t *testing.T) {
	p, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, f := range sine(30000, 32767) {
		var out Output
		p.Reference(&f)
		if err := p.Process(&f, &out); err != nil || out.Trigger != f || out.Uplink != f {
			t.Fatalf("a frame was changed: %v", err)
		}
	}
	if err := p.Reset(); err != nil || p.Latency() != 0 {
		t.Errorf("%v, and %d samples late", err, p.Latency())
	}
}

// failing is an apm that fails after some frames.
type failing struct{ frames int }

func (f *failing) Process(_, near []int16) error {
	clear(near)
	if f.frames--; f.frames < 0 {
		return errors.New("broken")
	}
	return nil
}
func (*failing) Suppress(int) error { return nil }
func (*failing) Reset() error       { return nil }
func (*failing) Latency() int       { return 0 }
func (*failing) Close()             {}

// TestABrokenCancellerPassesTheMicrophone, and no sound then counts as an echo.
func TestABrokenCancellerPassesTheMicrophone(t *testing.T) {
	front, back := Default().stages()
	p, err := newProcessor(func(apmConfig) (apm, error) { return &failing{frames: 20}, nil }, front, back)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var f audio.Frame
	var out Output
	for n := range 40 {
		for i := range f {
			f[i] = int16(1000 * (i%2 + n%3))
		}
		err := p.Process(&f, &out)
		short, long := p.EchoReduction()
		switch {
		case n < 20 && (err != nil || long == 0):
			t.Fatalf("frame %d: %v, reduced by %.1f dB", n, err, long)
		case n >= 20 && (err == nil || out.Trigger != f || out.Uplink != f || short != 0 || long != 0):
			t.Fatalf("frame %d: %v, reduced by %.1f and %.1f dB", n, err, short, long)
		}
	}
}
