package endturn

import (
	"testing"
	"time"
)

func TestCompleteness(t *testing.T) {
	for words, want := range map[string]Completeness{
		"": Unclear, "the tests": Unclear, "open": Unclear,
		"open the file": Unclear, "what does this function do": Open, // "do" may go on, as in "do here"
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
