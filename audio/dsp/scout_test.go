//go:build cgo && !race

package dsp

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// TestForeignSeparatesPeopleFromEchoes from the first word, with echo cancellation
// and without any processing: people with headphones are foreign within 150 ms of
// their onset; a loud echo never is, even with an unreported delay.
func TestForeignSeparatesPeopleFromEchoes(t *testing.T) {
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
				s.said = audio.SampleRate / 5 // the assistant speaks from the first frame
				s.run(after, nil)
				human := said.human(t, -20)
				onset := 0
				for human[onset] < 1000 && human[onset] > -1000 {
					onset++
				}
				foreign := false
				s.each(150*time.Millisecond, human[onset:], func() { foreign = s.p.Foreign() || foreign })
				if !foreign {
					t.Errorf("%s, after %v: %q counts as an echo", name, after, said.words)
				}
			}
		}
	}
}

// afterJump is a scene whose echo was found and has just jumped to another delay.
func afterJump(t *testing.T, by time.Duration) *scene {
	s := newScene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(115), Noise: room.Fan(1), NoiseLevel: -70})
	s.p.SetDelay(atMs(115), 0)
	s.run(4*time.Second, nil)
	s.room.Jump(by)
	return s
}

// TestJumpedEchoIsToldFromAPerson: an echo that jumped is detected within 0.1 s of
// loud audio, or has been followed by then. A person over an echo rarely counts as
// such an echo, and never after scoutDoubts frames.
func TestJumpedEchoIsToldFromAPerson(t *testing.T) {
	for _, by := range []time.Duration{atMs(-80), atMs(80)} {
		s := afterJump(t, by)
		loud, elsewhere, before := 0, 0, s.p.Realigned()
		for loud < 10 {
			s.run(audio.FrameTime, nil)
			if power(s.mic[:]) > 1e-4 || loud > 0 {
				loud++
			}
			if loud >= scoutShortest && s.p.EchoMayHaveMoved(loud) {
				elsewhere++
			}
		}
		if elsewhere == 0 && s.p.Realigned() == before {
			t.Errorf("an echo that jumped by %v was not detected", by)
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
			is := s.p.EchoMayHaveMoved(frames)
			if frames >= scoutTells && frames <= scoutDoubts {
				of++
				if is {
					wrong++
				}
			}
			if is && frames > scoutDoubts {
				t.Errorf("%q counts as an echo after %d frames", said.words, frames)
			}
		})
	}
	if of < 30 || wrong > of/5 {
		t.Errorf("people count as an echo in %d of %d frames", wrong, of)
	}
}

// TestJumpedEchoCountsUntilItEnds: playback is held, so the remaining echo is soon too
// short to locate.
func TestJumpedEchoCountsUntilItEnds(t *testing.T) {
	for _, by := range []time.Duration{atMs(-80), atMs(80)} {
		s := afterJump(t, by)
		loud, elsewhere := 0, 0
		s.each(time.Second, nil, func() {
			if power(s.mic[:]) > 1e-4 || loud > 0 {
				loud++
			}
			switch is := s.p.EchoMayHaveMoved(loud); {
			case elsewhere >= scoutTells && !is:
				t.Errorf("an echo that jumped by %v no longer counts as one after %d frames", by, loud)
			case is && loud >= scoutShortest:
				elsewhere++
				s.quiet = elsewhere >= scoutTells
			}
		})
		if !s.quiet {
			t.Errorf("an echo that jumped by %v was not detected", by)
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
		s.p.EchoMayHaveMoved(5)
	}); n > 0 {
		t.Errorf("a comparison allocates %v times", n)
	}
}
