//go:build cgo && !race

package main

import (
	"context"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// simulated is a room with a microphone and a speaker on one clock that runs as fast as
// possible.
type simulated struct {
	capture func(render func(*audio.Frame), microphone *audio.Frame)
	renders chan func(*audio.Frame)
}

type (
	simulatedMicrophone struct{ *simulated }
	simulatedSpeaker    struct{ *simulated }
)

func (*simulated) Open(context.Context) error   { return nil }
func (*simulated) Close() error                 { return nil }
func (simulatedSpeaker) Latency() time.Duration { return 40 * time.Millisecond }

func (s simulatedSpeaker) Run(ctx context.Context, render func(*audio.Frame)) error {
	s.renders <- render
	<-ctx.Done()
	return ctx.Err()
}

func (s simulatedMicrophone) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	render := <-s.renders
	var f audio.Frame
	for pos := int64(0); ctx.Err() == nil; pos += audio.FrameSamples {
		s.capture(render, &f)
		deliver(pos, &f)
	}
	return ctx.Err()
}

func echoIn(t *testing.T, shape string) []float32 {
	t.Helper()
	s, ok := room.ShapeNamed(shape)
	if !ok {
		t.Fatalf("unknown room %s", shape)
	}
	return s.EchoResponse()
}

// TestDoctorReportsUncancelledEcho distinguishes an uncancelled echo from a cancelled one
// and from no echo, in simulated rooms without stalls.
func TestDoctorReportsUncancelledEcho(t *testing.T) {
	study, fan := echoIn(t, "study"), room.Fan(1)
	straight := []float32{1}
	delay := 90 * time.Millisecond
	loop := &portaudio.Loop{Delay: delay, Min: delay, Max: delay, Probes: 6}
	shaky := &portaudio.Loop{Delay: delay, Min: 40 * time.Millisecond, Max: 150 * time.Millisecond, Probes: 5}
	simulate := func(cfg room.Config, near []int16) func(func(*audio.Frame), *audio.Frame) {
		cfg.Noise, cfg.NoiseLevel = fan, -65
		r, err := room.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		return func(render func(*audio.Frame), mic *audio.Frame) {
			var said audio.Frame
			for i := range said {
				if len(near) > 0 {
					said[i], at = near[at], (at+1)%len(near)
				}
			}
			r.Capture(render, &said, mic)
		}
	}
	for _, c := range []struct {
		name  string
		room  func(func(*audio.Frame), *audio.Frame)
		loop  *portaudio.Loop // result of the chirps
		ok    bool
		words []string
	}{
		{"a room", simulate(room.Config{Echo: study, EchoGain: -6, Delay: delay}, nil), loop, true, []string{"cancelled: ", "reported latency 40 ms"}},
		{"a loud echo", simulate(room.Config{Echo: straight, EchoGain: 10, Delay: delay}, nil), loop, true, []string{"cancelled: "}},
		{"headphones", simulate(room.Config{}, nil), nil, true, []string{"no audible echo", "headphones"}},
		{"a person speaking", simulate(room.Config{}, human(t, -20)), nil, false, []string{"another sound was louder", "quiet room"}},
		{"a person speaking, and an echo", simulate(room.Config{Echo: straight, EchoGain: -12, Delay: delay}, human(t, -15)), loop, false, []string{"not cancelled", "or another sound was louder", "quiet room"}},
		{"a speaker far too loud", simulate(room.Config{Echo: straight, EchoGain: 48, Delay: delay, SpeakerClip: 0.002}, nil), loop, false, []string{"not cancelled", "too loud", "turn the speaker down"}},
		{"a distorting speaker within the canceller's limits", simulate(room.Config{Echo: straight, EchoGain: 10, Delay: delay, SpeakerClip: 0.02}, nil), loop, true, []string{"cancelled: "}},
		{"an undistorted echo that is too loud", simulate(room.Config{Echo: straight, EchoGain: 16, Delay: delay}, nil), loop, false, []string{"not cancelled", "too loud", "turn the speaker down"}},
		{"a microphone that clips", simulate(room.Config{Echo: straight, EchoGain: 26, Delay: delay, MicClip: 0.101}, nil), loop, false, []string{"not cancelled", "the microphone clips while the speaker plays", "lower the input level"}},
		{"a long delay", simulate(room.Config{Echo: straight, EchoGain: -6, Delay: 900 * time.Millisecond}, nil), nil, false, []string{"not cancelled", "its delay of 9", "a wired speaker"}},
		{"a varying delay", wanders(), shaky, false, []string{"not cancelled", "its delay varies (40 ms to 150 ms)", "wired devices"}},
		{"a varying delay that the chirps miss", wanders(), loop, false, []string{"not cancelled", "distorts it", "sound effects"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &simulated{c.room, make(chan func(*audio.Frame), 1)}
			frames := detectFrames
			if c.ok {
				frames = noiseFrames // ended early by the end of the echo
			} else if c.loop != nil {
				frames = noiseFrames / 2
			}
			e, err := hearEcho(bounded(t), simulatedMicrophone{s}, simulatedSpeaker{s}, speechNoise(frames))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", e)
			detail, err := e.judge(c.loop)
			f := wants(t, []finding{found("echo", false, detail, nil, err)}, "echo", c.ok, c.words...)
			t.Log(f.Detail)
		})
	}
}

// wanders is an echo at half amplitude whose delay changes by 10 ms every 100 ms, up to
// 110 ms.
func wanders() func(func(*audio.Frame), *audio.Frame) {
	var past [12]audio.Frame
	n := 0
	return func(render func(*audio.Frame), mic *audio.Frame) {
		render(&past[n%len(past)])
		late := n / 10 % (2 * len(past))
		late = min(late, 2*len(past)-1-late)
		for i, s := range past[(n-late+len(past))%len(past)] {
			mic[i] = s / 2
		}
		n++
	}
}
