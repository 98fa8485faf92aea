package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

// flaky is an adapter whose attempts end as the test defines; the first attempt is 1.
type flaky struct {
	copilot.Adapter
	attempt func(ctx context.Context, n int, emit func(string)) error
}

func (f flaky) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	return f.attempt(ctx, r.Attempt, emit)
}

// busy returns a retryable error with the delay that the service asks for.
func busy(after time.Duration) error {
	return &copilot.Error{Code: "copilotUnavailable", Retryable: true, After: after}
}

// A retry waits 250 ms, doubled each time, or as long as the service asks for, within
// the retry limit and the core's deadline. A round ends once, whatever its attempts do.
// The times are exact, because the clock is virtual.
func TestPER004RetriesWaitTwiceAsLongEachTime(t *testing.T) {
	const ms = time.Millisecond
	always := func(err error) func(int) error { return func(int) error { return err } }
	for name, c := range map[string]struct {
		deadline time.Duration
		retries  int
		fails    func(attempt int) error
		says     string          // output of each attempt before it fails
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
						emit("") // a sign of life retracts nothing
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

// retrying returns an assistant without a core.
func retrying(t *testing.T, clock dispatch.Clock, attempt func(context.Context, int, func(string)) error) *assistant {
	a := newAssistant(newIdle(t, nil), flaky{attempt: attempt})
	a.clock = clock
	t.Cleanup(a.close)
	return a
}

// A cancelled request ends at once as cancelled. During the pause before an attempt, that
// attempt is not made.
func TestCancelEndsThePauseBeforeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := dispatch.NewClock(1)
		attempts := 0
		a := retrying(t, clock, func(context.Context, int, func(string)) error { attempts++; return busy(time.Minute) })
		posted := make(chan csm.Event, 4)
		a.post = func(e csm.Event) { posted <- e }
		a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
		<-posted // the request was sent
		time.Sleep(time.Second)
		synctest.Wait()
		if !a.settled(nobody{}) {
			t.Error("a request that sleeps until the clock wakes it does not count as settled")
		}
		if len(a.stirred) != 1 {
			t.Error("nobody was told that it sleeps")
		}
		a.cancel(requestID(7))
		if got, want := <-posted, (csm.CopilotDone{Request: 7, Cancelled: true}); got != want || clock.Now() != time.Second || attempts != 1 {
			t.Errorf("%+v after %v and %d attempts, want %+v after 1 s and one", got, clock.Now(), attempts, want)
		}
	})
}

// A cancelled attempt is not repeated, and its later output does not end the answer.
func TestCancelEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := dispatch.NewClock(1)
		a := retrying(t, clock, func(ctx context.Context, n int, emit func(string)) error {
			emit("Half a sentence")
			<-ctx.Done()
			return nil // too late to cancel it
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

// patient is a service that everything waits for.
type patient struct{ nobody }

func (patient) Waits(string) bool { return true }

// The next round of a request can be cancelled separately, even if it begins before the
// previous one is removed.
func TestTheNextRoundCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rounds := 0
		a := retrying(t, dispatch.NewClock(1), func(ctx context.Context, _ int, _ func(string)) error {
			if rounds++; rounds == 2 {
				<-ctx.Done()
			}
			return nil
		})
		var done []csm.CopilotDone
		a.post = func(e csm.Event) {
			if e, ok := e.(csm.CopilotDone); ok {
				if done = append(done, e); len(done) == 1 {
					a.send(csm.SendCopilot{Request: 7, Round: 1, Deadline: time.Hour}, "")
				}
			}
		}
		a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
		synctest.Wait()
		a.cancel(requestID(7))
		synctest.Wait()
		if want := []csm.CopilotDone{{Request: 7}, {Request: 7, Round: 1, Cancelled: true}}; !slices.Equal(done, want) {
			t.Errorf("it ended with %+v, want %+v", done, want)
		}
	})
}

// What waits for its service is settled. A cancelled request is not settled until it has
// ended, except for a tool, whose end is still waited for. Close waits for everything.
func TestWhatIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt, ended := 0, false
		a := retrying(t, dispatch.NewClock(1), func(ctx context.Context, n int, _ func(string)) error {
			if attempt = n; n == 1 {
				return busy(0)
			}
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return nil
		})
		a.post = func(csm.Event) {}
		a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
		time.Sleep(time.Second)
		synctest.Wait()
		if attempt != 2 || a.settled(nobody{}) || !a.settled(patient{}) {
			t.Errorf("attempt %d, settled %v without a service and %v with one", attempt, a.settled(nobody{}), a.settled(patient{}))
		}
		a.cancel(requestID(7))
		synctest.Wait()
		if a.settled(patient{}) {
			t.Error("a request that was cancelled and goes on is settled")
		}
		for len(a.stirred) > 0 {
			<-a.stirred
		}
		if a.close(); !ended || len(a.stirred) != 1 || !a.settled(nobody{}) {
			t.Error("something goes on after the end, or nobody was told of it")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ad := &able{call: func(ctx, _ context.Context) (string, error) { <-ctx.Done(); return "", nil }}
		a := newAssistant(newIdle(t, nil), ad)
		a.post = func(csm.Event) {}
		id := a.content.newCall(1, copilot.ToolCall{ID: "c"})
		a.callTool(csm.CallTool{ToolCall: id})
		a.cancelTool(id)
		a.cancelTool(id + 1)
		if !a.settled(patient{}) || a.settled(nobody{}) {
			t.Error("a tool that was cancelled and is waited for is not settled")
		}
		a.close()
	})
}

// tooled is an adapter that can run tools.
type tooled struct {
	*able
	send func(r copilot.Request, emit func(string)) error
}

func (a tooled) Send(_ context.Context, r copilot.Request, emit func(string)) error {
	return a.send(r, emit)
}

// The outcome of an attempt determines what is posted: half a sentence of a failed
// answer is spoken, but not of a cancelled one, a call is not requested twice, and output
// without room, or calls for an adapter without tools, are dropped.
func TestWhatIsPostedOfAnAttempt(t *testing.T) {
	posts := func(t *testing.T, adapter copilot.Adapter, room bool) (calls, segments, deltas, attempts int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			a := newAssistant(newIdle(t, nil), adapter)
			a.clock = dispatch.NewClock(1)
			a.room = func(context.Context) bool { return room }
			a.post = func(e csm.Event) {
				switch e.(type) {
				case csm.CopilotToolCall:
					calls++
				case csm.CopilotSegment:
					segments++
				case csm.CopilotDelta:
					deltas++
				case csm.CopilotSent:
					attempts++
				default:
				}
			}
			a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
			a.wg.Wait()
			a.close()
		})
		return calls, segments, deltas, attempts
	}
	for name, c := range map[string]struct {
		adapter                           copilot.Adapter
		noRoom                            bool
		calls, segments, deltas, attempts int
	}{
		"half a sentence, then a failure":  {flaky{attempt: func(_ context.Context, _ int, emit func(string)) error { emit("Half a"); return busy(0) }}, false, 0, 1, 1, 1},
		"half a sentence, and its end":     {flaky{attempt: func(_ context.Context, _ int, emit func(string)) error { emit("Half a"); return nil }}, false, 0, 1, 1, 1},
		"a rule, of which nothing is said": {flaky{attempt: func(_ context.Context, _ int, emit func(string)) error { emit("Fine then.\n\n---\n"); return nil }}, false, 0, 1, 1, 1},
		"a call, then a failure":           {tooled{&able{}, func(r copilot.Request, _ func(string)) error { r.Wants(copilot.ToolCall{ID: "c"}); return busy(0) }}, false, 1, 0, 0, 1},
		"no room": {tooled{&able{}, func(r copilot.Request, emit func(string)) error {
			r.Wants(copilot.ToolCall{ID: "c"})
			emit("Half a")
			return nil
		}}, true, 0, 0, 0, 1},
	} {
		calls, segments, deltas, attempts := posts(t, c.adapter, !c.noRoom)
		if calls != c.calls || segments != c.segments || deltas != c.deltas || attempts != c.attempts {
			t.Errorf("%s: %d calls, %d segments, %d deltas, %d attempts", name, calls, segments, deltas, attempts)
		}
	}
	posts(t, asksWithoutTools{t: t}, true)
}

// asksWithoutTools is an adapter without tools that records its input.
type asksWithoutTools struct {
	copilot.Adapter
	t *testing.T
}

func (a asksWithoutTools) Send(_ context.Context, r copilot.Request, _ func(string)) error {
	if r.Wants != nil {
		a.t.Error("an adapter that cannot carry tools out may ask for them")
	}
	return nil
}

// The segments of an answer are contiguous to its end across its rounds, which are
// paragraphs.
func TestSegmentsFollowOneAnother(t *testing.T) {
	rounds := []string{"Ünïcödé is counted by runes here. So the test passes now, I think.", "That was the second round. And this is its end."}
	c := newContent()
	at, spoken := 0, newIdle(t, nil).spokenAs()
	for round, text := range rounds {
		s := newSegmenter(c, 1, round, func(e csm.Event) {
			if seg, ok := e.(csm.CopilotSegment); ok {
				if between := seg.Start - at; between != 0 && (between != 2 || at != utf8.RuneCountInString(rounds[0])) || seg.End <= at {
					t.Errorf("round %d: a segment from %d to %d, after one that ended at %d", round, seg.Start, seg.End, at)
				}
				at = seg.End
			}
		}, spoken)
		s.push(text)
		s.flush()
	}
	if n := utf8.RuneCountInString(rounds[0] + "\n\n" + rounds[1]); at != n {
		t.Errorf("the segments end at %d of %d characters", at, n)
	}
}

// The prompt contains what was said; empty entries are not messages.
func TestThePromptHoldsWhatWasSaid(t *testing.T) {
	c := newContent()
	if got := c.prompt(csm.SendCopilot{Request: 1, Utterance: 9}); len(got) != 0 {
		t.Errorf("of nothing it is %+v", got)
	}
	c.setUtterance(1, "Hello there.")
	if got := c.prompt(csm.SendCopilot{Request: 1, Utterance: 1}); len(got) != 1 || got[0].Content != "Hello there." {
		t.Errorf("it is %+v", got)
	}
	if got := c.prompt(csm.SendCopilot{Request: 1, Utterance: 1, Round: 1}); len(got) != 0 {
		t.Errorf("of a later round it is %+v", got)
	}
}
