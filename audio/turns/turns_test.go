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

// usual are the delays of medium eagerness.
var usual = Delays{Complete: 250 * time.Millisecond, Unclear: 700 * time.Millisecond, Open: 1500 * time.Millisecond}

// TestJudgement checks how the evidence combines. Each part shifts the verdict of the words by at
// most one step, and missing parts do not count.
func TestJudgement(t *testing.T) {
	p := func(p float64) *float64 { return &p }
	for name, c := range map[string]struct {
		Evidence
		want Judgement
	}{
		"complete words":                   {Evidence{Words: "stop"}, Judgement{usual.Complete, OfWords}},
		"no words":                         {Evidence{}, Judgement{usual.Unclear, OfWords}},
		"open words":                       {Evidence{Words: "open the"}, Judgement{usual.Open, OfWords}},
		"words awaited":                    {Evidence{Behind: true}, Judgement{usual.Open, OfNoWords}},
		"awaited, sounds complete":         {Evidence{Behind: true, Sound: p(0.9)}, Judgement{usual.Unclear, OfSound}},
		"awaited, sounds unfinished":       {Evidence{Behind: true, Sound: p(0.1)}, Judgement{usual.Open, OfSound}},
		"a yes where nothing was asked":    {Evidence{Words: "yes", Unfinished: true, Stop: p(1), Sound: p(1)}, Judgement{usual.Open, OfUnfinished}},
		"awaited, a stop of older words":   {Evidence{Behind: true, Stop: p(1)}, Judgement{usual.Open, OfNoWords}},
		"unclear words, a full stop":       {Evidence{Words: "the last commit", Stop: p(0.9)}, Judgement{usual.Complete, OfStop}},
		"unclear words, perhaps a stop":    {Evidence{Words: "the last commit", Stop: p(0.89)}, Judgement{usual.Unclear, OfWords}},
		"unclear words, no stop":           {Evidence{Words: "the last commit", Stop: p(0)}, Judgement{usual.Unclear, OfWords}},
		"complete words, no stop":          {Evidence{Words: "show me the last commit", Stop: p(0.29)}, Judgement{usual.Unclear, OfStop}},
		"complete words, perhaps a stop":   {Evidence{Words: "show me the last commit", Stop: p(0.3)}, Judgement{usual.Complete, OfWords}},
		"open words, a full stop":          {Evidence{Words: "show me the", Stop: p(1)}, Judgement{usual.Open, OfWords}},
		"a faint voice, complete":          {Evidence{Words: "stop", Faint: true}, Judgement{usual.Unclear, OfFaintVoice}},
		"a faint voice, open":              {Evidence{Words: "show me the", Faint: true}, Judgement{usual.Open, OfWords}},
		"sounds complete, complete words":  {Evidence{Words: "stop", Sound: p(0.5)}, Judgement{usual.Complete, OfSound}},
		"sounds complete, unclear words":   {Evidence{Sound: p(0.5)}, Judgement{usual.Complete, OfSound}},
		"sounds complete, open words":      {Evidence{Words: "show me the", Sound: p(0.5)}, Judgement{usual.Unclear, OfSound}},
		"sounds unfinished, complete":      {Evidence{Words: "stop", Sound: p(0.49)}, Judgement{usual.Unclear, OfSound}},
		"sounds unfinished, unclear words": {Evidence{Words: "the last commit", Sound: p(0.49)}, Judgement{usual.Open, OfSound}},
		"sounds unfinished, open words":    {Evidence{Words: "show me the", Sound: p(0.49)}, Judgement{usual.Open, OfSound}},
	} {
		if got := usual.Judge(c.Evidence); got != c.want {
			t.Errorf("%s: %v because of %v, want %v because of %v", name, got.Delay, got.Reason, c.want.Delay, c.want.Reason)
		}
		if got := Silence(time.Second).Judge(c.Evidence); got != (Judgement{time.Second, OfSilence}) {
			t.Errorf("%s: silence alone waits %v because of %v", name, got.Delay, got.Reason)
		}
	}
	if Silence(time.Second).Listens() || !usual.Listens() {
		t.Error("silence listens")
	}
}
