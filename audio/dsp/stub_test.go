//go:build !cgo

package dsp

import (
	"errors"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// TestWithoutCgo: the echo is cancelled, by AEC3; noise suppression and gain control
// report that they are missing.
func TestWithoutCgo(t *testing.T) {
	for _, cfg := range []Config{{NoiseSuppression: true}, {EchoCancellation: true, GainControl: true}} {
		if p, err := New(cfg); !errors.Is(err, ErrUnavailable) || p != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	p, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	shape, _ := room.ShapeNamed("study")
	r, err := room.New(room.Config{Echo: shape.EchoResponse(), EchoGain: -6, Delay: 60 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	p.SetDelay(60*time.Millisecond, 0)
	noise := room.Fan(1)
	var mic audio.Frame
	var out Output
	before, after := 0.0, 0.0
	for n := range 600 {
		r.Capture(func(f *audio.Frame) {
			for i := range f {
				f[i] = int16(noise[(n*audio.FrameSamples+i)%len(noise)] * 3000)
			}
			p.Reference(f)
		}, nil, &mic)
		if err := p.Process(&mic, &out); err != nil {
			t.Fatal(err)
		}
		if n >= 400 {
			before, after = before+power(mic[:]), after+power(out.Trigger[:])
		}
	}
	if erle := ratio(before/200, after/200); erle < 20 {
		t.Errorf("the echo is reduced by %.1f dB, want 20", erle)
	}
}
