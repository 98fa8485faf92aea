//go:build cgo && !race

package vad

import (
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

// TestSkippingDoesNotDelayOnsets: after a few seconds of a quiet room, onsets are
// decided in the same frame as if all four detectors had processed the silence,
// although only one of them did.
func TestSkippingDoesNotDelayOnsets(t *testing.T) {
	tr := newSileroTracker(t, ProfileConfig(ProfileDefault))
	n, heard, same := 0, 0, 0
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
		heard++
		if before.Decided == after.Decided {
			same++
		}
		if after.Decided > before.Decided {
			t.Errorf("%s: onset decided at %d, with all detectors at %d", r.ID, after.Decided, before.Decided)
		}
		n = 0
		follow(t, tr, pcm[:silence], false)
		// In the first second all four run, to learn the background.
		all := float64(silence) / audio.SampleRate / WindowTime.Seconds()
		if most := all + 3*1.3/WindowTime.Seconds(); float64(n) > most {
			t.Errorf("%s: %d windows were computed in silence, want at most %.0f", r.ID, n, most)
		}
	}
	t.Logf("%d of %d onsets decided at the same frame, the others sooner", same, heard)
	if heard != 11 {
		t.Errorf("heard %d recordings, want 11", heard)
	}
}
