package vad

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// windowsIn returns how many windows one detector processes in a duration.
func windowsIn(d time.Duration) int { return int(d / WindowTime) }

// runs returns how many windows each detector processed since the last call.
func (l *listener) runs() (n []int) {
	for _, d := range l.fakes {
		n = append(n, d.runs)
		d.runs = 0
	}
	return n
}

// TestOnlyOneDetectorRunsInSilence: once the background is known, only the first
// detector runs in silence. All of them run again with the first sound.
func TestOnlyOneDetectorRunsInSilence(t *testing.T) {
	l := listen(t, ProfileConfig(ProfileDefault))
	never := func(int64) bool { return false }
	l.frames(t, 200, never) // to learn the background
	l.runs()
	const silence = 10 * time.Second
	l.frames(t, int(silence/audio.FrameTime), never)
	for i, n := range l.runs() {
		want := 0
		if i == 0 {
			want = windowsIn(silence)
		}
		if n < want || n > want+1 {
			t.Errorf("detector %d heard %d windows of %v of silence, want %d", i, n, silence, want)
		}
	}
	const sound = time.Second
	from := l.pos
	l.frames(t, int(sound/audio.FrameTime), between(from, from+audio.Samples(sound)))
	for i, n := range l.runs() {
		want := windowsIn(sound)
		if i > 0 {
			want += recalled
		}
		if n < want-1 || n > want+1 {
			t.Errorf("detector %d heard %d windows, want %d", i, n, want)
		}
	}
	if len(l.marks) != 1 || l.marks[0].Kind != Onset || l.marks[0].Decided-from > audio.Samples(WindowTime+2*audio.FrameTime) {
		t.Errorf("marks %v of a sound from %d on", l.marks, from)
	}
}

// TestNoDetectorSkipsOverTheAssistant covers utterances and their pauses too.
func TestNoDetectorSkipsOverTheAssistant(t *testing.T) {
	const lasts = time.Second
	for name, of := range map[string]struct {
		audible bool
		sound   time.Duration
	}{"audible": {true, 0}, "utterance": {false, lasts}, "pause": {false, lasts / 2}} {
		l := listen(t, ProfileConfig(ProfileDefault))
		l.frames(t, 200, func(int64) bool { return false })
		l.SetAudible(of.audible)
		l.frames(t, 20, between(l.pos, l.pos+audio.Samples(of.sound)))
		l.runs()
		l.frames(t, int(lasts/audio.FrameTime), between(l.pos, l.pos+audio.Samples(of.sound)))
		for i, n := range l.runs() {
			if n < windowsIn(lasts) {
				t.Errorf("%s: detector %d heard %d windows, want %d", name, i, n, windowsIn(lasts))
			}
		}
	}
}

// counter is a detector that counts its windows and records the states that it recalls.
type counter struct {
	loudness
	heard    int
	recalled []int
}

func (c *counter) Process(w []int16) (float32, error) { c.heard++; return c.loudness.Process(w) }
func (c *counter) Remember(to *Memory)                { to.state[0] = float32(c.heard) }
func (c *counter) Recall(from *Memory) {
	c.recalled = append(c.recalled, int(from.state[0]))
}

// TestDetectorsRecallTheFirstDetectorsState: a detector that skipped windows starts
// from the state that the first one had before the windows that it catches up on.
func TestDetectorsRecallTheFirstDetectorsState(t *testing.T) {
	var all []*counter
	tr, err := NewTracker(func() (Detector, error) {
		all = append(all, &counter{})
		return all[len(all)-1], nil
	}, ProfileConfig(ProfileDefault))
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Tracker: tr}
	l.frames(t, 500, func(int64) bool { return false })
	l.frames(t, 10, func(int64) bool { return true })
	first := all[0].heard
	for i, d := range all[1:] {
		if len(d.recalled) != 1 {
			t.Fatalf("detector %d recalled %v", i+1, d.recalled)
		}
		// The first detector has processed up to three windows since.
		if n := first - d.recalled[0] - recalled; n < 0 || n > 4 {
			t.Errorf("detector %d recalled the state after %d windows; the first has processed %d", i+1, d.recalled[0], first)
		}
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
}
