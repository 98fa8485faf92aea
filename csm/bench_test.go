package csm_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// conversationEvents are the events of a realistic conversation of three turns, one
// interrupted and one over a lost connection, with partial transcripts and an answer in
// many pieces.
func conversationEvents(t testing.TB) []csm.Envelope {
	s := newScene(t)
	s.do(csm.UserStart{}).wait(200 * ms)
	for u := uint64(1); u <= 3; u++ {
		s.begin(u).wait(10 * ms)
		for w := 1; w <= 8; w++ {
			s.do(csm.Partial{Epoch: s.epoch(), Utterance: u, Words: w}).wait(100 * ms)
		}
		s.end(u).wait(200*ms).words(u, csm.Content).wait(300 * ms)
		for n := range 12 {
			s.do(csm.CopilotDelta{Request: s.request(), Chars: n*20 + 10}).wait(20*ms).segment(n*20, n*20+20)
		}
		s.wait(50 * ms)
		for range 6 {
			s.played().wait(300 * ms)
		}
		switch u {
		case 1:
			s.answered().wait(100 * ms).drained()
		case 3:
			s.do(csm.ConnLost{Epoch: s.epoch(), Code: csm.CodeConnectionLost}).wait(400 * ms).answered().drained()
		}
	}
	s.do(csm.UserStop{}).wait(time.Second)
	if p := s.state().Phase(); p != csm.PhaseIdle {
		t.Fatalf("the conversation ended in %v", p)
	}
	events := make([]csm.Envelope, len(s.steps))
	for i, st := range s.steps {
		events[i] = st.Envelope
	}
	return events
}

// phases returns the core's phase after each event.
func phases(events []csm.Envelope) []csm.Phase {
	out := make([]csm.Phase, len(events))
	s := csm.Initial()
	for i, e := range events {
		s, _ = csm.Step(s, e)
		out[i] = s.Phase()
	}
	return out
}

// measure reports the cost of an event: begin prepares for a conversation of n events,
// and take takes the i-th. The mean comes from uninterrupted rounds, the percentiles from
// rounds that time each event, minus the cost of reading the clock.
func measure(b *testing.B, n int, begin func(), take func(i int)) {
	rest := clockCost()
	took := make([]time.Duration, 0, 1<<20)
	for len(took) < max(200*n, 1<<15) {
		begin()
		for i := range n {
			start := time.Now()
			take(i)
			took = append(took, max(time.Since(start)-rest, 0))
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%n == 0 {
			begin()
		}
		take(i % n)
	}
	reportPercentiles(b, took)
}

// clockCost is the median cost of timing nothing.
func clockCost() time.Duration {
	took := make([]time.Duration, 10001)
	for i := range took {
		start := time.Now()
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func reportPercentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	for _, p := range []struct {
		name string
		at   int
	}{{"p50-ns", 50}, {"p99-ns", 99}} {
		b.ReportMetric(float64(took[len(took)*p.at/100]), p.name)
	}
}

// BenchmarkStep measures a whole step per event: routing, the machine, the action,
// deadlines and effects. It also reports allocations over budget.
func BenchmarkStep(b *testing.B) {
	events := conversationEvents(b)
	over, worst := 0, 0
	for _, c := range stepCosts(events) {
		if c.over() > 0 {
			over++
		}
		worst = max(worst, c.over())
	}
	var s csm.State
	measure(b, len(events), func() { s = csm.Initial() }, func(i int) { s, sinkEffects = csm.Step(s, events[i]) })
	b.ReportMetric(float64(len(events)), "events")
	b.ReportMetric(float64(over), "over-budget")
	b.ReportMetric(float64(worst), "worst-allocs-over")
}

// BenchmarkAudioRate measures the facts that arrive as often as audio, each in its usual
// state.
func BenchmarkAudioRate(b *testing.B) {
	s := newScene(b)
	s.do(csm.UserStart{}).wait(200 * ms).say(1).wait(1 * ms)
	s.segment(0, 20).segment(20, 40)
	buffering := s.state()
	s.wait(50 * ms)
	playing := s.state()
	line, _ := speech.LineOf(playing.Speech)
	first := line.Segments[0].Seq
	for _, fact := range []struct {
		name  string
		state csm.State
		event csm.Event
	}{
		{"SpeechBuffered/first", buffering, csm.SpeechBuffered{Gen: line.Gen, Seq: first}},
		{"SpeechBuffered/further", playing, csm.SpeechBuffered{Gen: line.Gen, Seq: first + 1}},
		{"SpeechCursor", playing, csm.SpeechCursor{Gen: line.Gen, Seq: first, Played: 480, Of: 96000, Buffered: 9600}},
		{"SpeechPlayed", playing, csm.SpeechPlayed{Gen: line.Gen, Seq: first}},
	} {
		e := csm.Envelope{Seq: 1000, At: time.Minute, Event: fact.event}
		b.Run(fact.name, func(b *testing.B) {
			measure(b, 1, func() {}, func(int) { sinkState, sinkEffects = csm.Step(fact.state, e) })
		})
	}
}

// BenchmarkDispatch measures from Post to Execute, on another goroutine.
func BenchmarkDispatch(b *testing.B) {
	executed := make(chan time.Time, 1)
	l := dispatch.New(dispatch.Config{Clock: dispatch.NewClock(1), Execute: func(dispatch.Step) { executed <- time.Now() }})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	took := make([]time.Duration, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		l.Post(csm.QueueNext{})
		if took = append(took, (<-executed).Sub(start)); len(took) == cap(took) {
			took = took[:0]
		}
	}
	reportPercentiles(b, took)
	cancel()
	<-ended
}
