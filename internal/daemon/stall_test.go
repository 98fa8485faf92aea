package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// slow is an adapter that passes its calls to the test.
type slow struct {
	copilot.Adapter
	send func(ctx context.Context, emit func(string)) error
}

func (s slow) Send(ctx context.Context, _ copilot.Request, emit func(string)) error {
	return s.send(ctx, emit)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const second = time.Second

// stalls are answers that stop, and what is made of them.
var stalls = []struct {
	name   string
	round  int
	first  string // "" for no sign
	signs  bool   // a sign of life after the first words
	stops  []time.Duration
	log    []string // at what second what happened
	done   csm.Code
	end    protocol.AnswerEnd
	answer string
}{
	{"a short pause", 0, "One. ", false, []time.Duration{14 * second}, []string{"7.5 alive"}, "", protocol.EndWhole, "One. more. "},
	{"no pause", 0, "One. ", false, []time.Duration{7 * second, 7 * second}, nil, "", protocol.EndWhole, "One. more. more. "},
	{"the rest after 17 s", 0, "One. ", false, []time.Duration{17 * second}, []string{"7.5 alive", "15 alive", "15 tells", "17 resumed"}, "", protocol.EndWhole, "One. more. "},
	{"the rest after 59 s, twice", 0, "One. ", false, []time.Duration{59 * second, 16 * second}, []string{
		"7.5 alive", "15 alive", "15 tells", "22.5 alive", "30 alive", "37.5 alive", "45 alive", "52.5 alive", "59 resumed",
		"66.5 alive", "74 alive", "74 tells", "75 resumed",
	}, "", protocol.EndWhole, "One. more. more. "},
	{"no rest", 0, "One. ", false, []time.Duration{time.Hour}, []string{
		"7.5 alive", "15 alive", "15 tells", "22.5 alive", "30 alive", "37.5 alive", "45 alive", "52.5 alive", "60 resumed",
	}, csm.CodeCopilotStalled, protocol.EndStall, "One. "},
	{"no sign at all", 0, "", false, []time.Duration{time.Hour}, nil, "", protocol.EndWhole, "more. "}, // the core's deadline ends it
	{"a later round", 1, "", false, []time.Duration{17 * second}, []string{"7.5 alive", "15 alive", "15 tells", "17 resumed"}, "", protocol.EndWhole, "more. "},
	{"no later round", 1, "", false, []time.Duration{time.Hour}, []string{
		"7.5 alive", "15 alive", "15 tells", "22.5 alive", "30 alive", "37.5 alive", "45 alive", "52.5 alive", "60 resumed",
	}, csm.CodeCopilotStalled, "", ""},
}

// An answer that has stopped is awaited for four times the stall time. Signs of life keep
// the core from cancelling it, and the user is told once for each stop.
func TestAnswerThatHasStoppedIsAwaited(t *testing.T) {
	for _, tt := range stalls {
		synctest.Test(t, func(t *testing.T) {
			clock := dispatch.NewClock(1)
			var mu sync.Mutex // guards log and told
			var log []string
			write := func(what string) { log = append(log, fmt.Sprintf("%v %s", clock.Now().Seconds(), what)) }
			a := newAssistant(newIdle(t, nil), slow{send: func(ctx context.Context, emit func(string)) error {
				if tt.first != "" {
					emit(tt.first)
				}
				for _, d := range tt.stops {
					if err := pause(ctx, d); err != nil {
						return err
					}
					emit("more. ")
				}
				return nil
			}})
			a.clock = clock
			var done csm.CopilotDone
			told := 0
			locked := func(do func()) {
				mu.Lock()
				defer mu.Unlock()
				do()
			}
			a.post = func(e csm.Event) {
				mu.Lock()
				defer mu.Unlock()
				switch e := e.(type) {
				case csm.CopilotDelta:
					if text := a.content.answer(1, -1); len(text) == told {
						write("alive")
					} else {
						told = len(text)
					}
				case csm.CopilotDone:
					done = e
				default:
				}
			}
			a.room = func(ctx context.Context) bool { return ctx.Err() == nil }
			a.doing = func(copilot.Activity) { locked(func() { write("tells") }) }
			a.resumed = func() { locked(func() { write("resumed") }) }
			a.send(csm.SendCopilot{Request: 1, Round: tt.round, Deadline: time.Hour}, "")
			a.wg.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(log, tt.log) {
				t.Errorf("%s: %q, want %q", tt.name, log, tt.log)
			}
			if done.Code != tt.done || done.Cancelled || a.content.end(1) != tt.end || a.content.answer(1, -1) != tt.answer {
				t.Errorf("%s: %+v, end %q, answer %q", tt.name, done, a.content.end(1), a.content.answer(1, -1))
			}
			a.close()
			time.Sleep(time.Hour) // no timer is left
			if len(log) != len(tt.log) {
				t.Errorf("%s: afterwards %q", tt.name, log)
			}
		})
	}
}

// A request that is cancelled while its answer has stopped ends as cancelled.
func TestCancelDuringAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAssistant(newIdle(t, nil), slow{send: func(ctx context.Context, emit func(string)) error {
			emit("One. ")
			return pause(ctx, time.Hour)
		}})
		a.clock = dispatch.NewClock(1)
		var done csm.CopilotDone
		a.post = func(e csm.Event) {
			if e, ok := e.(csm.CopilotDone); ok {
				done = e
			}
		}
		a.room = func(context.Context) bool { return true }
		a.send(csm.SendCopilot{Request: 1, Deadline: time.Hour}, "")
		time.Sleep(20 * time.Second)
		a.cancel(requestID(1))
		a.wg.Wait()
		if !done.Cancelled || done.Code != "" {
			t.Errorf("ended as %+v, want cancelled", done)
		}
		a.close()
	})
}

// What is awaited is said when it is quiet, again if the answer stops again, and not after
// the rest has come.
func TestAwaitedRestIsSaid(t *testing.T) {
	for l, want := range map[protocol.Locale]string{
		protocol.English: "The answer has stopped. I am waiting for the rest.", protocol.German: "Die Antwort stockt. Ich warte auf den Rest.",
		protocol.Japanese: "回答が止まっています。続きを待っています。",
	} {
		k := newTask(t, l)
		k.works(15 * time.Second)
		k.does(copilot.Awaiting, restID)
		k.works(time.Second)
		k.said(want)
		k.d.narrator.resumed()
		k.works(20 * time.Second)
		k.does(copilot.Awaiting, restID)
		k.works(time.Second)
		k.d.narrator.resumed()
		k.works(time.Minute)
		k.said()
		k.does(copilot.Awaiting, restID)
		k.does(copilot.Reading, "1")
		k.d.narrator.resumed()
		k.works(time.Second)
		k.said(narrations[l].activities[copilot.Reading][0])
		k.works(time.Minute)
		k.does(copilot.Awaiting, restID)
		k.works(time.Second)
		k.said(want)
	}
}
