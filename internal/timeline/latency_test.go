package timeline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

func known(d time.Duration) Latency { return Latency{d, true} }

// TestLatencies compares every latency with the times that fakeWorld takes.
func TestLatencies(t *testing.T) {
	turns := Latencies(threeTurns(t, journal.Full))
	if len(turns) != 3 {
		t.Fatalf("%d turns, want 3", len(turns))
	}
	slower := func(n, by time.Duration) Latency { return known(n + by) }
	for i, turn := range turns {
		id := time.Duration(turn.ID % 3)
		want := []Latency{
			slower(hangover, id*32*ms),
			known(recognition),
			slower(3*ms+firstToken, id*57*ms),
			known(tokenPause),
			known(synthesisTime),
			slower(hangover+recognition+3*ms+firstToken+tokenPause+synthesisTime, id*(32+57)*ms),
		}
		for n, s := range Stages {
			if got := s.Of(turn); got != want[n] {
				t.Errorf("turn %d: %s is %v, want %v", i+1, s.Name, got, want[n])
			}
		}
		if turn.ID != uint64(i+1) || turn.Utterance != turn.ID || turn.Request != turn.ID {
			t.Errorf("turn %d has ids %d, %d, %d", i+1, turn.ID, turn.Utterance, turn.Request)
		}
		for _, s := range InterruptionStages {
			if got := s.Of(turn); got.Known != (i == 1) {
				t.Errorf("turn %d: %s is %v", i+1, s.Name, got)
			}
		}
	}
	if ends := []csm.TurnEnd{turns[0].End, turns[1].End, turns[2].End}; !slices.Equal(ends, []csm.TurnEnd{csm.Answered, csm.TurnCutOff, csm.Answered}) {
		t.Errorf("the turns ended %v", ends)
	}
	want := Interruption{
		Onset: 25600 * ms, Utterance: 3,
		Interrupted: known(onsetDelay), Flushed: known(onsetDelay + flushTime), Listening: known(onsetDelay + flushTime),
	}
	if got := turns[1].Interruption; got == nil || *got != want {
		t.Errorf("the interruption is %+v, want %+v", got, want)
	}
}

func TestWordsOfTurns(t *testing.T) {
	turns := Latencies(threeTurns(t, journal.Full))
	second := turns[1]
	if second.Said != "where do we leak file descriptors" || second.Words != 6 {
		t.Errorf("the user said %q, %d words", second.Said, second.Words)
	}
	all := second.Heard + second.Unheard
	if !strings.HasPrefix(all, "There are three") || !strings.HasSuffix(second.Unheard, "a test helper. ") {
		t.Errorf("the answer was %q | %q", second.Heard, second.Unheard)
	}
	if got := len(second.Heard); got != second.HeardChars || got == 0 {
		t.Errorf("%d characters stand as heard, the core says %d", got, second.HeardChars)
	}
	if turns[0].Unheard != "" {
		t.Errorf("of an answer that was heard whole %q is left", turns[0].Unheard)
	}

	redacted := Latencies(threeTurns(t, journal.Redacted))
	for i, turn := range redacted {
		if turn.Said != "" || turn.Heard != "" || turn.Unheard != "" {
			t.Errorf("turn %d of a redacted journal has words", i+1)
		}
		if turn.Words != turns[i].Words || turn.HeardChars != turns[i].HeardChars || turn.FirstAudio != turns[i].FirstAudio {
			t.Errorf("turn %d differs from that of the full journal in more than its words", i+1)
		}
	}
}

func TestSummarise(t *testing.T) {
	var turns []Turn
	for n := 20; n >= 1; n-- {
		turns = append(turns, Turn{FirstAudio: known(time.Duration(n) * time.Second)}, Turn{})
	}
	got := Summarise(turns, func(t Turn) Latency { return t.FirstAudio })
	if want := (Stat{N: 20, P50: 10 * time.Second, P95: 19 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Summarise(nil, Stages[0].Of); got != (Stat{}) {
		t.Errorf("of no turns: %+v", got)
	}
	one := []time.Duration{7}
	for _, p := range []int{0, 1, 50, 100} {
		if got := Percentile(one, p); got != 7 {
			t.Errorf("p%d of one value is %d", p, got)
		}
	}
}

// TestFailedTurn has the assistant refuse: the explanation is spoken, and a
// retry does not count the user's side again.
func TestFailedTurn(t *testing.T) {
	j := hold(t, journal.Full, 20*time.Second, nil, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, time.Second, 2*time.Second, "what is a channel")
		f.clock.AfterFunc(8*time.Second, func() {
			f.answers = []string{"A queue with a lock. "}
			f.loop.Post(csm.UserRetry{})
		})
	})
	turns := Latencies(j)
	if len(turns) != 2 || turns[0].End != csm.TurnFailed || turns[0].Code != csm.CodeCopilotUnavailable || turns[1].End != csm.Answered {
		t.Fatalf("the turns are %+v", turns)
	}
	if first := turns[0]; !first.Endpointing.Known || first.FirstSign.Known || first.FirstAudio.Known {
		t.Errorf("a failed turn has %+v", first)
	}
	again := turns[1]
	if again.Endpointing.Known || again.FirstAudio.Known || again.FirstSign != known(3*ms+firstToken+2*57*ms) || again.Said != "what is a channel" {
		t.Errorf("the repeated turn has %+v", again)
	}
	page := render(t, j, Options{})
	for _, want := range []string{"mark notice", "segment notice", "Copilot unavailable"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestTypedAndCommanded types an utterance and interrupts by a command.
func TestTypedAndCommanded(t *testing.T) {
	j := hold(t, journal.Full, 10*time.Second, []string{"A rather long answer, which goes on and on and on and on and on. "}, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.clock.AfterFunc(time.Second, func() {
			f.w.Words(time.Second, journal.Words{Kind: "utterance", ID: 5, Text: "tell me"})
			f.loop.Post(csm.UserText{Utterance: 5, Words: 2})
		})
		f.post(4*time.Second, csm.UserInterrupt{})
	})
	turns := Latencies(j)
	if len(turns) != 1 {
		t.Fatalf("%d turns", len(turns))
	}
	turn := turns[0]
	if !turn.Typed || turn.Said != "tell me" || turn.Endpointing.Known || turn.FirstAudio.Known || !turn.FirstSign.Known {
		t.Errorf("the typed turn is %+v", turn)
	}
	if i := turn.Interruption; i == nil || i.Onset != 4*time.Second || i.Utterance != 0 || i.Interrupted != known(0) || i.Flushed != known(flushTime) {
		t.Errorf("the interruption is %+v", turn.Interruption)
	}
}

// TestDroppedTurn has the user say nothing that counts.
func TestDroppedTurn(t *testing.T) {
	turns := Latencies(hold(t, journal.Full, 5*time.Second, nil, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, time.Second, 2*time.Second, "")
	}))
	if len(turns) != 1 || turns[0].End != csm.TurnDropped || turns[0].Utterance != 1 || turns[0].Recognition != known(recognition) {
		t.Errorf("the turns are %+v", turns)
	}
}
