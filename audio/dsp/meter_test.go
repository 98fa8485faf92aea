package dsp

import (
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
