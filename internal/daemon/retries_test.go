package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

// flaky is an adapter whose attempts end as the test says; the first is 1.
type flaky struct {
	copilot.Adapter
	attempt func(ctx context.Context, n int, emit func(string)) error
}

func (f flaky) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	return f.attempt(ctx, r.Attempt, emit)
}

// busy is what may be tried again, after a pause that the service asks for.
func busy(after time.Duration) error {
	return &copilot.Error{Code: "copilotUnavailable", Retryable: true, After: after}
}

// What is tried again waits 250 ms, and twice as long each time, or as long as the
// service asks for; within the number of retries and the time that the core waits. A
// round ends once, whatever becomes of its attempts. The times are exact: the clock
// is virtual.
func TestPER004RetriesWaitTwiceAsLongEachTime(t *testing.T) {
	const ms = time.Millisecond
	always := func(err error) func(int) error { return func(int) error { return err } }
	for name, c := range map[string]struct {
		deadline time.Duration
		retries  int
		fails    func(attempt int) error
		says     string          // what each attempt emits before it fails
		at       []time.Duration // of the attempts
		code     csm.Code
	}{
		"all":                            {8 * time.Second, 5, always(busy(0)), "", []time.Duration{0, 250 * ms, 750 * ms, 1750 * ms, 3750 * ms, 7750 * ms}, csm.CodeCopilotUnavailable},
		"two":                            {8 * time.Second, 2, always(busy(0)), "", []time.Duration{0, 250 * ms, 750 * ms}, csm.CodeCopilotUnavailable},
		"none":                           {8 * time.Second, 0, always(busy(0)), "", []time.Duration{0}, csm.CodeCopilotUnavailable},
		"in time":                        {7 * time.Second, 5, always(busy(0)), "", []time.Duration{0, 250 * ms, 750 * ms, 1750 * ms, 3750 * ms}, csm.CodeCopilotUnavailable},
		"to the ms":                      {750*ms + 1, 5, always(busy(0)), "", []time.Duration{0, 250 * ms, 750 * ms}, csm.CodeCopilotUnavailable},
		"too late":                       {750 * ms, 5, always(busy(0)), "", []time.Duration{0, 250 * ms}, csm.CodeCopilotUnavailable},
		"as asked":                       {8 * time.Second, 5, always(busy(900 * ms)), "", []time.Duration{0, 900 * ms, 1800 * ms, 2800 * ms, 4800 * ms}, csm.CodeCopilotUnavailable},
		"asked for longer than there is": {8 * time.Second, 5, always(busy(8 * time.Second)), "", []time.Duration{0}, csm.CodeCopilotUnavailable},
		"for good":                       {8 * time.Second, 5, always(&copilot.Error{Code: "copilotQuota", After: 1}), "", []time.Duration{0}, csm.CodeCopilotQuota},
		"a code of its own":              {8 * time.Second, 5, always(&copilot.Error{Code: "a code of its own"}), "", []time.Duration{0}, csm.CodeCopilotFailed},
		"an error of another kind":       {8 * time.Second, 5, always(errors.New("broken")), "", []time.Duration{0}, csm.CodeCopilotFailed},
		"after words":                    {8 * time.Second, 5, always(busy(0)), "Well, ", []time.Duration{0}, csm.CodeCopilotUnavailable},
		"the third is well": {8 * time.Second, 5, func(n int) error {
			if n == 3 {
				return nil
			}
			return busy(0)
		}, "", []time.Duration{0, 250 * ms, 750 * ms}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := dispatch.NewClock(1)
				var at []time.Duration
				var sent []int
				var done []csm.CopilotDone
				a := retrying(t, clock, func(_ context.Context, n int, emit func(string)) error {
					at = append(at, clock.Now())
					if emit(""); c.says != "" {
						emit(c.says)
					}
					return c.fails(n)
				})
				a.retries = func() int { return c.retries }
				a.post = func(e csm.Event) {
					switch e := e.(type) {
					case csm.CopilotSent:
						sent = append(sent, e.Attempt)
					case csm.CopilotDone:
						done = append(done, e)
					default:
					}
				}
				a.send(csm.SendCopilot{Request: 7, Round: 1, Deadline: c.deadline}, "")
				a.wg.Wait()
				if !slices.Equal(at, c.at) {
					t.Errorf("attempts at %v, want %v", at, c.at)
				}
				for i, n := range sent {
					if n != i+1 || len(sent) != len(at) {
						t.Errorf("the core was told of attempts %v", sent)
					}
				}
				if want := []csm.CopilotDone{{Request: 7, Round: 1, Code: c.code}}; !slices.Equal(done, want) {
					t.Errorf("it ended with %+v, want %+v", done, want)
				}
				if len(a.live) != 0 {
					t.Errorf("%d requests are still live", len(a.live))
				}
			})
		})
	}
}

// retrying is an assistant without a core.
func retrying(t *testing.T, clock dispatch.Clock, attempt func(context.Context, int, func(string)) error) *assistant {
	a := newAssistant(newIdle(t, nil), flaky{attempt: attempt})
	a.clock = clock
	t.Cleanup(a.close)
	return a
}

// A request that is cancelled ends at once as cancelled, also in the pause before an
// attempt, which is then not made.
func TestCancelEndsThePauseBeforeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := dispatch.NewClock(1)
		attempts := 0
		a := retrying(t, clock, func(context.Context, int, func(string)) error { attempts++; return busy(time.Minute) })
		posted := make(chan csm.Event, 4)
		a.post = func(e csm.Event) { posted <- e }
		a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
		<-posted // that it was sent
		time.Sleep(time.Second)
		synctest.Wait()
		if !a.settled(nobody{}) {
			t.Error("a request that sleeps until the clock wakes it does not count as settled")
		}
		a.cancel(requestID(7))
		if got, want := <-posted, (csm.CopilotDone{Request: 7, Cancelled: true}); got != want || clock.Now() != time.Second || attempts != 1 {
			t.Errorf("%+v after %v and %d attempts, want %+v after 1 s and one", got, clock.Now(), attempts, want)
		}
	})
}

// An attempt that is cancelled is not made again, and what it emits afterwards is not
// an answer's end.
func TestCancelEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := dispatch.NewClock(1)
		a := retrying(t, clock, func(ctx context.Context, n int, emit func(string)) error {
			emit("Half a sentence")
			<-ctx.Done()
			return busy(0)
		})
		var posted []csm.Event
		a.post = func(e csm.Event) { posted = append(posted, e) }
		a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
		synctest.Wait()
		if a.settled(nobody{}) {
			t.Error("an attempt that waits for nobody counts as settled")
		}
		a.cancel(requestID(7))
		synctest.Wait()
		want := []csm.Event{csm.CopilotSent{Request: 7, Attempt: 1}, csm.CopilotDelta{Request: 7, Chars: 15}, csm.CopilotDone{Request: 7, Cancelled: true}}
		if !slices.Equal(posted, want) || clock.Now() != 0 {
			t.Errorf("posted %+v after %v, want %+v at once", posted, clock.Now(), want)
		}
	})
}

// nobody is a service that nothing waits for.
type nobody struct{}

func (nobody) Waits(string) bool        { return false }
func (nobody) Stirred() <-chan struct{} { return nil }
