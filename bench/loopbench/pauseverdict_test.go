package main

import (
	"testing"
	"time"
)

// The judge counts what the agent's conversation has in the end and what was audible.
func TestPausedSentencesAreJudged(t *testing.T) {
	spans := []span{{}, {1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}, {9 * time.Second, 10 * time.Second, 11 * time.Second, 12 * time.Second}}
	texts := [][]string{{"Rename the function parse config to load settings."}, {"Run the tests."}}
	const whole, before, after = "Rename the function, parse config to load settings.", "Rename the function.", "Parse config to load settings."
	at := func(s float64, users ...string) request {
		return request{time.Duration(s * float64(time.Second)), users}
	}
	for name, c := range map[string]struct {
		requests []request
		audible  []time.Duration
		want     outcome
		messages int
		reply    time.Duration
	}{
		"first": {[]request{at(4.5, whole), at(12.5, whole, "Run the tests.")}, []time.Duration{5 * time.Second, 13 * time.Second}, first, 1, time.Second},
		"joined": {[]request{at(2.5, before), at(4.5, whole), at(12.5, whole, "Run the tests.")},
			[]time.Duration{6 * time.Second}, joined, 1, 2 * time.Second},
		"two messages": {[]request{at(2.5, before), at(4.5, before, after), at(12.5, before, after, "Run the tests.")},
			[]time.Duration{5 * time.Second}, split, 2, time.Second},
		"joined, but half was answered": {[]request{at(2.5, before), at(4.5, whole), at(12.5, whole, "Run the tests.")},
			[]time.Duration{2800 * time.Millisecond, 6 * time.Second}, split, 1, 2 * time.Second},
		"summarised later": {[]request{at(2.5, before), at(4.5, whole), at(12.5, whole, "Run the tests."), at(14, "[What was said before, in short]", "Run the tests.", "Why?")},
			nil, joined, 1, 0},
		"rest lost":      {[]request{at(2.5, before), at(12.5, before, "Run the tests.")}, nil, partly, 1, 0},
		"beginning lost": {[]request{at(4.5, after), at(12.5, after, "Run the tests.")}, nil, partly, 1, 0},
		"dropped":        {[]request{at(2.5, before), at(12.5, "Run the tests.")}, nil, absent, 0, 0},
		"nothing":        {nil, nil, absent, 0, 0},
		"answered only after the next sentence began": {[]request{at(4.5, whole)}, []time.Duration{9500 * time.Millisecond}, first, 1, 0},
	} {
		got := conversation{spans, c.requests, nil, c.audible}.judge(texts)[0]
		if got.outcome != c.want || len(got.messages) != c.messages || got.reply != c.reply {
			t.Errorf("%s: %v with %q after %v; want %v with %d messages after %v", name, got.outcome, got.messages, got.reply, c.want, c.messages, c.reply)
		}
	}
}

func TestASentenceMayReachTheAgentInAnotherText(t *testing.T) {
	c := conversation{spans: make([]span, 2), requests: []request{{0, []string{"Say the last answer again in fewer words."}}}}
	if v := c.judge([][]string{{"Tell me a shorter version."}})[0]; v.outcome != partly {
		t.Errorf("other words count as %v", v.outcome)
	}
	if v := c.judge([][]string{{"Tell me a shorter version.", "Say the last answer again in fewer words."}})[0]; v.outcome != first {
		t.Errorf("the text without a pause counts as %v", v.outcome)
	}
}

// The recogniser's mistakes do not count against a sentence, but words that are missing do.
func TestMisheardWordsAreNotMissing(t *testing.T) {
	c := conversation{
		spans:    []span{{}, {1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}},
		requests: []request{{2500 * time.Millisecond, []string{"Which tester?"}}, {4500 * time.Millisecond, []string{"Which tester? Sailing."}}},
		utterances: []utterance{
			{onset: 1 * time.Second, end: 2 * time.Second, words: "Which tester?"}, {onset: 3 * time.Second, end: 4 * time.Second, words: "Sailing."},
		},
	}
	texts := [][]string{{"Which tests are failing?"}}
	if v := c.judge(texts)[0]; v.outcome != joined {
		t.Errorf("both parts, misheard, count as %v", v.outcome)
	}
	c.utterances[1].joined = "Witches are sailing."
	c.requests[1].users[0] = c.utterances[1].joined
	if v := c.judge(texts)[0]; v.outcome != joined {
		t.Errorf("both parts, recognised as one, count as %v", v.outcome)
	}
	c.requests = c.requests[:1]
	if v := c.judge(texts)[0]; v.outcome != partly {
		t.Errorf("the first of two parts counts as %v", v.outcome)
	}
	c.utterances = c.utterances[:1]
	if v := c.judge(texts)[0]; v.outcome != partly {
		t.Errorf("the first part, where nothing was recognised of the second, counts as %v", v.outcome)
	}
}

// What the assistant still says about an earlier sentence is no answer to half of this one.
func TestALateAnswerIsNotOneToAHalf(t *testing.T) {
	c := conversation{
		spans:    []span{{}, {5 * time.Second, 6 * time.Second, 7 * time.Second, 8 * time.Second}},
		requests: []request{{8500 * time.Millisecond, []string{"Run the tests."}}},
		audible:  []time.Duration{6500 * time.Millisecond},
	}
	if v := c.judge([][]string{{"Run the tests."}})[0]; v.outcome != first {
		t.Errorf("the sentence counts as %v", v.outcome)
	}
}
