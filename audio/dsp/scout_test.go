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

// afterJump is an echo that was found, and whose delay has just changed.
func afterJump(t *testing.T, by time.Duration) *scene {
	s := newScene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(115), Noise: room.Fan(1), NoiseLevel: -70})
	s.p.SetDelay(atMs(115), 0)
	s.run(4*time.Second, nil)
	s.room.Jump(by)
	return s
}

// TestElsewhereTellsAnEchoThatJumpedFromAPerson: an echo that jumped is elsewhere within
// 0.1 s that are loud, or followed already, and a person who speaks over an echo mostly
// is not, and never after scoutDoubts frames.
func TestElsewhereTellsAnEchoThatJumpedFromAPerson(t *testing.T) {
	for _, by := range []time.Duration{atMs(-80), atMs(80)} {
		s := afterJump(t, by)
		loud, elsewhere, before := 0, 0, s.p.Realigned()
		for loud < 10 {
			s.run(audio.FrameTime, nil)
			if power(s.mic[:]) > 1e-4 || loud > 0 {
				loud++
			}
			if loud >= scoutShortest && s.p.Elsewhere(loud) {
				elsewhere++
			}
		}
		if elsewhere == 0 && s.p.Realigned() == before {
			t.Errorf("an echo that jumped by %v is where it was", by)
		}
	}
	wrong, of := 0, 0
	for _, said := range sentences {
		s := afterJump(t, 0)
		human, frames := said.human(t, -20), 0
		s.each(400*time.Millisecond, human, func() {
			if audio.LevelOf(s.out.Trigger[:]).RMS > -40 || frames > 0 {
				frames++
			}
			is := s.p.Elsewhere(frames)
			if frames >= scoutTells && frames <= scoutDoubts {
				of++
				if is {
					wrong++
				}
			}
			if is && frames > scoutDoubts {
				t.Errorf("%q is an echo after %d frames", said.words, frames)
			}
		})
	}
	if of < 30 || wrong > of/5 {
		t.Errorf("people are an echo in %d of %d frames", wrong, of)
	}
}

// TestAnEchoThatJumpedIsOneToItsEnd: the assistant is held, so that soon too little of it
// is heard to tell where it is.
func TestAnEchoThatJumpedIsOneToItsEnd(t *testing.T) {
	for _, by := range []time.Duration{atMs(-80), atMs(80)} {
		s := afterJump(t, by)
		loud, elsewhere := 0, 0
		s.each(time.Second, nil, func() {
			if power(s.mic[:]) > 1e-4 || loud > 0 {
				loud++
			}
			switch is := s.p.Elsewhere(loud); {
			case elsewhere >= scoutTells && !is:
				t.Errorf("an echo that jumped by %v is none after %d frames", by, loud)
			case is && loud >= scoutShortest:
				elsewhere++
				s.quiet = elsewhere >= scoutTells
			}
		})
		if !s.quiet {
			t.Errorf("an echo that jumped by %v is none", by)
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
		s.p.Elsewhere(5)
	}); n > 0 {
		t.Errorf("a comparison allocates %v times", n)
	}
}
