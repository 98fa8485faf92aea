//go:build cgo && !race

package vad

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// dictation joins recordings of a language into fluent speech of the given duration, at
// sceneLevel, without gaps longer than 100 ms.
func dictation(clips []*speechdata.Clip, long time.Duration) []int16 {
	random := rand.New(rand.NewPCG(5, 6))
	var pcm []int16
	for i := 0; int64(len(pcm)) < audio.Samples(long); i++ {
		c := clips[i%len(clips)]
		gain := math.Pow(10, (sceneLevel-c.Level)/20)
		quiet := 0
		for at := c.Onset; at+240 <= c.End; at += 240 { // 5 ms
			piece := c.PCM[at : at+240]
			if quiet++; audio.LevelOf(piece).RMS > c.Level-25 {
				quiet = 0
			}
			if quiet > 16 { // 80 ms, and up to 20 between two recordings
				continue
			}
			for _, v := range piece {
				pcm = append(pcm, int16(min(max(float64(v)*gain, math.MinInt16), math.MaxInt16)))
			}
		}
		pcm = append(pcm, make([]int16, random.IntN(960))...)
	}
	return pcm
}

// TestADictationOfAMinuteIsHeardWhole checks that speech without a pause does not
// become background, in quiet and in noise, for each language with recordings on this
// machine. The parameters were tuned on the other half of the recordings.
func TestADictationOfAMinuteIsHeardWhole(t *testing.T) {
	by := map[string][]*speechdata.Clip{}
	for i, r := range speechdata.All(speechdata.Utterance, speechdata.Passage) {
		if i%2 == 0 || r.Style == speechdata.Cartoon || !r.Present() {
			continue
		}
		clip, err := r.Load()
		if err != nil {
			t.Fatal(err)
		}
		by[r.Language] = append(by[r.Language], clip)
	}
	if len(by["en"]) == 0 {
		t.Fatal("recordings missing; install pocketsphinx-testdata with `make deps`")
	}
	tr := newSileroTracker(t, ProfileConfig(ProfileDefault))
	for lang, clips := range by {
		for _, noise := range []float64{-65, sceneLevel - 15} {
			pcm := append(make([]int16, sceneLead), dictation(clips, time.Minute)...)
			end := len(pcm)
			pcm = append(pcm, make([]int16, sceneTail)...)
			fan := noiseOf(rand.New(rand.NewPCG(1, 2)), "fan", len(pcm), nil)
			scale := 32768 * math.Pow(10, noise/20) / effective(fan)
			for i := range pcm {
				pcm[i] = int16(min(max(float64(pcm[i])+fan[i]*scale, math.MinInt16), math.MaxInt16))
			}
			early := 0
			for _, m := range follow(t, tr, pcm, false) {
				if m.Kind == Ended && m.Pos < int64(end) {
					early++
				}
			}
			if early > 0 {
				t.Errorf("%s (%d recordings), noise at %v dBFS: a one-minute dictation was split %d times", lang, len(clips), noise, early)
			}
		}
	}
}

// TestBabbleDoesNotKeepAnUtteranceOpen: babble never pauses, so it must become
// background.
func TestBabbleDoesNotKeepAnUtteranceOpen(t *testing.T) {
	clips := [][]int16{}
	for i, r := range speechdata.All(speechdata.Utterance) {
		if i%2 == 0 || !r.Present() {
			continue
		}
		clip, err := r.Load()
		if err != nil {
			t.Fatal(err)
		}
		clips = append(clips, clip.PCM)
	}
	babble := room.Babble(7, clips...)
	pcm := make([]int16, 40*audio.SampleRate)
	for i := range pcm {
		pcm[i] = int16(min(max(32768*float64(babble[i%len(babble)])*math.Pow(10, -30.0/20), math.MinInt16), math.MaxInt16))
	}
	tr := newSileroTracker(t, ProfileConfig(ProfileDefault))
	open := int64(-1)
	marks := follow(t, tr, pcm, false)
	for _, m := range append(marks, Mark{Kind: Ended, Pos: int64(len(pcm))}) {
		switch m.Kind {
		case Onset:
			open = m.Pos
		case Ended:
			if long := audio.Duration(m.Pos - open); open >= 0 && long > 20*time.Second {
				t.Errorf("babble kept an utterance open for %v: %v", long, marks)
			}
			open = -1
		default:
		}
	}
}
