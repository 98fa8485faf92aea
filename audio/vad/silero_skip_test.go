//go:build cgo && !race

package vad

import (
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// counted counts the windows of a detector.
type counted struct {
	*silero
	n *int
}

func (c counted) Process(w []int16) (float32, error) { *c.n++; return c.silero.Process(w) }

// TestRestingDoesNotDelayOnsets: after a few seconds of a quiet room, in which no detector
// ran, most onsets are decided no later than if all four had processed the silence. One can
// be later: whether the breath before a first word already counts as a voice depends on
// what the detectors have heard before.
func TestRestingDoesNotDelayOnsets(t *testing.T) {
	tr := newSileroTracker(t, ProfileConfig(ProfileDefault))
	n := 0
	var later []int
	for i, d := range tr.detectors {
		tr.detectors[i] = counted{d.(*silero), &n}
	}
	for i, r := range speechdata.All(speechdata.Utterance) {
		if r.Package != "pocketsphinx-testdata" { // the rest may not be on this machine
			continue
		}
		clip, err := r.Load()
		if err != nil {
			t.Fatal(err)
		}
		s := newScene(clip, uint64(i), "quiet", 0, nil)
		var pcm []int16
		for len(pcm) < 4*audio.SampleRate {
			pcm = append(pcm, s.pcm[:sceneLead]...)
		}
		silence := len(pcm)
		pcm = append(pcm, s.pcm...)
		onset := func(always bool) Mark {
			tr.always = always
			marks := follow(t, tr, pcm, false)
			if len(marks) == 0 || marks[0].Kind != Onset {
				t.Fatalf("%s: %v", r.ID, marks)
			}
			return marks[0]
		}
		before, after := onset(true), onset(false)
		late := int(after.Decided-before.Decided) / (audio.SampleRate / 1000)
		later = append(later, late)
		if late > mostLater {
			t.Errorf("%s: onset decided %d ms later than with all detectors, want at most %d", r.ID, late, mostLater)
		}
		n = 0
		follow(t, tr, pcm[:silence], false)
		// In the first second all four run, to learn the background. In the rest, no
		// more than one window in ten of the first detector exceeds the noise floor.
		rest := (float64(silence)/audio.SampleRate - 1.3) / WindowTime.Seconds()
		if most := 4*1.3/WindowTime.Seconds() + rest/10; float64(n) > most {
			t.Errorf("%s: %d windows were computed in silence, want at most %.0f", r.ID, n, most)
		}
	}
	t.Logf("onsets later than with all detectors, in ms: %v", later)
	slices.Sort(later)
	if n := len(later); n != 11 || later[n*3/4] > 0 {
		t.Errorf("three in four of %d onsets were decided up to %d ms later, want 11 and 0 ms", n, later[n*3/4])
	}
}

// mostLater is the most in ms that resting may delay one onset: of 207 recordings, 12 were
// later, by at most 110 ms.
const mostLater = 110
