package cue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock drives a policy in virtual time as its caller does: it calls Next at each
// change of the facts, and when Due says so.
type clock struct {
	policy Policy
	now    time.Duration
	facts  Facts
	log    []string
	last   Cue // the last order
}

func (c *clock) next() {
	policy, order, changed := c.policy.Next(c.now, c.facts)
	c.policy = policy
	if changed {
		c.last = order
		c.log = append(c.log, fmt.Sprintf("%d %v", c.now.Milliseconds(), order))
	}
}

// until advances time.
func (c *clock) until(to time.Duration) {
	for {
		due, ok := c.policy.Due()
		if !ok || due > to {
			break
		}
		c.now = max(due, c.now)
		before := c.policy
		c.next()
		if c.policy == before {
			panic("nothing changed at the time returned by Due")
		}
	}
	c.now = to
}

// at changes the facts at a time.
func (c *clock) at(to time.Duration, set func(*Facts)) {
	c.until(to)
	set(&c.facts)
	c.next()
}

var phaseNames = map[string]Phase{
	"idle": PhaseIdle, "preparing": PhasePreparing, "listening": PhaseListening, "processing": PhaseProcessing, "speaking": PhaseSpeaking,
	"interrupted": PhaseInterrupted, "suspended": PhaseSuspended, "faulted": PhaseFaulted, "terminating": PhaseTerminating,
}

// run executes a script of times in milliseconds and events.
func run(t *testing.T, script string) string {
	t.Helper()
	c := &clock{facts: Facts{Focused: true}}
	for _, step := range strings.Split(script, ",") {
		var at int
		var what string
		if _, err := fmt.Sscan(step, &at, &what); err != nil {
			t.Fatalf("%q: %v", step, err)
		}
		c.at(time.Duration(at)*ms, func(f *Facts) {
			switch what {
			case "user+", "user-":
				f.UserSpeaks = what == "user+"
			case "ask1", "ask2":
				f.Pending = uint64(what[3] - '0')
			case "answered":
				f.Pending = 0
			case "away", "back":
				f.Focused = what == "back"
			case "end":
			default:
				phase, ok := phaseNames[what]
				if !ok {
					t.Fatalf("unknown step: %q", what)
				}
				f.Phase = phase
			}
		})
	}
	return strings.Join(c.log, ", ")
}

func TestPolicy(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"a conversation starts", "0 preparing, 300 listening", "300 listening"},
		{"the user was faster", "0 preparing, 200 user+, 300 listening, 900 user-, 5000 end", ""},
		{"the user cuts it short", "0 preparing, 300 listening, 400 user+", "300 listening, 400 none"},
		{"a quick answer", "0 listening, 100 processing, 850 speaking, 3000 listening", ""},
		{"a slow answer", "0 listening, 100 processing, 2000 speaking, 9000 listening", "900 thinking, 2000 none"},
		{"a slow answer without words", "0 listening, 100 processing, 2000 listening", "900 thinking, 2000 listening"},
		{"a cough is not an utterance", "0 listening, 100 processing, 800 listening", ""},
		{"a pause for a tool within the answer", "0 speaking, 1000 processing, 1700 speaking, 3000 processing, 4000 speaking", "3800 thinking, 4000 none"},
		{"an answer while the window is not focused", "0 away, 100 speaking, 5000 listening", "5000 done"},
		{"an answer while not focused, and the user speaks", "0 away, 100 speaking, 4900 user+, 5000 listening, 6000 user-", ""},
		{"a barge-in", "0 away, 100 speaking, 2000 user+, 2010 interrupted, 2400 listening, 3000 user-, 3100 processing", ""},
		{"a cough is reverted", "0 away, 100 speaking, 2000 user+, 2010 interrupted, 2200 user-, 2210 speaking", ""},
		{"the user speaks during the wait", "0 processing, 1000 user+, 2000 user-, 2799 end", "800 thinking, 1000 none"},
		{"the wait continues after the user spoke", "0 processing, 1000 user+, 2000 user-, 3000 end", "800 thinking, 1000 none, 2800 thinking"},
		{"an approval", "0 listening, 1 processing, 500 ask1, 5000 end", "500 needsYou"},
		{"two approvals", "0 processing, 500 ask1, 3000 ask2, 4000 answered, 6000 end", "500 needsYou, 3000 needsYou, 4000 none, 4800 thinking"},
		{"an approval ends thinking", "0 processing, 1000 ask1", "800 thinking, 1000 needsYou"},
		{"a spoken question", "0 processing, 500 ask1, 510 speaking, 3000 listening, 3500 end", "500 needsYou"},
		{"an approval during speech", "0 speaking, 500 ask1, 3000 listening, 3500 listening", "3000 needsYou"},
		{"an approval during speech, answered before its end", "0 speaking, 500 ask1, 2000 answered, 3000 listening", ""},
		{"an approval while the user talks", "0 listening, 10 user+, 500 ask1, 900 user-", "900 needsYou"},
		{"the user answers at once", "0 listening, 500 ask1, 600 user+, 900 user-, 950 answered", "500 needsYou, 600 none"},
		{"a failure", "0 listening, 500 faulted, 5000 end", "500 error"},
		{"retries are silent", "0 listening, 500 faulted, 900 preparing, 1000 faulted, 1800 preparing, 1900 faulted, 3000 preparing, 4000 listening", "500 error, 4000 listening"},
		{"the next failure is not silent", "0 faulted, 900 preparing, 1000 listening, 5000 faulted", "0 error, 1000 listening, 5000 error"},
		{"a failure of the answer", "0 processing, 2000 faulted", "800 thinking, 2000 error"},
		{"a failure while the user talks", "0 listening, 10 user+, 500 faulted", "500 error"},
		{"a device is lost", "0 listening, 100 suspended, 5000 listening", "5000 listening"},
		{"a device is lost for a moment", "0 listening, 100 suspended, 500 listening", ""},
		{"a device is lost, and the answer continues", "0 speaking, 100 suspended, 5000 speaking", ""},
		{"lost while thinking", "0 processing, 1000 suspended, 5000 processing, 7000 end", "800 thinking, 1000 none, 5800 thinking"},
		{"the end", "0 processing, 1000 terminating, 1100 idle", "800 thinking, 1000 none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, c.script); got != c.want {
				t.Errorf("%s\n got %q\nwant %q", c.script, got, c.want)
			}
		})
	}
}

// Invariants: no cue is due during speech, the loop never outlasts the wait and never
// starts too early, and each question is asked once.
func TestPolicyHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &clock{}
		asked := uint64(0)      // last question that needs-you was ordered for
		var waits time.Duration // start of the time in which only the assistant is busy
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			// Mostly within the relevant range.
			to := c.now + time.Duration(rapid.IntRange(0, 1200).Draw(t, "ms"))*ms
			orders := len(c.log)
			c.until(to)
			for _, line := range c.log[orders:] {
				if !strings.HasSuffix(line, " thinking") {
					t.Fatalf("ordered %q without a change", line)
				}
			}
			orders = len(c.log)
			was := c.facts
			c.at(to, func(f *Facts) {
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					f.UserSpeaks = !f.UserSpeaks
				case 1:
					f.Pending = uint64(rapid.IntRange(0, 3).Draw(t, "pending"))
				case 2:
					f.Focused = !f.Focused
				default:
					f.Phase = Phase(rapid.IntRange(0, int(PhaseTerminating)).Draw(t, "phase"))
				}
			})
			alone := c.facts.Phase == PhaseProcessing && !c.facts.UserSpeaks && c.facts.Pending == 0
			if !alone || was.Phase != PhaseProcessing || was.UserSpeaks || was.Pending != 0 {
				waits = c.now
			}
			if c.last == Thinking && (!alone || c.now-waits < Noticeable) {
				t.Fatalf("thinking %v into %+v", c.now-waits, c.facts)
			}
			if len(c.log) == orders {
				continue
			}
			if len(c.log) > orders+1 {
				t.Fatalf("one change gave the orders %q", c.log[orders:])
			}
			if c.last != None && (c.facts.Phase == PhaseSpeaking || c.facts.UserSpeaks && c.last != Error) {
				t.Fatalf("%v is due in %+v", c.last, c.facts)
			}
			if c.last == NeedsYou {
				if c.facts.Pending == 0 || c.facts.Pending == asked {
					t.Fatalf("question %d after %d", c.facts.Pending, asked)
				}
				asked = c.facts.Pending
			}
		}
	})
}
