package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

const ms = time.Millisecond

// recorded returns a loop that records its steps.
func recorded(c dispatch.Clock, answer func(csm.Effect, func(csm.Event))) (*dispatch.Loop, *[]dispatch.Step) {
	var steps []dispatch.Step
	var l *dispatch.Loop
	l = dispatch.New(dispatch.Config{Clock: c, Execute: func(s dispatch.Step) {
		steps = append(steps, s)
		for _, f := range s.Effects {
			if answer != nil {
				answer(f, l.Post)
			}
		}
	}})
	return l, &steps
}

func kinds(steps []dispatch.Step) []csm.Kind {
	out := make([]csm.Kind, len(steps))
	for i, s := range steps {
		out[i] = csm.KindOf(s.Envelope.Event)
	}
	return out
}

// Signals go first; within a lane the order is that of Post, and sequence numbers follow
// the order of delivery.
func TestSignalsGoFirstAndLanesAreFIFO(t *testing.T) {
	l, steps := recorded(&dispatch.Virtual{}, nil)
	l.Post(csm.CopilotSent{Request: 1})
	l.Post(csm.CopilotDone{Request: 1})
	l.Post(csm.SpeechStarted{Utterance: 1})
	l.Post(csm.TimerFired{Timer: csm.TimerResponse})
	l.Post(csm.TimerFired{Timer: csm.TimerInterrupt})
	l.Post(csm.UserInterrupt{})
	if l.Idle() {
		t.Fatal("idle with six events waiting")
	}
	l.Drain()
	want := []csm.Kind{csm.KindSpeechStarted, csm.KindTimerFired, csm.KindUserInterrupt, csm.KindCopilotSent, csm.KindCopilotDone, csm.KindTimerFired}
	if got := kinds(*steps); !slices.Equal(got, want) {
		t.Fatalf("went as %v, want %v", got, want)
	}
	for i, s := range *steps {
		if s.Envelope.Seq != uint64(i)+1 {
			t.Errorf("step %d has sequence number %d", i, s.Envelope.Seq)
		}
	}
	if (*steps)[1].Envelope.Event != (csm.TimerFired{Timer: csm.TimerInterrupt}) {
		t.Error("the deadline of a request overtook the data")
	}
	if !l.Idle() {
		t.Error("not idle after Drain")
	}
}

// A signal that a step posts precedes waiting data.
func TestFollowUpSignalPrecedesData(t *testing.T) {
	l, steps := recorded(&dispatch.Virtual{}, func(f csm.Effect, post func(csm.Event)) {
		if r, ok := f.(csm.Reply); ok && r.Call == 1 {
			post(csm.UserStop{Call: 2})
		}
	})
	l.Post(csm.ConnReady{Epoch: 9})
	l.Post(csm.UserStart{Call: 1})
	l.Drain()
	want := []csm.Kind{csm.KindUserStart, csm.KindUserStop, csm.KindConnReady}
	if got := kinds(*steps); !slices.Equal(got, want) {
		t.Fatalf("went as %v, want %v", got, want)
	}
}

func TestAdjacentCumulativeEventsAreMerged(t *testing.T) {
	l, steps := recorded(&dispatch.Virtual{}, nil)
	for words := 1; words <= 3; words++ {
		l.Post(csm.Partial{Epoch: 1, Utterance: 5, Words: words})
	}
	l.Post(csm.Partial{Epoch: 1, Utterance: 6, Words: 1}) // another utterance
	l.Post(csm.Partial{Epoch: 2, Utterance: 6, Words: 2}) // another connection
	l.Post(csm.CopilotDelta{Request: 1, Chars: 10})
	l.Post(csm.CopilotDelta{Request: 1, Chars: 30, Coalesced: 4})
	l.Post(csm.CopilotDelta{Request: 2, Chars: 5})
	l.Post(csm.CopilotDelta{Request: 2, Round: 1, Chars: 6}) // another round
	l.Post(csm.CopilotSegment{Request: 2, End: 5})
	l.Post(csm.CopilotDelta{Request: 2, Chars: 9}) // not adjacent to the previous one
	l.Post(csm.CopilotSegment{Request: 2, Start: 5, End: 9})
	l.Post(csm.CopilotSegment{Request: 2, Start: 5, End: 9}) // never merged
	l.Drain()
	want := []csm.Event{
		csm.Partial{Epoch: 1, Utterance: 5, Words: 3, Coalesced: 2},
		csm.Partial{Epoch: 1, Utterance: 6, Words: 1},
		csm.Partial{Epoch: 2, Utterance: 6, Words: 2},
		csm.CopilotDelta{Request: 1, Chars: 30, Coalesced: 5},
		csm.CopilotDelta{Request: 2, Chars: 5},
		csm.CopilotDelta{Request: 2, Round: 1, Chars: 6},
		csm.CopilotSegment{Request: 2, End: 5},
		csm.CopilotDelta{Request: 2, Chars: 9},
		csm.CopilotSegment{Request: 2, Start: 5, End: 9},
		csm.CopilotSegment{Request: 2, Start: 5, End: 9},
	}
	for i, s := range *steps {
		if i >= len(want) || s.Envelope.Event != want[i] {
			t.Errorf("event %d is %+v", i, s.Envelope.Event)
		}
	}
	if len(*steps) != len(want) {
		t.Errorf("%d events, want %d", len(*steps), len(want))
	}
}

// A cursor of generation 0 is not merged with other events, nor is any other event with
// zero fields.
func TestOtherEventsAreNotMerged(t *testing.T) {
	for _, e := range []csm.Event{csm.SpeechCursor{}, csm.CopilotDelta{}, csm.Partial{}} {
		l, steps := recorded(&dispatch.Virtual{}, nil)
		l.Post(csm.CopilotDone{Request: 1})
		l.Post(e)
		if l.Drain(); len(*steps) != 2 {
			t.Errorf("%v and another event went as %v", csm.KindOf(e), kinds(*steps))
		}
	}
}

func TestIdleMeansBothLanesEmpty(t *testing.T) {
	for _, e := range []csm.Event{csm.UserStart{}, csm.CopilotDone{}} {
		l, _ := recorded(&dispatch.Virtual{}, nil)
		if l.Post(e); l.Idle() {
			t.Errorf("%v waits on lane %v, and the loop says it is idle", csm.KindOf(e), csm.LaneOf(e))
		}
		if l.Drain(); !l.Idle() {
			t.Error("nothing waits, and the loop says it is not idle")
		}
	}
}

// On the virtual clock no deadline fires early or late, and a stopped one does not fire.
func TestTimersFireAtTheirExactTimes(t *testing.T) {
	clock := &dispatch.Virtual{}
	l, steps := recorded(clock, nil)
	l.Post(csm.UserStart{})
	clock.Advance(9999*ms, l.Drain)
	if n := len(*steps); n != 1 {
		t.Fatalf("%d steps before the deadline", n)
	}
	clock.Advance(1*ms, l.Drain)
	if got := (*steps)[1].Envelope; got.At != 10*time.Second || got.Event != (csm.TimerFired{Timer: csm.TimerStart, Gen: 1}) {
		t.Fatalf("got %+v", got)
	}
	// The recovery timer fires at its own exact time.
	clock.Advance(500*ms, l.Drain)
	if got := (*steps)[2].Envelope; got.At != 10500*ms || got.Event != (csm.TimerFired{Timer: csm.TimerFault, Gen: 1}) {
		t.Fatalf("got %+v", got)
	}
	n := len(*steps)
	l.Post(csm.UserStop{})
	clock.Advance(time.Minute, l.Drain)
	for _, s := range (*steps)[n:] {
		if f, ok := s.Envelope.Event.(csm.TimerFired); ok && f.Timer != csm.TimerTerminate {
			t.Errorf("timer %v fired after it was stopped", f.Timer)
		}
	}
	if got := clock.Now(); got != 70500*ms {
		t.Errorf("the clock shows %v", got)
	}
}

func TestVirtualClockKeepsTheOrderOfCalls(t *testing.T) {
	clock := &dispatch.Virtual{}
	var got []string
	at := func(d time.Duration, name string) func() {
		return clock.AfterFunc(d, func() { got = append(got, fmt.Sprint(name, " ", clock.Now())) })
	}
	at(20*ms, "b")
	at(10*ms, "a")
	at(20*ms, "c")
	at(15*ms, "stopped")()
	at(-5*ms, "now")
	clock.AfterFunc(10*ms, func() { at(10*ms, "d") })
	clock.Advance(20*ms, func() {})
	if want := []string{"now 0s", "a 10ms", "b 20ms", "c 20ms", "d 20ms"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

// Times are whole microseconds: the journal records what the core saw.
func TestTimesAreWholeMicroseconds(t *testing.T) {
	clock := &dispatch.Virtual{}
	l, steps := recorded(clock, nil)
	clock.Advance(1234567*time.Nanosecond, l.Drain)
	l.Post(csm.UserStart{})
	l.Drain()
	if at := (*steps)[0].Envelope.At; at != 1234*time.Microsecond {
		t.Errorf("at %v", at)
	}
}

func TestRunEndsWithItsContextAndStopsTimers(t *testing.T) {
	stopped := make(chan csm.Timer, csm.NumTimers)
	clock := &watched{Clock: &dispatch.Virtual{}, stopped: func() { stopped <- 0 }}
	executed := make(chan csm.Kind, 4)
	l := dispatch.New(dispatch.Config{Clock: clock, Execute: func(s dispatch.Step) { executed <- csm.KindOf(s.Envelope.Event) }})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	l.Post(csm.UserStart{})
	if k := <-executed; k != csm.KindUserStart {
		t.Fatalf("executed %v", k)
	}
	select {
	case <-ended:
		t.Fatal("ended before its context")
	case <-stopped:
		t.Fatal("a live timer was stopped")
	default:
	}
	cancel()
	<-ended
	if n := len(stopped); n != 1 {
		t.Errorf("%d timers stopped, want the one that ran", n)
	}
}

// watched records when a timer is stopped.
type watched struct {
	dispatch.Clock
	stopped func()
}

func (w *watched) AfterFunc(d time.Duration, f func()) func() {
	stop := w.Clock.AfterFunc(d, f)
	return func() { stop(); w.stopped() }
}

// Concurrent posts lose nothing and keep each goroutine's order.
func TestPostFromManyGoroutines(t *testing.T) {
	const posters, each = 16, 300
	var got [posters][]uint64
	total := 0
	done := make(chan struct{})
	l := dispatch.New(dispatch.Config{Clock: dispatch.NewClock(1), Execute: func(s dispatch.Step) {
		e := s.Envelope.Event.(csm.UserSpeak)
		got[e.Chars] = append(got[e.Chars], e.Ref)
		if total++; total == posters*each {
			close(done)
		}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	var wg sync.WaitGroup
	for p := range posters {
		wg.Go(func() {
			for n := range uint64(each) {
				l.Post(csm.UserSpeak{Chars: p, Ref: n})
				_ = l.State() // State may be called concurrently
			}
		})
	}
	wg.Wait()
	<-done
	cancel()
	<-ended
	for p := range posters {
		if len(got[p]) != each || !slices.IsSorted(got[p]) {
			t.Errorf("poster %d: %d events, in order: %v", p, len(got[p]), slices.IsSorted(got[p]))
		}
	}
	if s := l.State(); s.Counters.Ignored != posters*each {
		t.Errorf("%d counted", s.Counters.Ignored)
	}
}

// Real deadlines run on the clock's time, speed times as fast.
func TestRealClockIsFasterBySpeed(t *testing.T) {
	c := dispatch.NewClock(1000)
	start := time.Now()
	fired := make(chan time.Duration, 1)
	c.AfterFunc(2*time.Second, func() { fired <- c.Now() })
	if at := <-fired; at < 2*time.Second {
		t.Errorf("fired at %v", at)
	}
	if wall := time.Since(start); wall < 2*ms || wall > time.Second {
		t.Errorf("took %v", wall)
	}
	c.AfterFunc(time.Hour, func() { t.Error("a stopped call was made") })()
}

// journalOf records the order of calls.
type journalOf struct{ order *[]string }

func (j journalOf) Event(e csm.Envelope) { *j.order = append(*j.order, fmt.Sprint("event ", e.Seq)) }
func (j journalOf) Outcome(s csm.State, _ []csm.Effect) {
	*j.order = append(*j.order, fmt.Sprint("outcome in ", s.Phase()))
}
func (j journalOf) Flush(context.Context) { *j.order = append(*j.order, "flush") }

// The journal receives each outcome before its effects are executed.
func TestJournalComesBeforeExecute(t *testing.T) {
	var order []string
	l := dispatch.New(dispatch.Config{
		Clock:   &dispatch.Virtual{},
		Journal: journalOf{&order},
		Execute: func(s dispatch.Step) { order = append(order, fmt.Sprint("execute ", s.Envelope.Seq)) },
		Verify:  true,
	})
	l.Post(csm.UserStart{Call: 1})
	l.Post(csm.UserStop{Call: 2})
	l.Drain()
	want := []string{"event 1", "outcome in Idle", "execute 1", "event 2", "outcome in Terminating", "execute 2"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q", order)
	}
}

// An onset's delay counts up to its step, so it includes the time on the lane. An unknown
// delay stays unknown.
func TestDelayOfAnOnsetIncludesTheLane(t *testing.T) {
	clock := &dispatch.Virtual{}
	l, steps := recorded(clock, nil)
	clock.Advance(time.Second, l.Drain)
	l.Post(csm.SpeechStarted{Utterance: 1, Late: 60 * ms})
	l.Post(csm.SpeechStarted{Utterance: 2})
	clock.Advance(40*ms, func() {})
	l.Drain()
	for i, want := range []time.Duration{100 * ms, 0} {
		if got := (*steps)[i].Envelope.Event.(csm.SpeechStarted).Late; got != want {
			t.Errorf("onset %d is %v late, want %v", i, got, want)
		}
	}
}
