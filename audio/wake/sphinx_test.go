//go:build cgo

package wake

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// End to end: 48 kHz frames in, each utterance of the phrase detected once. The
// voices are synthetic.
func TestPhraseIsHeard(t *testing.T) {
	heard := make(chan Heard, 10)
	s, err := New(Config{Heard: func(h Heard) { heard <- h }})
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
	_, err := New(Config{Phrase: "hey agentvoice"})
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
