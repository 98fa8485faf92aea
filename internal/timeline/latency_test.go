package timeline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

func known(d time.Duration) Latency { return Latency{d, true} }

// TestLatencies compares every latency with fakeWorld's times.
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
		Decided: known(onsetDelay), Silent: known(onsetDelay + pauseTime), Listening: known(onsetDelay + 250*ms),
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
		t.Errorf("%d characters are marked as heard, the core says %d", got, second.HeardChars)
	}
	if turns[0].Unheard != "" {
		t.Errorf("%q is marked as unheard in an answer that was heard completely", turns[0].Unheard)
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
	for _, c := range []struct {
		turns []Turn
		p95   bool
	}{{turns, true}, {turns[2:], false}} { // 20 and 19 values
		if p95 := len(sums(c.turns)) == 2; p95 != c.p95 {
			t.Errorf("the table of %d turns has a 95th percentile: %v", len(c.turns), p95)
		}
	}
	if got := Summarise(nil, Stages[0].Of); got != (Stat{}) {
		t.Errorf("without turns: %+v", got)
	}
	one := []time.Duration{7}
	for _, p := range []int{0, 1, 50, 100} {
		if got := Percentile(one, p); got != 7 {
			t.Errorf("p%d of one value is %d", p, got)
		}
	}
}

// TestFailedTurn makes the assistant fail: the explanation is spoken, and a retry
// does not count the user's side again.
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
	for _, want := range []string{"mark notice", "segment notice", "Assistant unavailable"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestTypedAndCommanded types an utterance and interrupts with a command.
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
	if i := turn.Interruption; i == nil || i.Onset != 4*time.Second || i.Utterance != 0 || i.Decided != known(0) || i.Silent != known(flushTime) {
		t.Errorf("the interruption is %+v", turn.Interruption)
	}
}

// TestDroppedTurn has an utterance without content.
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

// interruptedInDoubt is a conversation with two-phase barge-in: a cough, an "mm-hm",
// and intended words.
func interruptedInDoubt(t testing.TB) *journal.Journal {
	return hold(t, journal.Full, 44*time.Second, []string{
		"There are three places that open the file. |The first is the configuration loader, which never closes it when parsing fails. |The second is the log writer, and the third a test helper. ",
		"In the loader, defer the close right after the error check. |Then run the tests again. ",
	}, func(f *fakeWorld) {
		f.post(200*ms, csm.UserStart{Call: 1})
		f.clock.AfterFunc(ms, func() {
			f.capture = 200*ms + 90*ms + 30*ms
			f.says(1, 1400*ms, 4100*ms, "where do we leak file descriptors")
			f.coughs(2, 7*time.Second, 7150*ms)
			f.says(3, 9*time.Second, 9600*ms, "")
			f.says(4, 13*time.Second, 28*time.Second, "okay just show me how to fix the first one")
		})
		f.post(43*time.Second, csm.UserStop{Call: 2})
	})
}

// TestInterruptionInDoubt: each suspicion starts with its own onset. A retracted one
// is not an interruption, and the words that confirm the last one, 15 s after it, do
// not change its latencies.
func TestInterruptionInDoubt(t *testing.T) {
	j := interruptedInDoubt(t)
	turns := Latencies(j)
	if len(turns) != 2 || turns[0].End != csm.TurnCutOff {
		t.Fatalf("the turns are %+v", turns)
	}
	first := turns[0]
	want := Interruption{
		Onset: 13 * time.Second, Utterance: 4,
		Decided: known(onsetDelay), Silent: known(onsetDelay + pauseTime), Listening: known(onsetDelay + 250*ms),
	}
	if first.Interruption == nil || *first.Interruption != want {
		t.Errorf("the interruption is %+v, want %+v", first.Interruption, want)
	}
	taken := []Interruption{
		{Onset: 7 * time.Second, Utterance: 2, Decided: known(onsetDelay), Silent: known(onsetDelay + pauseTime), Resumed: known(150*ms + onsetDelay)},
		{
			Onset: 9 * time.Second, Utterance: 3, Decided: known(onsetDelay), Silent: known(onsetDelay + pauseTime),
			Listening: known(onsetDelay + 250*ms), Resumed: known(600*ms + hangover + recognition),
		},
	}
	if !slices.Equal(first.Retracted, taken) {
		t.Errorf("retracted %+v, want %+v", first.Retracted, taken)
	}
	if turns[1].Interruption != nil || turns[1].Retracted != nil {
		t.Errorf("the turn after it has %+v", turns[1])
	}
	if got := Summarise(turns, InterruptionStages[2].Of); got.N != 1 || got.P50 != onsetDelay+250*ms {
		t.Errorf("the summary is %+v", got)
	}
	page := render(t, j, Options{})
	for _, text := range []string{"; 2 more retracted", "interrupted; paused 2 times", "mark suspicion", "retracted, resumed after 246 ms"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if n := strings.Count(page, "mark interruption"); n != 1 {
		t.Errorf("the page shows %d interruptions", n)
	}
}

// TestSuspicionThatEndsByItself: the answer drains while it is paused, and the voice
// starts again in another one.
func TestSuspicionThatEndsByItself(t *testing.T) {
	j := hold(t, journal.Full, 20*time.Second, []string{"It is a queue. "}, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, time.Second, 2*time.Second, "what is a channel")
		f.clock.AfterFunc(4*time.Second, func() {
			last, _ := f.speaker.Drain()
			f.coughs(2, f.clock.Now()-onsetDelay, f.clock.Now())
			f.post(5*ms, csm.SpeechDrained{Gen: last.Gen, Seq: last.Segment.Seq}) // heard just before the pause
		})
	})
	turns := Latencies(j)
	if len(turns) != 2 || turns[0].End != csm.Answered || turns[0].Interruption != nil || turns[0].Retracted != nil {
		t.Errorf("the turns are %+v", turns)
	}
	if page := render(t, j, Options{}); !strings.Contains(page, "ended before the decision") {
		t.Error("the page lacks the outcome")
	}
}

// TestOnsetOfTheLocalDetector is used unchanged: neither the levels, which are 50 ms
// wide, nor the end of the first frame make an interruption look faster.
func TestOnsetOfTheLocalDetector(t *testing.T) {
	const early = 130 * ms // the first sounds of a word are soft and below the levels
	j := hold(t, journal.Full, 30*time.Second, []string{
		"There are three places that open the file, and the first of them is the configuration loader. ",
	}, func(f *fakeWorld) {
		f.post(0, csm.UserStart{})
		f.capture = 120 * ms
		f.says(1, time.Second, 2*time.Second, "where do we leak file descriptors")
		f.voices[0] = append(f.voices[0], window{5 * time.Second, 8 * time.Second})
		f.clock.AfterFunc(5*time.Second, func() {
			epoch := f.loop.State().IDs.Epoch
			pos := audio.Samples(5*time.Second - early - f.capture)
			f.loop.Post(csm.SpeechStarted{Epoch: epoch, Utterance: 2, Pos: pos, Late: early + 10*ms})
			f.post(3*time.Second, csm.SpeechStopped{Epoch: epoch, Utterance: 2, Pos: audio.Samples(8*time.Second - f.capture)})
			f.post(3100*ms, csm.Final{Epoch: epoch, Utterance: 2, Words: 4, Class: csm.Content})
		})
	})
	i := Latencies(j)[0].Interruption
	if i == nil || i.Onset != 5*time.Second-early-10*ms || i.Decided != known(early+10*ms) {
		t.Errorf("the interruption is %+v", i)
	}
}
