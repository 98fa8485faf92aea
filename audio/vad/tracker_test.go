package vad

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// loudness is a fake detector: a window with mostly loud samples is speech. It looks
// only at its window, so tests can check the Tracker's positions.
type loudness struct {
	fail   error // for the next window
	resets int
	closed int
	runs   int
}

func (d *loudness) Process(w []int16) (float32, error) {
	d.runs++
	if err := d.fail; err != nil {
		d.fail = nil
		return 1, err // the value is ignored with an error
	}
	if len(w) != WindowSamples {
		return 0, fmt.Errorf("window of %d samples", len(w))
	}
	loud := 0
	for _, v := range w {
		if v > 1000 || v < -1000 {
			loud++
		}
	}
	if loud > WindowSamples/2 {
		return 0.9, nil
	}
	return 0.01, nil
}
func (d *loudness) Reset()       { d.resets++ }
func (d *loudness) Close() error { d.closed++; return nil }

// listener is a Tracker with fake detectors and the marks so far.
type listener struct {
	*Tracker
	fakes []*loudness
	marks []Mark
	pos   int64
}

func listen(t *testing.T, cfg TrackerConfig) *listener {
	t.Helper()
	l := &listener{}
	tr, err := NewTracker(func() (Detector, error) {
		d := &loudness{}
		l.fakes = append(l.fakes, d)
		return d, nil
	}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	l.Tracker = tr
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// sound is a tone of 500 Hz, loud in 95 % of its samples.
func sound(pos int64) int16 {
	return int16(20000 * math.Sin(2*math.Pi*500*float64(pos)/audio.SampleRate))
}

// frames pushes n frames; loud reports whether a capture position has sound.
func (l *listener) frames(t *testing.T, n int, loud func(pos int64) bool) {
	t.Helper()
	for range n {
		var f audio.Frame
		for i := range f {
			if p := l.pos + int64(i); loud(p) {
				f[i] = sound(p)
			}
		}
		marks, err := l.Push(l.pos, &f)
		if err != nil {
			t.Fatal(err)
		}
		l.marks = append(l.marks, marks...)
		l.pos += int64(len(f))
	}
}

func between(from, to int64) func(int64) bool {
	return func(pos int64) bool { return pos >= from && pos < to }
}

// within is the tolerance: 5 ms, the resolution of levels, and the filter's sample.
const within = audio.SampleRate / 200

func TestTrackerFindsTheSamples(t *testing.T) {
	for _, detectors := range []int{1, 2, 4} {
		for _, first := range []int64{0, 777, 48_000_123} {
			cfg := ProfileConfig(ProfileDefault)
			cfg.Detectors = detectors
			l := listen(t, cfg)
			l.pos = first
			from, to := first+61_234, first+61_234+48_000
			l.frames(t, 400, between(from, to))
			var kinds []MarkKind
			for _, m := range l.marks {
				kinds = append(kinds, m.Kind)
			}
			if want := []MarkKind{Onset, Paused, Ended}; !reflect.DeepEqual(kinds, want) {
				t.Fatalf("%d detectors: %v", detectors, l.marks)
			}
			hop := audio.Samples(WindowTime) / int64(detectors)
			for i, want := range []struct{ pos, late int64 }{
				// Half a window must be loud, of as many as count, each a hop later.
				{from, audio.Samples(WindowTime)/2 + 2*hop},
				{to, audio.Samples(WindowTime)/2 + hop + audio.Samples(96*time.Millisecond) + hop},
				{to + audio.Samples(700*time.Millisecond), hop},
			} {
				m := l.marks[i]
				if d := m.Pos - want.pos; d < -within || d > within {
					t.Errorf("%d detectors from %d: %v at %d, %d samples off", detectors, first, m.Kind, m.Pos, d)
				}
				// A frame, and the filter, before it can be detected.
				if late := m.Decided - want.pos; late < 0 || late > want.late+audio.FrameSamples+within+100 {
					t.Errorf("%d detectors from %d: %v decided %d samples late, want %d", detectors, first, m.Kind, late, want.late)
				}
				if (m.Decided-first)%audio.FrameSamples != 0 {
					t.Errorf("decided in the middle of a frame: %+v", m)
				}
			}
		}
	}
}

func TestTrackerIsStricterWhileTheAssistantIsAudible(t *testing.T) {
	cfg := TrackerConfig{Silent: Rule{Threshold: 0.5, Windows: 2}, Audible: Rule{Threshold: 0.95}}
	l := listen(t, cfg)
	l.SetAudible(true)
	l.frames(t, 100, between(0, math.MaxInt64))
	if len(l.marks) != 0 || l.Speaking() {
		t.Errorf("detected a voice below the rule's threshold: %v", l.marks)
	}
	l.SetAudible(false)
	l.frames(t, 4, between(0, math.MaxInt64))
	if len(l.marks) != 1 || l.marks[0].Kind != Onset || !l.Speaking() {
		t.Errorf("after the assistant was silent: %v", l.marks)
	}
}

func TestTrackerTreatsLostAudioAsSilence(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.frames(t, 100, between(0, 1<<40))
	end := l.pos
	l.pos += audio.SampleRate // lost
	again := l.pos
	l.frames(t, 20, between(0, 1<<40))
	want := []MarkKind{Onset, Paused, Ended, Onset}
	if len(l.marks) != len(want) {
		t.Fatalf("%v", l.marks)
	}
	for i, m := range l.marks {
		if m.Kind != want[i] {
			t.Errorf("%v", l.marks)
		}
	}
	if got := l.marks[1].Pos; got != end {
		t.Errorf("paused at %d, the audio was lost from %d on", got, end)
	}
	if got := l.marks[3].Pos; got < again || got > again+within {
		t.Errorf("onset at %d, the audio came again at %d", got, again)
	}
	for i, d := range l.fakes {
		if d.resets != 3 { // made, first frame, gap
			t.Errorf("detector %d was reset %d times, want 3: a gap must reset it", i, d.resets)
		}
	}
}

func TestTrackerRejectsAudioThatGoesBack(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	l.pos = 10_000
	l.frames(t, 10, between(0, 1<<40))
	var f audio.Frame
	if _, err := l.Push(10_000, &f); err == nil {
		t.Fatal("accepted a frame twice")
	}
	l.frames(t, 40, between(0, 1<<40)) // continues where it was
	if len(l.marks) != 1 {
		t.Errorf("%v", l.marks)
	}
	l.Reset()
	if l.Speaking() || l.levels.backgrounds[silentMode].known {
		t.Error("speaks after a reset, or knows the noise of another capture")
	}
	l.pos, l.marks = 0, nil
	l.frames(t, 20, between(0, 1<<40))
	if len(l.marks) != 1 || l.marks[0].Kind != Onset || l.marks[0].Pos > within {
		t.Errorf("after a reset, from 0: %v", l.marks)
	}
}

func TestTrackerReportsADetectorsError(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	broken := errors.New("broken")
	var f audio.Frame
	seen := 0
	l.SetAudible(true) // so that no detector rests
	for n := range 200 {
		if n >= 100 {
			l.fakes[n%4].fail = broken
		}
		marks, err := l.Push(l.pos, &f)
		l.pos += int64(len(f))
		if err != nil && !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if err != nil {
			seen++
		}
		if len(marks) != 0 {
			t.Fatalf("a failed window made %v", marks)
		}
	}
	if seen < 50 {
		t.Errorf("saw %d errors", seen)
	}
	for _, d := range l.fakes {
		d.fail = nil
	}
	l.SetAudible(false)
	l.frames(t, 20, between(0, 1<<40))
	if len(l.marks) != 1 {
		t.Errorf("after the errors: %v", l.marks)
	}
}

func TestTrackerAllocatesNothing(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	var loud, still audio.Frame
	for i := range loud {
		loud[i] = sound(int64(i))
	}
	n := int64(0)
	push := func() {
		f := &still
		if n/100%2 == 1 { // a second of each, so that every kind of mark occurs
			f = &loud
		}
		if _, err := l.Push(n*audio.FrameSamples, f); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if allocs := testing.AllocsPerRun(1000, push); allocs != 0 {
		t.Errorf("%v allocations a frame", allocs)
	}
}

func TestTrackerConfigs(t *testing.T) {
	good := ProfileConfig(ProfileDefault)
	for name, change := range map[string]func(*TrackerConfig){
		"three detectors":          func(c *TrackerConfig) { c.Detectors = 3 },
		"no threshold":             func(c *TrackerConfig) { c.Audible.Threshold = 0 },
		"a threshold above 1":      func(c *TrackerConfig) { c.Silent.Threshold = 1.5 },
		"a raised one above it":    func(c *TrackerConfig) { c.Silent.Raised = 0.9 },
		"silence before the pause": func(c *TrackerConfig) { c.Silence = 50 * time.Millisecond },
		"a negative hangover":      func(c *TrackerConfig) { c.Hangover = -1 },
	} {
		cfg := good
		change(&cfg)
		if _, err := NewTracker(func() (Detector, error) { return &loudness{}, nil }, cfg); err == nil {
			t.Errorf("%s: NewTracker succeeded", name)
		}
	}
	for _, p := range []Profile{ProfileDefault, ProfileAssertive, ProfileCautious, "other"} {
		if _, err := ProfileConfig(p).complete(); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	if ProfileConfig("other") != ProfileConfig(ProfileDefault) {
		t.Error("an unknown profile is not the default one")
	}
}

func TestTrackerClosesWhatItOpened(t *testing.T) {
	var made []*loudness
	no := errors.New("no more")
	_, err := NewTracker(func() (Detector, error) {
		if len(made) == 2 {
			return nil, no
		}
		made = append(made, &loudness{})
		return made[len(made)-1], nil
	}, ProfileConfig(ProfileDefault))
	if !errors.Is(err, no) {
		t.Fatalf("error %v", err)
	}
	for _, d := range made {
		if d.closed != 1 {
			t.Errorf("closed %d times after a failure", d.closed)
		}
	}
	l := listen(t, ProfileConfig(ProfileDefault))
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Push(0, &audio.Frame{}); err == nil {
		t.Error("accepted a frame after Close")
	}
	for _, d := range l.fakes {
		if d.closed != 1 {
			t.Errorf("closed %d times", d.closed)
		}
	}
}

// unsure is a detector that is never sure of what it hears, or hears a voice in everything.
type unsure float32

func (u unsure) Process([]int16) (float32, error) { return float32(u), nil }
func (unsure) Reset()                             {}
func (unsure) Close() error                       { return nil }

// A sound below the threshold is not the beginning of a voice, however long it lasts. A window that counts
// is, and so is an utterance.
func TestBeginning(t *testing.T) {
	rule := Rule{Threshold: 0.5, Windows: 200}
	for p, want := range map[unsure]bool{0.4: false, 0.9: true} {
		tr, err := NewTracker(func() (Detector, error) { return p, nil }, TrackerConfig{Silent: rule, Audible: rule})
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(100) {
			var f audio.Frame
			for i := range f {
				f[i] = sound(n*audio.FrameSamples + int64(i))
			}
			if _, err := tr.Push(n*audio.FrameSamples, &f); err != nil {
				t.Fatal(err)
			}
			if n > 10 && tr.Beginning() != want {
				t.Fatalf("a sound with probability %v in frame %d: %v", p, n, tr.Beginning())
			}
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
	l := listen(t, ProfileConfig(ProfileDefault))
	l.frames(t, 30, func(int64) bool { return false })
	if l.Beginning() {
		t.Error("silence")
	}
	l.frames(t, 30, func(int64) bool { return true })
	l.frames(t, 2, func(int64) bool { return false })
	if !l.Speaking() || !l.Beginning() {
		t.Error("a voice")
	}
}
