//go:build cgo && !race

package dsp

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// TestEchoIsRemovedInEachRoom checks the second to fifth second of speech, during
// which the canceller adapts, and the time after.
func TestEchoIsRemovedInEachRoom(t *testing.T) { each(t, echoIsRemovedInEachRoom) }

func echoIsRemovedInEachRoom(t *testing.T, l library) {
	for _, shape := range room.Shapes {
		for _, gain := range []float64{-6, -12} {
			t.Run(fmt.Sprintf("%s/%v", shape.Name, gain), func(t *testing.T) {
				s := l.scene(t, Default(), room.Config{Echo: shape.EchoResponse(), EchoGain: gain, Delay: atMs(60)})
				s.p.SetDelay(atMs(40), atMs(20))
				s.run(time.Second, nil)
				if erle := s.run(4*time.Second, nil); erle < l.adapting {
					t.Errorf("while adapting, the echo is reduced by %.1f dB, want %v", erle, l.adapting)
				}
				if erle := s.run(6*time.Second, nil); erle < l.adapted {
					t.Errorf("after adapting, the echo is reduced by %.1f dB, want %v", erle, l.adapted)
				}
				if st := s.p.Stats(); !st.Far || !st.Echo || st.ERLE < l.adapted-5 {
					t.Errorf("Stats reports no echo: %+v", st)
				}
			})
		}
	}
}

// TestDelaysAreFound: whatever the devices report, the echo is found and removed, and
// Stats reports its delay.
func TestDelaysAreFound(t *testing.T) { each(t, delaysAreFound) }

func delaysAreFound(t *testing.T, l library) {
	type delays struct{ real, reported int } // ms
	for _, d := range []delays{
		{250, 0}, {250, 330}, {20, 220}, {250, 250}, {250, 450}, {20, 20}, {20, 0}, {20, 100},
		{90, 90}, {90, 0}, {90, 170}, {90, 290},
	} {
		t.Run(fmt.Sprintf("%d/%d", d.real, d.reported), func(t *testing.T) {
			s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(d.real)})
			s.p.SetDelay(atMs(d.reported), 0)
			s.run(8*time.Second, nil)
			if erle := s.run(6*time.Second, nil); erle < l.adapted {
				t.Errorf("the echo is reduced by %.1f dB, want %v", erle, l.adapted)
			}
			st := s.p.Stats()
			if miss := (st.Delay - atMs(d.real)).Abs(); !st.Measured || miss > atMs(6) {
				t.Errorf("reported delay %v (measured: %v)", st.Delay, st.Measured)
			}
		})
	}
}

// TestTheEchoIsFoundInTheFirstWords: within 0.7 s of speech, of which the microphone
// hears half a second, even if the devices report too little.
func TestTheEchoIsFoundInTheFirstWords(t *testing.T) { each(t, theEchoIsFoundInTheFirstWords) }

func theEchoIsFoundInTheFirstWords(t *testing.T, l library) {
	for _, d := range [][]int{{35, 35}, {135, 35}, {200, 20}} {
		s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(d[0]), Noise: room.Fan(1), NoiseLevel: -70})
		s.p.SetDelay(atMs(d[1]), 0)
		s.said = audio.SampleRate / 5 // the assistant speaks from the first frame
		s.run(700*time.Millisecond, nil)
		if !s.p.Found() && s.p.Realigned() == 0 {
			t.Errorf("echo of %d ms with %d reported: not found", d[0], d[1])
		}
		s.run(800*time.Millisecond, nil)
		if !s.p.Found() {
			t.Errorf("echo of %d ms with %d reported: not certain", d[0], d[1])
		}
	}
}

// TestCorrectionIsRecalled: the next conversation starts with the correction that the
// last one found, and detects when it no longer applies.
func TestCorrectionIsRecalled(t *testing.T) { each(t, correctionIsRecalled) }

func correctionIsRecalled(t *testing.T, l library) {
	again := func(real int, correction int64) *scene {
		s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(real)})
		if correction != 0 {
			s.p.Correct(correction)
		}
		s.p.SetDelay(atMs(20), 0)
		s.run(8*time.Second, nil)
		return s
	}
	first := again(200, 0)
	if first.p.Realigned() != 1 || !first.p.Found() {
		t.Fatalf("realigned %d times, found: %v", first.p.Realigned(), first.p.Found())
	}
	for real, want := range map[int]int64{200: 0, 20: 1} {
		s := again(real, first.p.Correction())
		if s.p.Realigned() != want || !s.p.Found() {
			t.Errorf("with %d ms: realigned %d times, found: %v", real, s.p.Realigned(), s.p.Found())
		}
		if st := s.p.Stats(); (st.Delay - atMs(real)).Abs() > atMs(6) {
			t.Errorf("reported delay %v, want %d ms", st.Delay, real)
		}
	}
}

// TestNoEchoIsFoundWithHeadphones, where anything found would be chance.
func TestNoEchoIsFoundWithHeadphones(t *testing.T) { each(t, noEchoIsFoundWithHeadphones) }

func noEchoIsFoundWithHeadphones(t *testing.T, l library) {
	s := l.scene(t, Default(), room.Config{Noise: room.Fan(1), NoiseLevel: -50})
	s.p.SetDelay(atMs(40), atMs(20))
	near := append(sentences[0].human(t, -26), sentences[3].human(t, -26)...)
	s.run(15*time.Second, near)
	if st := s.p.Stats(); st.Delay != atMs(60) || st.Measured || st.Echo || !st.Far {
		t.Errorf("an echo was found: %+v", st)
	}
}

// TestNearSpeechAloneIsUnchanged: while the assistant is silent, the outputs are the
// delayed input.
func TestNearSpeechAloneIsUnchanged(t *testing.T) { each(t, nearSpeechAloneIsUnchanged) }

func nearSpeechAloneIsUnchanged(t *testing.T, l library) {
	for _, said := range []sentence{sentences[8], sentences[0]} {
		// Without the high-pass, which shifts the phase.
		s := l.scene(t, Config{EchoCancellation: true}, room.Config{Echo: echoOf(t, "living"), EchoGain: -6, Delay: atMs(60)})
		s.p.SetDelay(atMs(60), 0)
		s.run(8*time.Second, nil)
		s.quiet = true
		s.run(time.Second, nil)
		near := said.human(t, -26)
		var trigger, uplink []int16
		s.each(audio.Duration(int64(len(near))), near, func() {
			trigger = append(trigger, s.out.Trigger[:]...)
			uplink = append(uplink, s.out.Uplink[:]...)
		})
		for name, out := range map[string][]int16{"trigger": trigger, "uplink": uplink} {
			if d := room.ActiveLevel(out) - room.ActiveLevel(near); math.Abs(d) > 1.5 {
				t.Errorf("%s: %s passes with %+.1f dB", said.file, name, d)
			}
			if c := likeness(near, out[s.p.Latency():]); c < 0.9 {
				t.Errorf("%s: %s correlates with the input by %.2f", said.file, name, c)
			}
		}
	}
}

// TestEchoReductionSeparatesEchoFromPerson: the reduction is high for the assistant
// alone and low for a person, alone or over the assistant, whatever hum is in the
// room.
func TestEchoReductionSeparatesEchoFromPerson(t *testing.T) {
	each(t, echoReductionSeparatesEchoFromPerson)
}

func echoReductionSeparatesEchoFromPerson(t *testing.T, l library) {
	cut := func(s *scene, d time.Duration, near []int16) (mean float64) {
		frames := 0.0
		s.each(d, near, func() {
			if near == nil || audio.LevelOf(s.out.Trigger[:]).RMS > -40 { // there is a voice
				_, long := s.p.EchoReduction()
				mean += long
				frames++
			}
		})
		return mean / max(frames, 1)
	}
	s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(60), Noise: room.Fan(1), NoiseLevel: -70})
	s.p.SetDelay(atMs(60), 0)
	s.run(10*time.Second, nil)
	if got := cut(s, 10*time.Second, nil); got < 25 {
		t.Errorf("an echo was reduced by %.1f dB", got)
	}
	person := sentences[3].human(t, -20)
	d := audio.Duration(int64(len(person)))
	if got := cut(s, d, person); got > 12 {
		t.Errorf("a person over an echo was reduced by %.1f dB", got)
	}
	s.quiet = true
	s.run(time.Second, nil)
	for i, hum := range tone(50, 1000, d) {
		person[i] += hum
	}
	if got := cut(s, d, person); got > 6 {
		t.Errorf("a person beside a hum was reduced by %.1f dB", got)
	}
	if off := l.scene(t, Config{HighPass: true}, room.Config{}); cut(off, d, person) != 0 {
		t.Error("a reduction was reported without cancellation")
	}
}

// TestDriftIsFollowed: at 200 ppm the echo moves by one block of the canceller in 20
// s, and would be lost each time without correction.
func TestDriftIsFollowed(t *testing.T) { each(t, driftIsFollowed) }

func driftIsFollowed(t *testing.T, l library) {
	for _, ppm := range []float64{-200, 200} {
		t.Run(fmt.Sprint(ppm), func(t *testing.T) {
			s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(60), DriftPPM: ppm})
			s.p.SetDelay(atMs(60), 0)
			s.run(4*time.Second, nil)
			for part := range 8 {
				if erle := s.run(10*time.Second, nil); erle < l.adapted {
					t.Errorf("in part %d (10 s each) the echo is reduced by %.1f dB", part, erle)
				}
			}
			if st := s.p.Stats(); st.Slips == 0 || st.Underruns > 2 || math.Abs(st.Drift-ppm) > 5 {
				t.Errorf("the streams were not aligned: %+v", st)
			}
		})
	}
}

// TestCancellationRecoversFromDisruptions: after each the echo is removed again.
func TestCancellationRecoversFromDisruptions(t *testing.T) {
	each(t, cancellationRecoversFromDisruptions)
}

func cancellationRecoversFromDisruptions(t *testing.T, l library) {
	const lost = 300 * time.Millisecond
	lose := func(s *scene) {
		for range lost / audio.FrameTime {
			s.capture(nil)
		}
	}
	pause := func(d time.Duration) func(s *scene) {
		return func(s *scene) {
			s.stop = true
			s.run(d, nil)
			s.stop = false
		}
	}
	type accident struct {
		name    string
		happens func(s *scene)
	}
	for _, a := range []accident{
		{"the microphone loses frames", lose},
		{"the sink stops and continues", pause(2 * time.Second)},
		{"the sink misses frames", pause(lost)},
		{"the microphone loses frames and reports the gap", func(s *scene) { lose(s); s.p.Gap(audio.Samples(lost)) }},
		{"capturing stops for long", func(s *scene) {
			for range 500 {
				s.capture(nil)
			}
		}},
		{"the devices are reopened", func(s *scene) {
			if err := s.p.Reset(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(a.name, func(t *testing.T) {
			for _, delay := range []int{150, 25} {
				s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(delay)})
				s.p.SetDelay(atMs(delay), 0)
				s.run(8*time.Second, nil)
				a.happens(s)
				s.run(5*time.Second, nil)
				if erle := s.run(5*time.Second, nil); erle < l.adapted {
					t.Errorf("with a delay of %d ms the echo is reduced by %.1f dB", delay, erle)
				}
			}
		})
	}
}

// TestSuppressesMoreWhileAdapting: in the assistant's first second the filter leaves
// much of its echo, so suppression is stronger than later.
func TestSuppressesMoreWhileAdapting(t *testing.T) { each(t, suppressesMoreWhileAdapting) }

func suppressesMoreWhileAdapting(t *testing.T, l library) {
	left := func(lowFromTheBeginning bool) float64 {
		s := l.scene(t, Default(), room.Config{Echo: echoOf(t, "car"), EchoGain: -6, Delay: atMs(60)})
		s.p.SetDelay(atMs(60), 0)
		if lowFromTheBeginning {
			s.p.learner.heard = firstLines
			if err := s.p.front.Suppress(low); err != nil {
				t.Fatal(err)
			}
		}
		erle := s.run(time.Second, nil)
		if got := s.p.Stats().Learning; got == lowFromTheBeginning {
			t.Errorf("after a second, Learning is %v", got)
		}
		s.run(6*time.Second, nil)
		if s.p.Stats().Learning {
			t.Error("Learning after seven seconds")
		}
		return erle
	}
	if more := left(false) - left(true); more < 2 {
		t.Errorf("the reduction is %.1f dB higher in the first second, want 2", more)
	}
}
