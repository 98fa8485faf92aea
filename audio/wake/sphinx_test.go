//go:build cgo

package wake

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// End to end: 48 kHz frames in, each utterance of the phrase detected once. The
// voices are synthetic.
func TestPhraseIsHeard(t *testing.T) {
	heard := make(chan Heard, 10)
	s, err := New(Config{ModelDir: modelDir(t), Heard: func(h Heard) { heard <- h }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pos := int64(480_000)
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		began := pos
		pcm := resampled(t, flite(t, voice, DefaultPhrase).pcm, SampleRate, audio.SampleRate)
		for len(pcm) >= audio.FrameSamples {
			if s.Push(pos, (*audio.Frame)(pcm)) {
				pcm, pos = pcm[audio.FrameSamples:], pos+audio.FrameSamples
			}
		}
		h := within(t, heard)
		t.Logf("%s: detected %v before the end of the half second of silence", voice, audio.Duration(pos-h.Pos))
		if h.Pos <= began+audio.SampleRate/2 || h.Pos > pos {
			t.Errorf("%s: detected at %d, said from %d to %d", voice, h.Pos, began, pos)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if st := s.Stats(); st.Heard != 4 || st.Err != nil {
		t.Errorf("%+v", st)
	}
}

// Sentences by several people without the phrase.
func TestOtherSpeechIsNotThePhrase(t *testing.T) {
	e := newTestEngine(t, DefaultPhrase, DefaultThreshold)
	seconds := 0
	for _, c := range human(t, recordings) {
		seconds += len(c.pcm) / SampleRate
		if n, at := times(t, e, c); n != 0 {
			t.Errorf("heard in %s at %d", c.name, at)
		}
	}
	t.Logf("%d s of human speech", seconds)
}

// The length of utterances is bounded, in silence and in speech, and the phrase is
// detected in each.
func TestUtterancesAreCut(t *testing.T) {
	e := newTestEngine(t, DefaultPhrase, DefaultThreshold)
	e.softLimit, e.hardLimit = SampleRate, 5*SampleRate
	quiet := clip{"quiet", padded(make([]int16, 3*SampleRate))}
	for range 3 {
		if n, _ := times(t, e, flite(t, "slt", DefaultPhrase)); n != 1 {
			t.Errorf("heard %d times, want once", n)
		}
		times(t, e, quiet)
		if e.samples > SampleRate*11/10 {
			t.Errorf("an utterance of %d samples was not cut in silence", e.samples)
		}
	}
	e.softLimit, e.hardLimit = 100*SampleRate, SampleRate/2
	for _, c := range human(t, recordings)[:2] {
		times(t, e, c)
		if e.samples >= SampleRate/2 {
			t.Errorf("an utterance of %d samples was not cut in speech", e.samples)
		}
	}
}

func TestWordIsNamed(t *testing.T) {
	_, err := New(Config{ModelDir: modelDir(t), Phrase: "hey agentvoice"})
	if err == nil || !strings.Contains(err.Error(), `"agentvoice"`) {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{ModelDir: t.TempDir()}); err == nil {
		t.Error("no error without a model")
	}
}

// People say these phrases within sentences, each once.
//
//test:long
func TestHumanPhrasesAreHeard(t *testing.T) {
	clips := human(t, recordings)
	for _, phrase := range []string{"leisure to consider", "queen of clubs"} {
		heard, wrong := rates(t, clips, phrase, DefaultThreshold)
		if heard != 1 || wrong != 0 {
			t.Errorf("%q detected %d times where it is said and %d times elsewhere", phrase, heard, wrong)
		}
	}
}

// A threshold that is too low detects other words too: "eight of spades" in "seven of
// clubs".
//
//test:long
func TestLowThresholdTriggersOnOtherWords(t *testing.T) {
	clips := human(t, recordings)
	for threshold, want := range map[float64]bool{DefaultThreshold: false, 1e-40: true} {
		if _, wrong := rates(t, clips, "eight of spades", threshold); wrong > 0 != want {
			t.Errorf("at %g other words are detected %d times", threshold, wrong)
		}
	}
}

// TestScoreIsTheThreshold: the likelihood ratio of a detection is the highest threshold at which
// the engine detects it, and its length is that of the phrase.
func TestScoreIsTheThreshold(t *testing.T) {
	for voice, text := range map[string]string{"slt": "okay pilot", "rms": "okay pilot"} { // less likely than 1
		c := flite(t, voice, text)
		found := func(threshold float64) (m match) {
			e := newTestEngine(t, DefaultPhrase, threshold)
			if all := detections(t, e, c); len(all) == 1 {
				m = all[0].match
			}
			return m
		}
		m := found(1e-40)
		if !m.found {
			t.Fatalf("%s: not detected", text)
		}
		if seconds := float64(m.length) / audio.SampleRate; seconds < 0.6 || seconds > 1.4 {
			t.Errorf("%s: the phrase takes %.2f s", text, seconds)
		}
		if !found(math.Exp(m.likely-scoreUnit)).found || found(math.Exp(m.likely+2*scoreUnit)).found {
			t.Errorf("%s: detected with a likelihood ratio of %g", text, math.Exp(m.likely))
		}
	}
}

// TestCandidatesAreNotSure: between the two thresholds the spotter is not sure, and above both it is.
func TestCandidatesAreNotSure(t *testing.T) {
	c := flite(t, "rms", "okay pilot")
	all := detections(t, newTestEngine(t, DefaultPhrase, 1e-40), c)
	if len(all) != 1 {
		t.Fatalf("detected %d times, want once", len(all))
	}
	likely := math.Exp(all[0].likely)
	for threshold, sure := range map[float64]bool{likely / 10: true, likely * 10: false} {
		e, err := newEngine(Config{ModelDir: modelDir(t), Phrase: DefaultPhrase, Threshold: threshold, Candidates: likely / 100})
		if err != nil {
			t.Fatal(err)
		}
		if all := detections(t, e, c); len(all) != 1 || all[0].sure != sure {
			t.Errorf("detected with %g, sure above %g: %+v", likely, threshold, all)
		}
		e.close()
	}
}

// TestCandidatesLoseNoPhrase: what the spotter is sure of without candidates, it is sure of with
// them, although a weaker match within the phrase comes first.
func TestCandidatesLoseNoPhrase(t *testing.T) {
	for _, text := range []string{"well, okay copilot, run the tests.", "okay copilot, read this file."} {
		for _, c := range []clip{flite(t, "rms", text), flite(t, "rms", text).atSNR(20)} {
			sure := func(candidates float64) bool {
				e, err := newEngine(Config{ModelDir: modelDir(t), Phrase: DefaultPhrase, Threshold: DefaultThreshold, Candidates: candidates})
				if err != nil {
					t.Fatal(err)
				}
				defer e.close()
				return slices.ContainsFunc(detections(t, e, c), func(d detection) bool { return d.sure })
			}
			if sure(DefaultThreshold) && !sure(CandidateThreshold) {
				t.Errorf("%s: the spotter is not sure with candidates", c.name)
			}
		}
	}
}
