package daemon

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// ordered returns an order, and the words that it passed on.
func ordered() (*order, *[]string) {
	var got []string
	return &order{post: func(e csm.Event) {
		switch e := e.(type) {
		case csm.Final:
			got = append(got, fmt.Sprint("words ", e.Utterance))
		case csm.RecognitionLost:
			got = append(got, fmt.Sprint("lost ", e.Utterance))
		default: // no words
		}
	}}, &got
}

// stepped is a step after which the core knows these utterances, the last of them open.
func stepped(e csm.Event, open uint64, pending ...uint64) dispatch.Step {
	st := csm.Initial()
	var list []turn.Utterance
	for _, id := range pending {
		list = append(list, turn.Utterance{ID: id})
	}
	switch {
	case open != 0:
		st.Turn = turn.UserSpeaking{Open: turn.Utterance{ID: open}, Pending: list}
	case len(list) > 0:
		st.Turn = turn.EndPending{Pending: list}
	}
	return dispatch.Step{State: st, Envelope: csm.Envelope{Event: e}}
}

func TestWordsWaitForEarlierOnesAndForTheirVoice(t *testing.T) {
	o, got := ordered()
	want := func(words ...string) {
		t.Helper()
		if !slices.Equal(*got, words) {
			t.Fatalf("passed on %v, want %v", *got, words)
		}
	}
	o.Post(csm.SpeechStarted{Epoch: 1, Utterance: 1})
	o.Post(csm.SpeechStopped{Epoch: 1, Utterance: 1})
	o.Post(csm.SpeechStarted{Epoch: 1, Utterance: 2})
	o.Post(csm.Final{Epoch: 1, Utterance: 2})
	want()
	o.Post(csm.Final{Epoch: 1, Utterance: 1})
	want("words 1")
	o.Post(csm.SpeechStopped{Epoch: 1, Utterance: 2})
	want("words 1", "words 2")
	// Words of an utterance that nobody announced are not held up.
	o.Post(csm.Final{Epoch: 1, Utterance: 9})
	want("words 1", "words 2", "words 9")
}

func TestWordsDoNotWaitForWhatTheCoreGaveUp(t *testing.T) {
	o, got := ordered()
	first, second := csm.SpeechStarted{Epoch: 1, Utterance: 1}, csm.SpeechStarted{Epoch: 1, Utterance: 2}
	o.Post(first)
	o.Post(second)
	o.step(stepped(first, 1))
	o.step(stepped(second, 2, 1)) // the core ended the first
	o.Post(csm.Final{Epoch: 1, Utterance: 2})
	o.Post(csm.SpeechStopped{Epoch: 1, Utterance: 2})
	if len(*got) != 0 {
		t.Fatalf("passed on %v before the first", *got)
	}
	o.step(stepped(csm.TimerFired{Timer: csm.TimerFinal}, 0, 2))
	if !slices.Equal(*got, []string{"words 2"}) {
		t.Fatalf("passed on %v", *got)
	}
	// One that the core did not take holds nothing up.
	third := csm.SpeechStarted{Epoch: 1, Utterance: 3}
	o.Post(third)
	o.step(stepped(third, 0))
	o.step(stepped(csm.Resume{}, 0))
	o.Post(csm.SpeechStarted{Epoch: 1, Utterance: 4})
	o.Post(csm.SpeechStopped{Epoch: 1, Utterance: 4})
	o.Post(csm.Final{Epoch: 1, Utterance: 4})
	if !slices.Contains(*got, "words 4") {
		t.Fatalf("passed on %v", *got)
	}
	// With a connection, the words that it owes are gone.
	o.Post(csm.SpeechStarted{Epoch: 1, Utterance: 5})
	o.Post(csm.ConnLost{Epoch: 1})
	o.Post(csm.SpeechStarted{Epoch: 2, Utterance: 6})
	o.Post(csm.RecognitionLost{Epoch: 2, Utterance: 6})
	if !slices.Contains(*got, "lost 6") {
		t.Fatalf("passed on %v", *got)
	}
}

// TestOrderPassesOnAllWords: whatever the order of ends and words, all are passed on once, in the
// order of the onsets.
func TestOrderPassesOnAllWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, got := ordered()
		var events []csm.Event
		n := rapid.IntRange(1, 6).Draw(t, "utterances")
		for u := uint64(1); u <= uint64(n); u++ {
			o.Post(csm.SpeechStarted{Epoch: 1, Utterance: u})
			events = append(events, csm.SpeechStopped{Epoch: 1, Utterance: u}, csm.Final{Epoch: 1, Utterance: u})
		}
		for _, e := range rapid.Permutation(events).Draw(t, "events") {
			o.Post(e)
		}
		var want []string
		for u := 1; u <= n; u++ {
			want = append(want, fmt.Sprint("words ", u))
		}
		if !slices.Equal(*got, want) {
			t.Fatalf("passed on %v", *got)
		}
	})
}
