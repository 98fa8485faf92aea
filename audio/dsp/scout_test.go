//go:build cgo

package dsp

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/room"
)

// TestForeignTellsPeopleFromEchoes from the first word on, with echo cancellation and
// without any processing: people with headphones are foreign within 150 ms of their
// onset, and an echo never is while it is loud, also one whose delay nobody reported.
func TestForeignTellsPeopleFromEchoes(t *testing.T) {
	study, _ := room.ShapeNamed("study")
	fan := room.Fan(1)
	for name, cfg := range map[string]Config{"default": Default(), "unprocessed": {}} {
		for _, delay := range []time.Duration{35 * time.Millisecond, 165 * time.Millisecond} {
			s := newScene(t, cfg, room.Config{Echo: study.EchoResponse(), EchoGain: -6, Delay: delay, Noise: fan, NoiseLevel: -70})
			s.p.SetDelay(25*time.Millisecond, 10*time.Millisecond)
			frames, wrong := 0, 0
			s.each(6*time.Second, nil, func() {
				if power(s.mic[:]) < 1e-3 {
					return
				}
				frames++
				if s.p.Foreign() {
					wrong++
				}
			})
			if frames < 100 || wrong > frames/100 {
				t.Errorf("%s, delay %v: %d of %d loud frames of an echo are foreign", name, delay, wrong, frames)
			}
		}
		for _, after := range []time.Duration{100 * time.Millisecond, time.Second, 3 * time.Second} {
			for _, said := range sentences {
				s := newScene(t, cfg, room.Config{Near: study.NearResponse(), Noise: fan, NoiseLevel: -70})
				s.said = audio.SampleRate / 5 // the assistant speaks from the first frame on
				s.run(after, nil)
				human := said.human(t, -20)
				onset := 0
				for human[onset] < 1000 && human[onset] > -1000 {
					onset++
				}
				foreign := false
				s.each(150*time.Millisecond, human[onset:], func() { foreign = s.p.Foreign() || foreign })
				if !foreign {
					t.Errorf("%s, after %v: %q is taken for an echo", name, after, said.words)
				}
			}
		}
	}
}

// TestForeignAllocatesNothing, since it runs on the capturing goroutine.
func TestForeignAllocatesNothing(t *testing.T) {
	s := newScene(t, Config{}, room.Config{})
	s.run(time.Second, nil)
	if n := testing.AllocsPerRun(20, func() {
		if err := s.p.Process(&s.mic, &s.out); err != nil {
			t.Fatal(err)
		}
		s.p.Foreign()
	}); n > 0 {
		t.Errorf("a comparison allocates %v times", n)
	}
}
