package csm_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/qmuntal/stateless"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

// conversationEvents are the events of a realistic conversation of three turns,
// one of them interrupted and one over a lost connection, with partial
// transcripts and an answer that comes in many pieces.
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

// BenchmarkStep is the whole step per event: routing, the machine, the action,
// deadlines and effects.
func BenchmarkStep(b *testing.B) {
	events := conversationEvents(b)
	s := csm.Initial()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(events) == 0 {
			s = csm.Initial()
		}
		s, _ = csm.Step(s, events[i%len(events)])
	}
}

// BenchmarkStepPercentiles times each step by itself. The clock's own cost, some
// 50 ns, is in the figures.
func BenchmarkStepPercentiles(b *testing.B) {
	events := conversationEvents(b)
	s := csm.Initial()
	took := make([]time.Duration, 0, 1<<20)
	for i := 0; b.Loop(); i++ {
		if i%len(events) == 0 {
			s = csm.Initial()
		}
		start := time.Now()
		s, _ = csm.Step(s, events[i%len(events)])
		if took = append(took, time.Since(start)); len(took) == cap(took) {
			took = took[:0]
		}
	}
	reportPercentiles(b, took)
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

// BenchmarkStatelessFire is the library alone: external storage, a guard that
// holds and one that does not, an entry action, two states.
func BenchmarkStatelessFire(b *testing.B) {
	state := stateless.State(0)
	m := stateless.NewStateMachineWithExternalStorage(
		func(context.Context) (stateless.State, error) { return state, nil },
		func(_ context.Context, s stateless.State) error { state = s; return nil },
		stateless.FiringImmediate)
	for s := range 2 {
		m.Configure(s).
			Permit("go", 1-s, func(context.Context, ...any) bool { return true }).
			Permit("go", 2, func(context.Context, ...any) bool { return false }).
			OnEntry(func(context.Context, ...any) error { return nil })
	}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := m.FireCtx(ctx, "go"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSwitch is the same by hand.
func BenchmarkSwitch(b *testing.B) {
	entry := func() error { return nil }
	state := 0
	b.ReportAllocs()
	for b.Loop() {
		switch state {
		case 0:
			state = 1
		case 1:
			state = 0
		}
		if err := entry(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDispatch is from Post to Execute, on another goroutine.
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
