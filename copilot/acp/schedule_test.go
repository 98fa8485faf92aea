package acp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// schedules is the number of random orders of cancels, crashes and late results. Each is
// named by its seed.
const schedules = 1000

// ledger records the calls of a schedule.
type ledger struct {
	mu      sync.Mutex
	ran     map[string]int    // how often the agent ran a tool, by command
	brought map[string]string // the result it reported before the end
	allowed map[string]bool   // approved by the user
	answers []<-chan string
	late    int // results after a cancel
	deaths  int
}

// erratic returns an agent that crashes, ignores cancels and reports results late. The
// seed determines its behaviour, except for the order of simultaneous events.
func (l *ledger) erratic(seed uint64, n int) *fakeAgent {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	var mu sync.Mutex
	roll := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	count := 0
	f := newFakeAgent(func(f *fakeAgent, prompt string) string {
		words, _, _ := strings.Cut(prompt, "\n\n[This is")
		tag := words[strings.LastIndex(words, "q"):]
		deaf := roll(6) == 0
		pause := func() (stop bool) {
			cancelled := f.pause(time.Duration(roll(2000)) * time.Millisecond)
			if cancelled && deaf {
				time.Sleep(time.Duration(roll(1500)) * time.Millisecond)
			}
			return cancelled && !deaf
		}
		for range 1 + roll(3) {
			f.say(tag + " ")
			if pause() {
				return "cancelled"
			}
			if roll(12) == 0 {
				l.mu.Lock()
				l.deaths++
				l.mu.Unlock()
				f.die()
				return ""
			}
			count++
			id := fmt.Sprintf("c%d", roll(2)) // agents reuse ids
			command := fmt.Sprintf("run %s agent %d call %d", tag, n, count)
			answer := f.ask(id, command)
			l.mu.Lock()
			l.answers = append(l.answers, answer)
			l.mu.Unlock()
			switch <-answer {
			case "approved":
			case "abort":
				f.say(tag + "-rejected ")
				continue
			default:
				return "cancelled"
			}
			l.mu.Lock()
			l.ran[command]++
			l.mu.Unlock()
			f.tool(id, "in_progress", "")
			stopped := pause()
			if roll(15) == 0 {
				f.die()
				return ""
			}
			l.mu.Lock()
			l.brought[command] = "result of " + command
			if stopped {
				l.late++
			}
			l.mu.Unlock()
			f.tool(id, "completed", "result of "+command)
			if stopped {
				return "cancelled"
			}
		}
		f.say(tag + "-end")
		if roll(20) == 0 {
			<-f.gone // never ends the prompt
			return ""
		}
		return "end_turn"
	})
	f.loads = roll(2) == 0
	return f
}

// one runs a schedule.
func (l *ledger) one(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1<<32))
	agents := 0
	k := &talker{t: t}
	a, err := New(Options{Command: "fake", Dir: ".", start: func() (*process, error) {
		agents++
		return l.erratic(seed, agents).pipe(), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	k.a = a
	for q := range 4 {
		k.said.Reset()
		l.request(t, k, random, fmt.Sprintf("q%d", q))
		for _, word := range strings.Fields(k.said.String()) {
			if !strings.HasPrefix(word, fmt.Sprintf("q%d", q)) {
				t.Errorf("seed %d: the answer to q%d has %q of another one", seed, q, word)
			}
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Minute) // let late messages arrive
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, answer := range l.answers {
		select {
		case again := <-answer: // the agent received the first answer
			if again != "gone" {
				t.Errorf("seed %d: a permission was answered again: %s", seed, again)
			}
		default:
		}
	}
}

// request makes one request with its rounds, and cancels it at some point.
func (l *ledger) request(t *testing.T, k *talker, random *rand.Rand, words string) {
	within := func() (context.Context, context.CancelFunc) {
		if random.IntN(4) == 0 {
			return context.WithTimeout(t.Context(), time.Duration(random.IntN(3000))*time.Millisecond)
		}
		return context.WithCancel(t.Context())
	}
	ctx, cancel := within()
	err := k.ask(ctx, words)
	cancel()
	defer func() { k.a.End(k.id()) }()
	for round := 1; err == nil && round < 10; round++ {
		calls := k.calls
		k.calls = nil
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			switch random.IntN(5) {
			case 0: // rejected
			case 1: // the user says something else instead
				time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
				return
			default:
				if !l.call(t, k, within, c) {
					return
				}
			}
		}
		ctx, cancel := within()
		err = k.round(ctx, round)
		cancel()
	}
}

// call approves a call, and checks its outcome.
func (l *ledger) call(t *testing.T, k *talker, within func() (context.Context, context.CancelFunc), c copilot.ToolCall) bool {
	command := commandOf(c)
	l.mu.Lock()
	l.allowed[command] = true
	l.mu.Unlock()
	wanted, stop := within()
	defer stop()
	result, err := k.a.CallTool(t.Context(), wanted, c)
	l.mu.Lock()
	brought, ended := l.brought[command]
	ran := l.ran[command]
	l.mu.Unlock()
	if ended && (result != brought || err != nil) {
		t.Errorf("the result of %q is lost: %q, %v", command, result, err)
	}
	if err == nil && ran == 0 {
		t.Errorf("%q has a result and did not run", command)
	}
	if _, err := k.a.CallTool(t.Context(), t.Context(), c); err == nil {
		t.Errorf("%q was allowed twice", command)
	}
	return err == nil && !errors.Is(wanted.Err(), context.Canceled)
}

func commandOf(c copilot.ToolCall) string {
	_, rest, _ := strings.Cut(string(c.Input), `"-lc","`)
	command, _, _ := strings.Cut(rest, `"`)
	return command
}

// Whatever is cancelled, crashes or arrives late, no tool call runs twice or without
// approval, and no reported result is lost.
//
//test:long
func TestCallsRunOnceAndNoResultIsLost(t *testing.T) {
	n := schedules
	if testing.Short() {
		n = 100
	}
	var calls, twice, unasked, late, deaths int
	for seed := range uint64(n) {
		l := &ledger{ran: map[string]int{}, brought: map[string]string{}, allowed: map[string]bool{}}
		bubble(t, func(t *testing.T) { l.one(t, seed) })
		for command, times := range l.ran {
			calls++
			if times > 1 {
				twice++
				t.Errorf("seed %d: %q ran %d times", seed, command, times)
			}
			if !l.allowed[command] {
				unasked++
				t.Errorf("seed %d: %q ran, and nobody allowed it", seed, command)
			}
		}
		late += l.late
		deaths += l.deaths
		if t.Failed() {
			return
		}
	}
	t.Logf("%d schedules: %d calls ran, %d twice, %d without leave; %d results came after a cancel, %d agents died", n, calls, twice, unasked, late, deaths)
	if calls < n || late < n/20 || deaths < n/20 {
		t.Error("the schedules do not reach what they are for")
	}
}
