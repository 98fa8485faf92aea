package vad

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// tone pushes a 1 kHz tone. The fake detectors report a voice above amplitude 1000.
func (l *listener) tone(t *testing.T, amplitude float64, d time.Duration) {
	t.Helper()
	for range d / audio.FrameTime {
		var f audio.Frame
		for i := range f {
			f[i] = int16(math.Round(amplitude * math.Sin(2*math.Pi*float64(i)/48)))
		}
		marks, err := l.Push(l.pos, &f)
		if err != nil {
			t.Fatal(err)
		}
		l.pos += audio.FrameSamples
		l.marks = append(l.marks, marks...)
	}
}

// kinds returns the kinds of the marks.
func (l *listener) kinds() []MarkKind {
	var all []MarkKind
	for _, m := range l.marks {
		all = append(all, m.Kind)
	}
	return all
}

// overAssistant returns a listener that has learned an echo of the given amplitude.
func overAssistant(t *testing.T, p Profile, echo float64) *listener {
	t.Helper()
	l := listen(t, ProfileConfig(p))
	l.SetAudible(true)
	l.tone(t, echo, 8*time.Second)
	if len(l.marks) != 0 {
		t.Fatalf("marked %v in steady echo", l.marks)
	}
	return l
}

func TestASoundOverTheEchoIsSuspected(t *testing.T) {
	l := overAssistant(t, ProfileDefault, 50)
	from := l.pos
	l.tone(t, 20000, 300*time.Millisecond)
	if len(l.marks) != 2 || l.marks[0].Kind != Suspected || l.marks[1].Kind != Onset {
		t.Fatalf("marked %v", l.marks)
	}
	m := l.marks[0]
	if late := m.Pos - from; late < 0 || late > audio.Samples(10*time.Millisecond) {
		t.Errorf("suspected from %d samples after the onset", late)
	}
	if late := m.Decided - from; late > audio.Samples(30*time.Millisecond) {
		t.Errorf("suspected %d samples after the onset", late)
	}
}

// TestASoundInTheFirstSecondIsSuspected if the room was learned before the answer and
// the canceller works: not before that is certain, and not if it is only as loud as
// the room.
func TestASoundInTheFirstSecondIsSuspected(t *testing.T) {
	for _, tt := range []struct {
		room   float64
		before time.Duration
		cut    float64 // reduction of the echo
		want   bool
	}{{50, 2 * time.Second, 30, true}, {900, 2 * time.Second, 30, false}, {50, 500 * time.Millisecond, 30, false}, {50, 2 * time.Second, 10, false}} {
		l := listen(t, ProfileConfig(ProfileDefault))
		l.tone(t, tt.room, tt.before)
		l.SetFound(true)
		l.SetAudible(true)
		l.SetEchoReduction(tt.cut, tt.cut)
		l.tone(t, 50, 500*time.Millisecond)
		l.SetEchoReduction(0, 0)
		l.tone(t, 900, 100*time.Millisecond) // too faint for the fake detectors
		if suspected := slices.Contains(l.kinds(), Suspected); suspected != tt.want {
			t.Errorf("%+v: suspected %v", tt, suspected)
		}
	}
}

func TestSuspicionWithoutAVoiceIsDismissed(t *testing.T) {
	for _, tt := range []struct {
		name string
		long time.Duration
		want time.Duration // from the suspicion to its end
		most int           // suspicions
	}{
		{"a click", 50 * time.Millisecond, suspectMin * 5 * time.Millisecond, 1},
		{"a noise that stays", 5 * time.Second, suspectMax * 5 * time.Millisecond, 2}, // then it is background
	} {
		l := overAssistant(t, ProfileDefault, 50)
		l.tone(t, 900, tt.long) // too faint for the fake detectors
		l.tone(t, 50, time.Second)
		if n := len(l.marks); n == 0 || n > 2*tt.most || l.marks[0].Kind != Suspected || l.marks[1].Kind != Dismissed {
			t.Fatalf("%s: marked %v", tt.name, l.marks)
		}
		lasted := audio.Duration(l.marks[1].Decided - l.marks[0].Decided)
		if lasted < tt.want || lasted > tt.want+20*time.Millisecond {
			t.Errorf("%s: dismissed after %v, want %v", tt.name, lasted, tt.want)
		}
	}
}

func TestNothingIsSuspected(t *testing.T) {
	for name, l := range map[string]func() *listener{
		"by the cautious profile":  func() *listener { return overAssistant(t, ProfileCautious, 50) },
		"where nothing interrupts": func() *listener { return overAssistant(t, ProfileOff, 50) },
		"while the canceller learns the room": func() *listener {
			l := listen(t, ProfileConfig(ProfileDefault))
			l.SetAudible(true)
			l.tone(t, 50, 5*time.Second)
			return l
		},
		"while it searches for the echo again": func() *listener {
			l := overAssistant(t, ProfileDefault, 50)
			l.SetFound(true) // where it was
			l.CancellerRestarted()
			l.CancellerRestarted()
			l.tone(t, 50, 5*time.Second)
			return l
		},
		"while the assistant is silent": func() *listener {
			l := overAssistant(t, ProfileDefault, 50)
			l.SetAudible(false)
			l.tone(t, 50, 2*time.Second)
			return l
		},
		"of a sound hardly louder than the echo": func() *listener { return overAssistant(t, ProfileDefault, 500) },
	} {
		l := l()
		l.tone(t, 900, 200*time.Millisecond)
		if len(l.marks) != 0 {
			t.Errorf("%s: marked %v", name, l.marks)
		}
	}
}

// held is how long after a suspicion the assistant still counts as audible, as in a
// conversation.
const held = 300 * time.Millisecond

// until pushes a tone until something is marked, for at most a second, and reports
// whether it was.
func (l *listener) until(t *testing.T, amplitude float64, kinds ...MarkKind) bool {
	t.Helper()
	for range time.Second / audio.FrameTime {
		before := len(l.marks)
		l.tone(t, amplitude, audio.FrameTime)
		if len(l.marks) > before && slices.Contains(kinds, l.marks[before].Kind) {
			return true
		}
	}
	return false
}

// A possible voice over the assistant's first words is a person's if it is present
// while playback is held; otherwise it is residual echo.
func TestTheAssistantsFirstWords(t *testing.T) {
	for name, tt := range map[string]struct {
		found bool
		goes  time.Duration // on after the suspicion
		want  MarkKind
		from  time.Duration // from the suspicion to the decision, which may come 0.1 s later
	}{
		"their echo":                         {true, 250 * time.Millisecond, Dismissed, 400 * time.Millisecond},
		"a person":                           {true, time.Second, Onset, 350 * time.Millisecond},
		"their echo, of an unknown delay":    {false, 400 * time.Millisecond, Dismissed, 600 * time.Millisecond},
		"a person, while nothing is aligned": {false, time.Second, Onset, 550 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, ProfileConfig(ProfileDefault))
			l.SetAudible(true)
			l.SetFound(tt.found)
			l.SetEchoReduction(learningCut, learningCut)
			l.tone(t, 50, time.Second)
			onset := l.pos
			if !l.until(t, 20000, Suspected) {
				t.Fatalf("marked %v", l.marks)
			}
			since := l.pos
			l.tone(t, 20000, held)
			l.SetAudible(false)
			l.tone(t, 20000, tt.goes-held)
			l.tone(t, 50, tt.from+100*time.Millisecond-max(tt.goes, held))
			if len(l.marks) != 2 || l.marks[1].Kind != tt.want {
				t.Fatalf("marked %v", l.marks)
			}
			if late := audio.Duration(l.marks[1].Decided - since); late < tt.from || late > tt.from+100*time.Millisecond {
				t.Errorf("decided after %v", late)
			}
			if m := l.marks[1]; m.Kind == Onset && m.Pos > onset+audio.Samples(20*time.Millisecond) {
				t.Errorf("the onset mark is %v late", audio.Duration(m.Pos-onset))
			}
		})
	}
}

// A sound that the canceller reduced strongly is not an onset, however much it
// resembles a voice: playback is held, and it is a person's voice if it is present in
// silence.
func TestStronglyReducedSoundIsVerifiedInSilence(t *testing.T) {
	for name, tt := range map[string]struct {
		goes time.Duration // on after the suspicion
		want MarkKind
	}{
		"an echo":  {held, Dismissed},
		"a person": {time.Second, Onset},
	} {
		l := listen(t, ProfileConfig(ProfileDefault))
		l.SetAudible(true)
		l.SetFound(true)
		l.tone(t, 50, 4*time.Second) // levels carry no information yet
		l.SetEchoReduction(echoCut, echoCut)
		onset := l.pos
		if !l.until(t, 20000, Suspected) {
			t.Fatalf("%s: marked %v", name, l.marks)
		}
		if late := audio.Duration(l.pos - onset); late > 100*time.Millisecond {
			t.Errorf("%s: suspected after %v", name, late)
		}
		l.tone(t, 20000, held)
		l.SetAudible(false)
		l.SetEchoReduction(0, 0)
		l.tone(t, 20000, tt.goes-held)
		l.tone(t, 50, 250*time.Millisecond)
		if len(l.marks) < 2 || l.marks[1].Kind != tt.want {
			t.Errorf("%s: marked %v", name, l.marks)
		}
	}
}

// A suspicion does not become an onset while the reduction is as high as for an echo.
func TestSuspicionWaitsForALowerReduction(t *testing.T) {
	l := overAssistant(t, ProfileDefault, 50)
	l.SetEchoReduction(echoCut, echoCut)
	l.tone(t, 20000, 200*time.Millisecond)
	if got := l.kinds(); !slices.Equal(got, []MarkKind{Suspected}) {
		t.Fatalf("marked %v", l.marks)
	}
	l.SetEchoReduction(0, echoCut-1)
	l.tone(t, 20000, 20*time.Millisecond)
	if got := l.kinds(); !slices.Equal(got, []MarkKind{Suspected, Onset}) {
		t.Errorf("marked %v for a person", l.marks)
	}
	// A profile without suspicion requires only a voice.
	cautious := overAssistant(t, ProfileCautious, 50)
	cautious.SetEchoReduction(echoCut, echoCut)
	cautious.tone(t, 20000, 300*time.Millisecond)
	if got := cautious.kinds(); !slices.Equal(got, []MarkKind{Onset}) {
		t.Errorf("the cautious profile marked %v", cautious.marks)
	}
}

// A person whose voice the canceller hardly reduces interrupts the assistant's first
// words at once, provided that the echo's delay is known.
func TestAPersonOverTheAssistantsFirstWords(t *testing.T) {
	for name, tt := range map[string]struct {
		found bool
		want  []MarkKind
	}{
		"known delay":   {true, []MarkKind{Suspected, Onset}},
		"unknown delay": {false, nil}, // an echo that is not cancelled shows a low reduction too
	} {
		l := listen(t, ProfileConfig(ProfileDefault))
		l.SetAudible(true)
		l.SetFound(tt.found)
		l.tone(t, 50, 1500*time.Millisecond)
		l.SetEchoReduction(learningCut-1, 0)
		l.tone(t, 20000, 40*time.Millisecond)
		if got := l.kinds(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: marked %v", name, l.marks)
		}
	}
}

// Playback is not held over and over: after two failed probes a voice needs a higher
// probability. Profiles without probes need it from the beginning.
func TestFailedProbesRaiseTheThreshold(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.SetAudible(true)
	l.tone(t, 50, 200*time.Millisecond)
	for range maxProbes {
		if !l.until(t, 20000, Suspected) || !l.until(t, 50, Dismissed) {
			t.Fatalf("marked %v", l.marks)
		}
	}
	cautious := listen(t, ProfileConfig(ProfileCautious))
	cautious.SetAudible(true)
	cautious.tone(t, 50, time.Second)
	for l, want := range map[*listener]MarkKind{l: Suspected, cautious: Onset} {
		l.marks = nil
		l.tone(t, 20000, 150*time.Millisecond)
		l.tone(t, 50, 100*time.Millisecond)
		if len(l.marks) != 0 {
			t.Errorf("marked %v of 150 ms", l.marks)
		}
		l.tone(t, 20000, 300*time.Millisecond)
		if len(l.marks) != 1 || l.marks[0].Kind != want {
			t.Errorf("marked %v of 300 ms, want %v", l.marks, want)
		}
	}
}

// A person talking when the microphone opens does not become background.
func TestAVoiceFromTheFirstSampleIsHeard(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 20000, 3*time.Second)
	l.tone(t, 20, time.Second)
	want := []MarkKind{Onset, Paused, Ended}
	if got := l.kinds(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Fatalf("marked %v", l.marks)
	}
	if paused := l.marks[1].Pos; paused < audio.Samples(2900*time.Millisecond) {
		t.Errorf("the voice stopped at %d", paused)
	}
}

// Other talkers in the room do not open an utterance, and end one that they opened.
func TestOthersInTheRoomAreBackground(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 2000, 10*time.Second)
	if got := l.kinds(); len(got) < 2 || got[0] != Onset || got[len(got)-1] != Ended {
		t.Fatalf("marked %v: a voice that never pauses must become background", l.marks)
	}
	l.marks = nil
	l.tone(t, 2000, 10*time.Second)
	if len(l.marks) != 0 {
		t.Errorf("marked %v for a sound that is background now", l.marks)
	}
	l.tone(t, 8000, time.Second)
	l.tone(t, 2000, time.Second)
	if got := l.kinds(); len(got) != 3 || got[0] != Onset || got[2] != Ended {
		t.Errorf("marked %v for a person 12 dB louder than the others", l.marks)
	}
}

// A long utterance with natural pauses is tracked to its end.
func TestLongSpeechDoesNotBecomeBackground(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 20, 2*time.Second)
	for range 10 {
		l.tone(t, 20000, 3*time.Second)
		l.tone(t, 20, 400*time.Millisecond)
	}
	for _, k := range l.kinds() {
		if k == Ended {
			t.Fatalf("marked %v", l.marks)
		}
	}
	if n := len(l.marks); n != 1+9*2+1 {
		t.Errorf("marked %d times: %v", n, l.marks)
	}
}

// The ceiling stays near the noise floor after a loud sound, so that it does not mask voices.
func TestTheCeilingIsBounded(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 20, 2*time.Second)
	for range 20 {
		l.tone(t, 900, 100*time.Millisecond)
		l.tone(t, 20, 500*time.Millisecond)
	}
	b := l.levels.background()
	if over := b.ceiling - b.noise; over < 3 || over > maxCeiling[silentMode] {
		t.Errorf("the ceiling is %.1f dB above the noise", over)
	}
}

func TestSpread(t *testing.T) {
	var s spread
	if got := s.exceeded(0.05); got != 0 {
		t.Errorf("%.1f dB for no levels", got)
	}
	const second = levelsNoise
	for range 120 * second {
		s.add(20.5)
	}
	steady := s.exceeded(0.05)
	if steady < 20.5 || steady > 21 {
		t.Errorf("%.1f dB for a steady 20.5 dB", steady)
	}
	for range second {
		s.add(60) // a cough
	}
	if got := s.exceeded(0.05); got > 21 {
		t.Errorf("%.1f dB after a second of 60", got)
	}
	for range 3 * second {
		s.add(60) // a person talks
	}
	if got := s.exceeded(0.05); got < 60 || got > 61 {
		t.Errorf("%.1f dB after four seconds of 60", got)
	}
	for range 120 * second {
		s.add(20.5)
	}
	if got := s.exceeded(0.05); math.Abs(got-steady) > 0.1 {
		t.Errorf("%.1f dB when that is long ago", got)
	}
}

// A long hum while the assistant is silent, which is rare, does not mask voices either.
func TestAHumDoesNotMaskVoices(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 20, 2*time.Second)
	l.tone(t, 1300, 3*time.Second) // too faint for the fake detectors
	l.SetAudible(true)
	l.tone(t, 20, 8*time.Second)
	l.marks = nil
	if !l.until(t, 1600, Onset) {
		t.Errorf("marked %v for a person", l.marks)
	}
}

// A sound over the assistant's first words that is not an echo is a voice at once,
// whatever its reduction, and with the profile that never holds playback too.
func TestAForeignSoundOverTheFirstWordsIsAVoiceAtOnce(t *testing.T) {
	for _, p := range []Profile{ProfileDefault, ProfileAssertive, ProfileCautious, ProfileOff} {
		for _, after := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			l := listen(t, ProfileConfig(p))
			l.SetForeign(func() bool { return true })
			l.SetAudible(true)
			l.SetEchoReduction(learningCut, learningCut)
			l.tone(t, 50, after)
			onset := l.pos
			l.tone(t, 20000, 200*time.Millisecond)
			if got := l.kinds(); !slices.Equal(got, []MarkKind{Onset}) {
				t.Fatalf("%s, after %v: marked %v", p, after, l.marks)
			}
			if late := audio.Duration(l.marks[0].Decided - onset); late > 120*time.Millisecond {
				t.Errorf("%s, after %v: decided after %v", p, after, late)
			}
			if off := audio.Duration(l.marks[0].Pos - onset); off.Abs() > 20*time.Millisecond {
				t.Errorf("%s, after %v: the onset mark is %v late", p, after, off)
			}
		}
	}
}

// A probe ends as soon as the sound is found to be foreign, without waiting for silence.
func TestAProbeEndsWhenTheSoundIsForeign(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	foreign := false
	l.SetForeign(func() bool { return foreign })
	l.SetAudible(true)
	l.tone(t, 50, time.Second)
	if !l.until(t, 20000, Suspected) {
		t.Fatalf("marked %v", l.marks)
	}
	since := l.pos
	foreign = true
	if !l.until(t, 20000, Onset) || audio.Duration(l.pos-since) > 50*time.Millisecond {
		t.Errorf("marked %v", l.marks)
	}
}

// TestAnEchoWhoseDelayJumpedIsNotAVoice while that is possible, and its suspicion
// ends when the canceller restarts. A person whose sound was uncertain is detected
// afterwards.
func TestAnEchoWhoseDelayJumpedIsNotAVoice(t *testing.T) {
	for name, person := range map[string]bool{"echo": false, "person": true} {
		l := overAssistant(t, ProfileDefault, 50)
		elsewhere, most := true, 0
		l.SetEchoMayHaveMoved(func(frames int) bool { most = max(most, frames); return elsewhere })
		l.tone(t, 20000, 150*time.Millisecond)
		if !slices.Equal(l.kinds(), []MarkKind{Suspected}) {
			t.Fatalf("%s: marked %v while uncertain", name, l.marks)
		}
		if most < 14 || most > 16 {
			t.Errorf("%s: the sound was reported to last %d frames, want 15", name, most)
		}
		want := []MarkKind{Suspected, Onset}
		if elsewhere = false; !person {
			l.CancellerRestarted()
			want[1] = Dismissed
		}
		l.tone(t, 20000, 30*time.Millisecond)
		if !slices.Equal(l.kinds(), want) {
			t.Errorf("%s: marked %v, want %v", name, l.marks, want)
		}
	}
}

// TestAPersonOverAPredictedEcho is detected over the first words as in silence. The
// echo itself is never a voice, however much it sounds like one.
func TestAPersonOverAPredictedEcho(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 10, 2*time.Second)
	l.SetAudible(true)
	l.SetPredicted(true, false)
	l.tone(t, 5000, time.Second)
	if len(l.marks) > 0 {
		t.Fatalf("the echo is marked %v", l.kinds())
	}
	l.SetPredicted(true, true)
	l.tone(t, 10000, 50*time.Millisecond)
	if k := l.kinds(); len(k) == 0 || k[len(k)-1] != Onset {
		t.Errorf("a person is marked %v", k)
	}
}
