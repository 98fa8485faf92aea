package turns

import (
	"testing"
	"time"
)

func TestCompleteness(t *testing.T) {
	for words, want := range map[string]Completeness{
		"": Unclear, "the tests": Unclear, "open": Unclear,
		"open the file": Unclear, "what does this function do": Open, // "do" may continue, as in "do here"
		"what does this code mean": Complete, "show me the last commit": Complete, "stop": Complete, "Yes, please.": Complete,
		"open the file and": Open, "why does the": Open, "go to main dot": Open, "rename it to": Open, "um": Open,
		"rename the function": Open, "call parse config v": Open, "I think that...": Open, "Why does it fail?": Complete,
		"the build is broken.": Complete, "we need it, but,": Open, "次のステップは何ですか": Unclear,
	} {
		if got := Of(words); got != want {
			t.Errorf("%q is %v, want %v", words, got, want)
		}
	}
}

func TestDelays(t *testing.T) {
	judge := Words{Complete: 250 * time.Millisecond, Unclear: 700 * time.Millisecond, Open: 1500 * time.Millisecond}
	for words, want := range map[string]time.Duration{"stop": 250 * time.Millisecond, "": 700 * time.Millisecond, "open the": 1500 * time.Millisecond} {
		if got := judge.Delay(words); got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
		if got := Silence(time.Second).Delay(words); got != time.Second {
			t.Errorf("silence alone waits %v", got)
		}
	}
}

// TestLongestDelay checks the delay for words that are not known yet.
func TestLongestDelay(t *testing.T) {
	w := Words{Complete: 250 * time.Millisecond, Unclear: 700 * time.Millisecond, Open: 1500 * time.Millisecond}
	for judge, want := range map[Judge]time.Duration{
		w: w.Open, WithSound(w, 0.9): w.Unclear, WithSound(w, 0.1): w.Open, Silence(time.Second): time.Second,
	} {
		if got := Longest(judge); got != want {
			t.Errorf("%+v waits at most %v, want %v", judge, got, want)
		}
	}
}

// TestSoundMovesTheVerdictOfTheWords checks that sound shifts the words' verdict by at
// most one step, and does not affect silence alone.
func TestSoundMovesTheVerdictOfTheWords(t *testing.T) {
	w := Words{Complete: 250 * time.Millisecond, Unclear: 700 * time.Millisecond, Open: 1500 * time.Millisecond}
	for words, want := range map[string][2]time.Duration{
		"stop": {w.Complete, w.Unclear}, "": {w.Complete, w.Open}, "the last commit": {w.Complete, w.Open}, "show me the": {w.Unclear, w.Open},
	} {
		for i, p := range []float64{0.5, 0.49} {
			if got := WithSound(w, p).Delay(words); got != want[i] {
				t.Errorf("%q that is complete with %v waits %v, want %v", words, p, got, want[i])
			}
		}
	}
	if s := Silence(time.Second); WithSound(s, 1) != Judge(s) {
		t.Error("silence listens")
	}
}
