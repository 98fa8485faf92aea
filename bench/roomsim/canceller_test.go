//go:build cgo && !race

package roomsim

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// TestCancellerDoesNotDrift plays ten minutes of speech during which the canceller's
// filter used to drift until, in the ninth minute, it cancelled nothing. It uses a
// recording, because the synthesizer's output for a sentence depends on the sentences
// before it. Under the race detector it takes minutes: make test-slow.
// takes minutes: make test-slow.
func TestCancellerDoesNotDrift(t *testing.T) {
	var says Assistant
	for _, id := range []string{"0870", "0880", "0890", "0920", "0930"} {
		r, err := speechdata.Find("en/librivox/" + id)
		if err != nil {
			t.Fatal(err)
		}
		clip, err := r.Load()
		if err != nil {
			t.Fatal(err)
		}
		says = append(says, atLevel(closeGaps(clip.PCM), SpeechLevel))
	}
	place := usual("meeting", -6)
	cfg, err := place.config(NewNoises(1, says, nil))
	if err != nil {
		t.Fatal(err)
	}
	r, err := room.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p, err := dsp.New(dsp.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.SetDelay(place.Render, place.Capture)
	late := make([]audio.Frame, place.Capture/audio.FrameTime)
	var (
		talk  []int16
		near  audio.Frame
		out   dsp.Output
		least = 1000.0
	)
	order := pick(1, len(says))
	for n := range int(10 * time.Minute / audio.FrameTime) {
		for i := 0; len(talk) < audio.FrameSamples; i++ {
			talk = append(talk, says[order[(n+i)%len(order)]]...)
		}
		var mic audio.Frame
		r.Capture(func(f *audio.Frame) {
			talk = talk[copy(f[:], talk):]
			p.Reference(f)
		}, &near, &mic)
		late = append(late, mic)
		if err := p.Process(&late[0], &out); err != nil {
			t.Fatal(err)
		}
		late = late[1:]
		if n > int(8*time.Minute/audio.FrameTime) {
			least = min(least, p.Stats().ERLE)
		}
	}
	if least < 20 {
		t.Errorf("the echo was reduced by only %.1f dB", least)
	}
}
