package dispatch_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

// When a lane reaches its bound, the owner is notified once; additive events are dropped,
// but no signal and no terminal event.
func TestLanesAreBounded(t *testing.T) {
	const flood = 60_000
	told := 0
	steps := map[csm.Kind]int{}
	l := dispatch.New(dispatch.Config{
		Clock: &dispatch.Virtual{}, Overflow: func() { told++ },
		Execute: func(s dispatch.Step) { steps[csm.KindOf(s.Envelope.Event)]++ },
	})
	for i := range flood {
		l.Post(csm.CopilotSegment{Request: 1, Start: i, End: i + 1})
	}
	l.Post(csm.CopilotDone{Request: 1})
	for range 100 {
		l.Post(csm.UserInterrupt{})
	}
	if told != 1 {
		t.Errorf("the owner was notified %d times", told)
	}
	l.Drain()
	if n := steps[csm.KindCopilotSegment]; n == 0 || n >= flood/2 {
		t.Errorf("%d of %d segments were taken", n, flood)
	}
	if steps[csm.KindCopilotDone] != 1 || steps[csm.KindUserInterrupt] != 100 {
		t.Errorf("the end was taken %d times, signals %d times", steps[csm.KindCopilotDone], steps[csm.KindUserInterrupt])
	}
	for i := range flood {
		l.Post(csm.CopilotSegment{Request: 2, Start: i, End: i + 1})
	}
	if told != 2 {
		t.Errorf("after there was room again, the owner was notified %d times in total", told)
	}
	for range flood {
		l.Post(csm.UserInterrupt{})
	}
	l.Drain()
	if n := steps[csm.KindUserInterrupt]; n != 100+flood {
		t.Errorf("%d of %d signals were taken", n, 100+flood)
	}
}

// Either lane alone causes backpressure.
func TestEitherLaneCausesBackpressure(t *testing.T) {
	for _, e := range []csm.Event{csm.UserInterrupt{}, csm.CopilotSegment{Request: 1, End: 1}} {
		synctest.Test(t, func(t *testing.T) {
			hold := make(chan struct{})
			l := dispatch.New(dispatch.Config{Clock: &dispatch.Virtual{}, Execute: func(dispatch.Step) { <-hold }})
			go l.Run(t.Context())
			for range 2000 {
				l.Post(e)
			}
			synctest.Wait()
			var goesOn atomic.Bool
			go func() { goesOn.Store(l.Room(t.Context())) }()
			synctest.Wait()
			if goesOn.Load() {
				t.Errorf("there is room with 1,999 times %v waiting", csm.KindOf(e))
			}
			close(hold)
			synctest.Wait()
			if !goesOn.Load() {
				t.Errorf("no room for %v although the lanes are empty", csm.KindOf(e))
			}
		})
	}
}

// A source that can wait is blocked while the loop falls behind, so that the lane stays
// short; it is released when the loop ends.
func TestRoomBlocksSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const posts = 20_000
		var posted, taken atomic.Int64
		hold := make(chan struct{})
		l := dispatch.New(dispatch.Config{
			Clock: &dispatch.Virtual{}, Overflow: func() { t.Error("the lane reached its bound") },
			Execute: func(dispatch.Step) { taken.Add(1); <-hold },
		})
		ctx, stop := context.WithCancel(t.Context())
		go l.Run(ctx)
		l.Post(csm.UserInterrupt{})
		synctest.Wait() // the loop is blocked
		go func() {
			for i := range posts {
				if !l.Room(t.Context()) {
					t.Error("Room gave up")
				}
				l.Post(csm.CopilotSegment{Request: 1, Start: i, End: i + 1})
				posted.Add(1)
			}
		}()
		synctest.Wait() // and so is the source
		if n := posted.Load(); n == 0 || n > 2000 {
			t.Errorf("%d events wait for a loop that stands still", n)
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if l.Room(impatient) {
			t.Error("there is room though the loop stands still")
		}
		close(hold)
		synctest.Wait()
		if posted.Load() != posts || taken.Load() != posts+1 {
			t.Errorf("%d events were posted and %d taken of %d", posted.Load(), taken.Load(), posts+1)
		}
		stop()
		synctest.Wait()
		for range 3000 {
			l.Post(csm.UserInterrupt{})
		}
		if !l.Room(t.Context()) {
			t.Error("a source waits for a loop that has ended")
		}
	})
}
