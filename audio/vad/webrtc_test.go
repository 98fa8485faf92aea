//go:build cgo && !noapm

package vad

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// heardOf follows the recordings that every machine has, from package pocketsphinx-testdata.
func heardOf(t *testing.T, tracker func() *Tracker, check func(r speechdata.Recording, s scene, marks []Mark)) {
	t.Helper()
	n := 0
	for i, r := range speechdata.All(speechdata.Utterance) {
		if r.Package != "pocketsphinx-testdata" {
			continue
		}
		clip, err := r.Load()
		if err != nil {
			t.Fatal(err)
		}
		s := newScene(clip, uint64(i), "quiet", 0, nil)
		check(r, s, follow(t, tracker(), s.pcm, false))
		n++
	}
	if n != 11 {
		t.Errorf("heard %d recordings, want 11", n)
	}
}

// whole fails unless the marks are those of one utterance that starts and ends with the
// recording.
func whole(t *testing.T, r speechdata.Recording, s scene, marks []Mark) {
	t.Helper()
	if len(marks) < 3 || marks[0].Kind != Onset || marks[len(marks)-1].Kind != Ended {
		t.Errorf("%s: %v", r.ID, marks)
		return
	}
	for _, m := range marks[1 : len(marks)-1] {
		if m.Kind == Onset || m.Kind == Ended {
			t.Errorf("%s: one sentence in two: %v", r.ID, marks)
		}
	}
	earliest := -200 * time.Millisecond          // a breath before the first word counts
	if strings.HasPrefix(r.ID, "en/librivox/") { // they may start with a breath
		earliest = -300 * time.Millisecond
	}
	if off := audio.Duration(marks[0].Pos - s.onset); off < earliest || marks[0].Pos > s.strong+audio.Samples(100*time.Millisecond) {
		t.Errorf("%s: onset %v after the label", r.ID, off)
	}
	if off := audio.Duration(marks[len(marks)-2].Pos - s.end); off.Abs() > 200*time.Millisecond {
		t.Errorf("%s: the voice stopped %v after the label", r.ID, off)
	}
}

// TestWebRTCDetectsPeople: without Silero, each sentence is one utterance, with every profile.
func TestWebRTCDetectsPeople(t *testing.T) {
	for _, p := range []Profile{ProfileDefault, ProfileAssertive, ProfileCautious} {
		t.Run(string(p), func(t *testing.T) {
			tr := newWebRTCTracker(t, ProfileConfig(p))
			heardOf(t, func() *Tracker { return tr }, func(r speechdata.Recording, s scene, marks []Mark) { whole(t, r, s, marks) })
		})
	}
}

// TestWebRTCIgnoresNoise: noise of any level, from its first sample on, and clicks are not a
// voice.
func TestWebRTCIgnoresNoise(t *testing.T) {
	for _, p := range []Profile{ProfileDefault, ProfileAssertive, ProfileCautious} {
		random := rand.New(rand.NewPCG(1, 2))
		noise := noiseOf(random, "fan", 20*audio.SampleRate, nil)
		for _, level := range []float64{-100, -65, -45, -30} {
			pcm := make([]int16, len(noise))
			scale := 32768 * math.Pow(10, level/20) / effective(noise)
			for i, v := range noise {
				pcm[i] = int16(v * scale)
			}
			// The room does not change in a conversation, so each has its own detectors.
			if marks := follow(t, newWebRTCTracker(t, ProfileConfig(p)), pcm, false); len(marks) != 0 {
				t.Errorf("%s: in noise of %v dBFS: %v", p, level, marks)
			}
		}
		clicks := make([]int16, 10*audio.SampleRate)
		for at := audio.SampleRate; at < len(clicks); at += audio.SampleRate / 4 {
			for i := range 100 * audio.SampleRate / 1000 { // that ring for 100 ms
				clicks[at+i] = int16(random.NormFloat64() * 8000 * math.Exp(-float64(i)/(0.015*audio.SampleRate)))
			}
		}
		if marks := follow(t, newWebRTCTracker(t, ProfileConfig(p)), clicks, false); len(marks) != 0 {
			t.Errorf("%s: clicks are a voice: %v", p, marks)
		}
	}
}

// failsAfter is a detector that fails after some windows.
type failsAfter struct {
	Detector
	windows int
}

func (f *failsAfter) Process(w []int16) (float32, error) {
	if f.windows--; f.windows < 0 {
		return 0, errors.New("the model is broken")
	}
	return f.Detector.Process(w)
}

// TestSileroFailsInASentence: wherever in a sentence Silero fails, it stays one utterance with
// its onset and its end.
func TestSileroFailsInASentence(t *testing.T) {
	silero := newDetector(t)
	for _, after := range []int{1, 40, 60, 80} {
		reported := 0
		failing := func() (Detector, error) { return &failsAfter{unclosed{silero}, after}, nil }
		heardOf(t, func() *Tracker {
			cfg := ProfileConfig(ProfileDefault)
			cfg.Detectors = 1
			tr, err := NewTracker(WithFallback(failing, NewWebRTC, func(error) { reported++ }), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tr.Close() })
			return tr
		}, func(r speechdata.Recording, s scene, marks []Mark) { whole(t, r, s, marks) })
		if reported != 11 {
			t.Errorf("reported %d failures, want 11", reported)
		}
	}
}

// unclosed is a detector that stays open.
type unclosed struct{ Detector }

func (unclosed) Close() error { return nil }

// TestWebRTCDoesNotAllocate: it runs for every frame of the microphone.
func TestWebRTCDoesNotAllocate(t *testing.T) {
	d, err := NewWebRTC()
	if err != nil {
		t.Fatal(err)
	}
	window := make([]int16, WindowSamples)
	if n := testing.AllocsPerRun(100, func() { _, _ = d.Process(window) }); n != 0 {
		t.Errorf("%v allocations per window", n)
	}
	_, short := d.Process(window[1:])
	if err := errors.Join(d.Close(), d.Close()); err != nil || short == nil {
		t.Errorf("closed: %v; a short window: %v", err, short)
	}
	if _, err := d.Process(window); err == nil {
		t.Error("a closed detector processes")
	}
}
