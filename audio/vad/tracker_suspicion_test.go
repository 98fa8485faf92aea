package vad

import (
	"math"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// tone pushes a tone of 1 kHz with an amplitude. The fake detectors take one of more
// than 1000 for a voice.
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

// kinds are what was marked.
func (l *listener) kinds() []MarkKind {
	var all []MarkKind
	for _, m := range l.marks {
		all = append(all, m.Kind)
	}
	return all
}

// overAssistant is a listener that knows the assistant's echo of an amplitude.
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

func TestWhatNoDetectorTakesForAVoiceIsDismissed(t *testing.T) {
	for _, tt := range []struct {
		name string
		long time.Duration
		want time.Duration // from the suspicion to its end
		most int           // suspicions
	}{
		{"a click", 50 * time.Millisecond, suspectLeast * 5 * time.Millisecond, 1},
		{"a noise that stays", 5 * time.Second, SuspicionLasts, 2}, // then it is background
	} {
		l := overAssistant(t, ProfileDefault, 50)
		l.tone(t, 900, tt.long) // too faint for the fakes
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
		"by the cautious":          func() *listener { return overAssistant(t, ProfileCautious, 50) },
		"where nothing interrupts": func() *listener { return overAssistant(t, ProfileOff, 50) },
		"while the canceller learns the room": func() *listener {
			l := listen(t, ProfileConfig(ProfileDefault))
			l.SetAudible(true)
			l.tone(t, 50, 5*time.Second)
			return l
		},
		"while it finds the echo anew": func() *listener {
			l := overAssistant(t, ProfileDefault, 50)
			l.Unsettled()
			l.tone(t, 50, 5*time.Second)
			return l
		},
		"while the assistant is silent": func() *listener {
			l := overAssistant(t, ProfileDefault, 50)
			l.SetAudible(false)
			l.tone(t, 50, 2*time.Second)
			return l
		},
		"that is hardly louder than the echo gets": func() *listener { return overAssistant(t, ProfileDefault, 500) },
	} {
		l := l()
		l.tone(t, 900, 200*time.Millisecond)
		if len(l.marks) != 0 {
			t.Errorf("%s: marked %v", name, l.marks)
		}
	}
}

// What the canceller leaves of the assistant's first words is no voice; a person who
// speaks over them is.
func TestTheAssistantsFirstWords(t *testing.T) {
	for long, want := range map[time.Duration]int{150 * time.Millisecond: 0, 300 * time.Millisecond: 1} {
		l := listen(t, ProfileConfig(ProfileDefault))
		l.SetAudible(true)
		l.tone(t, 50, time.Second)
		l.tone(t, 20000, long)
		if len(l.marks) != want {
			t.Errorf("%v of a voice: marked %v", long, l.marks)
		}
	}
}

// A person who talks when the microphone is opened is no background.
func TestAVoiceFromTheFirstSampleIsHeard(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 20000, 3*time.Second)
	l.tone(t, 20, time.Second)
	want := []MarkKind{Onset, Paused, Ended}
	if got := l.kinds(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Fatalf("marked %v", l.marks)
	}
	if paused := l.marks[1].Pos; paused < audio.Samples(2900*time.Millisecond) {
		t.Errorf("the voice was gone at %d", paused)
	}
}

// Others who talk in the room open no utterance, and close one that they opened.
func TestOthersInTheRoomAreBackground(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 2000, 10*time.Second)
	if got := l.kinds(); len(got) < 2 || got[0] != Onset || got[len(got)-1] != Ended {
		t.Fatalf("marked %v: a voice that never pauses is nobody's who talks to the machine", l.marks)
	}
	l.marks = nil
	l.tone(t, 2000, 10*time.Second)
	if len(l.marks) != 0 {
		t.Errorf("marked %v of what is background now", l.marks)
	}
	l.tone(t, 8000, time.Second)
	l.tone(t, 2000, time.Second)
	if got := l.kinds(); len(got) != 3 || got[0] != Onset || got[2] != Ended {
		t.Errorf("marked %v of a person who is 12 dB louder than the others", l.marks)
	}
}

// Somebody who talks for long, with the pauses that people make, is heard to the end.
func TestAPersonWhoTalksForLongIsNoBackground(t *testing.T) {
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

// A loud sound makes nobody unheard: the ceiling stays near the noise.
func TestTheCeilingIsBounded(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.tone(t, 20, 2*time.Second)
	for range 20 {
		l.tone(t, 900, 100*time.Millisecond)
		l.tone(t, 20, 500*time.Millisecond)
	}
	b := l.levels.background()
	if over := b.ceiling - b.noise; over < 3 || over > ceilingMost[silentMode] {
		t.Errorf("the ceiling is %.1f dB above the noise", over)
	}
}
