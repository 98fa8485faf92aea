//go:build cgo && !race

package vad

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

func TestTrackerDetectsPeople(t *testing.T) {
	tr := newSileroTracker(t, ProfileConfig(ProfileDefault))
	heard := 0
	for i, r := range speechdata.All(speechdata.Utterance) {
		if r.Package != "pocketsphinx-testdata" { // the rest may not be on this machine
			continue
		}
		clip, err := r.Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, audible := range []bool{false, true} {
			s := newScene(clip, uint64(i), "quiet", 0, nil)
			marks := follow(t, tr, s.pcm, audible)
			if len(marks) < 3 || marks[0].Kind != Onset || marks[len(marks)-1].Kind != Ended {
				t.Errorf("%s: %v", r.ID, marks)
				continue
			}
			heard++
			for _, m := range marks[1 : len(marks)-1] {
				if m.Kind == Onset || m.Kind == Ended {
					t.Errorf("%s: one sentence in two: %v", r.ID, marks)
				}
			}
			// The LibriVox clips are cut from a reading. Two start with a breath of a
			// quarter of a second, which the energy label includes.
			off, earliest := audio.Duration(marks[0].Pos-s.onset), -60*time.Millisecond
			if strings.HasPrefix(r.ID, "en/librivox/") {
				earliest = -300 * time.Millisecond
			}
			if off < earliest || marks[0].Pos > s.strong+within {
				t.Errorf("%s: onset %v after the label", r.ID, off)
			}
			gone := marks[len(marks)-2]
			if off := audio.Duration(gone.Pos - s.end); off.Abs() > 150*time.Millisecond {
				t.Errorf("%s: the voice stopped %v after the label", r.ID, off)
			}
		}
	}
	if heard != 22 {
		t.Errorf("heard %d times", heard)
	}
}

func TestTrackerIgnoresNoise(t *testing.T) {
	for _, p := range []Profile{ProfileDefault, ProfileAssertive, ProfileCautious} {
		tr := newSileroTracker(t, ProfileConfig(p))
		noise := noiseOf(rand.New(rand.NewPCG(1, 2)), "fan", 20*audio.SampleRate, nil)
		for _, level := range []float64{-100, -65, -45, -30} {
			pcm := make([]int16, len(noise))
			scale := 32768 * math.Pow(10, level/20) / effective(noise)
			for i, v := range noise {
				pcm[i] = int16(v * scale)
			}
			if marks := follow(t, tr, pcm, false); len(marks) != 0 {
				t.Errorf("%s: in noise of %v dBFS: %v", p, level, marks)
			}
		}
	}
}
