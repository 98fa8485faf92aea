package vad

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// unsteady is a hum whose level alternates between two amplitudes, 6 dB apart, every
// 80 ms: one is the noise floor, and neither exceeds the background.
func unsteady(pos int64) int16 {
	amplitude := 20.0
	if pos/audio.Samples(80*time.Millisecond)%2 == 1 {
		amplitude = 40
	}
	return int16(math.Round(amplitude * math.Sin(2*math.Pi*500*float64(pos)/audio.SampleRate)))
}

// silent is digital silence.
func silent(int64) int16 { return 0 }

// hear pushes n frames of a sound.
func (l *listener) hear(t *testing.T, n int, sound func(pos int64) int16) {
	t.Helper()
	for range n {
		var f audio.Frame
		for i := range f {
			f[i] = sound(l.pos + int64(i))
		}
		marks, err := l.Push(l.pos, &f)
		if err != nil {
			t.Fatal(err)
		}
		l.marks = append(l.marks, marks...)
		l.pos += int64(len(f))
	}
}

// TestDetectorsRestInSilence: once the background is known, no detector runs at the noise
// floor, and only the first one in an unsteady background. All of them run again with the
// first sound.
func TestDetectorsRestInSilence(t *testing.T) {
	const silence, voice = 10 * time.Second, time.Second
	for name, of := range map[string]struct {
		background func(int64) int16
		least      int // windows of the first detector
		most       int
	}{
		"steady":   {silent, 0, 0},
		"unsteady": {unsteady, windowsIn(silence) / 2, windowsIn(silence) + 2},
	} {
		l := listen(t, ProfileConfig(ProfileDefault))
		l.hear(t, 200, of.background) // to learn it
		l.runs()
		l.hear(t, int(silence/audio.FrameTime), of.background)
		for i, n := range l.runs() {
			least, most := 0, 0
			if i == 0 {
				least, most = of.least, of.most
			}
			if n < least || n > most {
				t.Errorf("%s: detector %d heard %d windows of %v, want %d to %d", name, i, n, silence, least, most)
			}
		}
		from := l.pos
		l.hear(t, int(voice/audio.FrameTime), sound)
		for i, n := range l.runs() {
			want := windowsIn(voice)
			if i > 0 || of.most == 0 {
				want += recalled
			}
			// The first detector catches up on fewer windows of an unsteady background.
			if n < want-1 || n > want+1 && (i > 0 || n > want+recalled) {
				t.Errorf("%s: detector %d heard %d windows of a voice, want %d", name, i, n, want)
			}
		}
		if len(l.marks) != 1 || l.marks[0].Kind != Onset || l.marks[0].Decided-from > audio.Samples(WindowTime+2*audio.FrameTime) {
			t.Errorf("%s: marks %v of a sound from %d on", name, l.marks, from)
		}
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
// from the state that the first one had before the windows that it catches up on, whether
// the first one heard the background or not.
func TestDetectorsRecallTheFirstDetectorsState(t *testing.T) {
	for name, background := range map[string]func(int64) int16{"steady": silent, "unsteady": unsteady} {
		var all []*counter
		tr, err := NewTracker(func() (Detector, error) {
			all = append(all, &counter{})
			return all[len(all)-1], nil
		}, ProfileConfig(ProfileDefault))
		if err != nil {
			t.Fatal(err)
		}
		l := &listener{Tracker: tr}
		l.hear(t, 500, background)
		l.hear(t, 10, sound)
		first := all[0].heard
		for i, d := range all {
			want := min(i, 1)
			if len(d.recalled) != want {
				t.Fatalf("%s: detector %d recalled %v, want %d states", name, i, d.recalled, want)
			}
			if i == 0 {
				continue
			}
			// The first detector has processed up to three windows since.
			if n := first - d.recalled[0] - recalled; n < 0 || n > 4 {
				t.Errorf("%s: detector %d recalled the state after %d windows; the first has processed %d", name, i, d.recalled[0], first)
			}
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
}

// follower is a detector that knows which samples its state has heard, up to which sample.
type follower struct {
	loudness
	tracker *Tracker
	heard   int64   // end of the last window in its state, in samples at SampleRate
	wrong   *string // what was wrong first
}

func (f *follower) fail(format string, args ...any) {
	if *f.wrong == "" {
		*f.wrong = fmt.Sprintf(format, args...)
	}
}

func (f *follower) Process(w []int16) (float32, error) {
	// Windows are slices of the pending samples.
	from := f.tracker.first + int64(cap(f.tracker.pending)-cap(w))
	if from < f.heard {
		f.fail("the window at %d follows a state that ends at %d", from, f.heard)
	}
	f.heard = from + WindowSamples
	return f.loudness.Process(w)
}
func (f *follower) Reset()              { f.heard = 0 }
func (f *follower) Remember(to *Memory) { to.state[0] = float32(f.heard) }
func (f *follower) Recall(from *Memory) {
	if end := int64(from.state[0]); end+WindowSamples <= f.heard {
		f.fail("a state that ends at %d is replaced by one that ends at %d", f.heard, end)
	} else {
		f.heard = end
	}
}

// TestStatesNeverRunBackwards: whatever is captured, a detector continues from the latest
// known state, give or take a part of a window, and hears every window at most once.
func TestStatesNeverRunBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wrong := ""
		var all []*follower
		tr, err := NewTracker(func() (Detector, error) {
			all = append(all, &follower{wrong: &wrong})
			return all[len(all)-1], nil
		}, ProfileConfig(ProfileDefault))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			f.tracker = tr
		}
		pos := int64(0)
		for range rapid.IntRange(1, 12).Draw(t, "pieces") {
			amplitude := rapid.SampledFrom([]float64{0, 20, 28, 40, 300, 20_000}).Draw(t, "amplitude")
			tr.SetAudible(rapid.IntRange(0, 4).Draw(t, "audible") == 0)
			for range rapid.IntRange(1, 120).Draw(t, "frames") {
				var f audio.Frame
				for i := range f {
					f[i] = int16(math.Round(amplitude * math.Sin(2*math.Pi*500*float64(pos+int64(i))/audio.SampleRate)))
				}
				if _, err := tr.Push(pos, &f); err != nil {
					t.Fatal(err)
				}
				pos += int64(len(f))
			}
			if wrong != "" {
				t.Fatal(wrong)
			}
		}
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
