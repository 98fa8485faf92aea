package explore

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// small returns worlds that close within seconds, even under the race detector; seeded
// faults are tried in them.
func small(groups ...world.Group) (out []World) {
	for _, g := range groups {
		l := world.Limits{Queue: 1, Pending: 1, Segments: 1, Attempts: 1, Calls: 1, Groups: g}
		out = append(out, World{Name: "small", Limits: l.Configured()})
	}
	return out
}

// enough is more states than a small world has. A core without bounds would exceed it.
const enough = 40000

// Runs give the same result with any number of workers.
func TestRunsAreDeterministic(t *testing.T) {
	var first *Report
	for _, workers := range []int{1, 3} {
		o := Options{MaxStates: enough, Worlds: small(world.Text), Workers: workers, MaxViolations: 3, step: forgetsFlush}
		r := Run(o)
		if first == nil {
			first = r
			continue
		}
		if r.States != first.States || r.Edges != first.Edges || r.Stale != first.Stale {
			t.Errorf("%d states, %d edges, %d stale with %d workers; %d, %d, %d with 1",
				r.States, r.Edges, r.Stale, workers, first.States, first.Edges, first.Stale)
		}
		a, b := first.Violations(), r.Violations()
		if len(a) == 0 || len(a) != len(b) {
			t.Fatalf("%d violations and %d", len(a), len(b))
		}
		for i := range a {
			if scenario(t, a[i]) != scenario(t, b[i]) {
				t.Errorf("violation %d:\n%s\n%s", i, scenario(t, a[i]), scenario(t, b[i]))
			}
		}
	}
}

// forgetsFlush is a core that emits a flush last.
func forgetsFlush(s csm.State, e csm.Envelope) (csm.State, []csm.Effect, csm.Observation) {
	next, fx, seen := csm.StepObserved(s, e)
	if len(fx) > 1 {
		if f, ok := fx[0].(csm.Flush); ok {
			fx = append(slices.Clone(fx[1:]), f)
		}
	}
	return next, fx, seen
}

// Each check finds its fault, at the end of the shortest path.
func TestBrokenCoresAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		check string
		last  csm.Kind
		step  func(csm.State, csm.Envelope, *csm.State, *[]csm.Effect)
	}{
		"a stale answer changes the state": {"stale", csm.KindSessionReady, func(s csm.State, e csm.Envelope, to *csm.State, _ *[]csm.Effect) {
			if r, ok := e.Event.(csm.SessionReady); ok && r.Instance != s.Instance {
				to.Model.Wanted++
			}
		}},
		"a stale answer has an effect": {"stale", csm.KindCopilotDone, func(s csm.State, e csm.Envelope, to *csm.State, fx *[]csm.Effect) {
			if _, ok := e.Event.(csm.CopilotDone); ok && to.Counters != s.Counters {
				*fx = append(*fx, csm.HoldCapture{})
			}
		}},
		"a deadline is not armed": {"core", csm.KindUserStart, func(_ csm.State, _ csm.Envelope, to *csm.State, _ *[]csm.Effect) {
			to.Timers[csm.TimerStart] = csm.TimerState{}
		}},
		"a resource is closed twice": {"handlers", csm.KindUserStop, func(_ csm.State, e csm.Envelope, to *csm.State, fx *[]csm.Effect) {
			if csm.KindOf(e.Event) == csm.KindUserStop && len(*fx) > 2 {
				*fx = append(*fx, csm.CloseAudio{Instance: to.Instance})
			}
		}},
		"a request is made twice": {"handlers", csm.KindUserStart, func(_ csm.State, _ csm.Envelope, _ *csm.State, fx *[]csm.Effect) {
			for _, f := range *fx {
				if d, ok := f.(csm.ActivateSession); ok {
					*fx = append(*fx, d)
				}
			}
		}},
		"an answer is thrown away": {"taken", csm.KindConnReady, func(s csm.State, e csm.Envelope, to *csm.State, fx *[]csm.Effect) {
			if csm.KindOf(e.Event) == csm.KindConnReady {
				*to, *fx = s, nil
				to.Counters.Ignored++
			}
		}},
		"an utterance is lost": {"ended", csm.KindUserText, func(_ csm.State, e csm.Envelope, to *csm.State, _ *[]csm.Effect) {
			if csm.KindOf(e.Event) == csm.KindUserText && len(to.Queue) > 0 {
				to.Queue = nil
			}
		}},
		"a turn does not end": {"turns", csm.KindUserStop, func(_ csm.State, _ csm.Envelope, _ *csm.State, fx *[]csm.Effect) {
			*fx = slices.DeleteFunc(*fx, func(f csm.Effect) bool { p, ok := f.(csm.PublishTurn); return ok && p.End == csm.TurnDropped })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(Options{MaxStates: enough, Worlds: small(world.Text | world.User), Workers: 2, step: func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect, csm.Observation) {
				to, fx, seen := csm.StepObserved(s, e)
				c.step(s, e, &to, &fx)
				return to, fx, seen
			}})
			found := r.Violations()
			if len(found) != 1 {
				t.Fatalf("%d violations were found, and there is one:\n%v", len(found), r)
			}
			v := found[0]
			if last := csm.KindOf(v.Steps[len(v.Steps)-1].Event); v.Check != c.check || last != c.last {
				t.Errorf("found by %s at %v, not by %s at %v: %v\n%s", v.Check, last, c.check, c.last, v, scenario(t, v))
			}
		})
	}
}

func scenario(t *testing.T, v *Violation) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteScenario(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A violation is a playable scenario.
func TestViolationsAreScenarios(t *testing.T) {
	r := Run(Options{MaxStates: enough, Worlds: small(world.Text | world.User), step: forgetsFlush})
	text := scenario(t, r.Violations()[0])
	if _, err := csmtest.Parse("found.txt", text); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
	if !strings.Contains(text, "event user.start {\"call\":1}") {
		t.Errorf("the events are not in it:\n%s", text)
	}
	// The path is the shortest: a flush needs speech, and speech needs an answer or an
	// explanation.
	if n := len(r.Violations()[0].Steps); n > 10 {
		t.Errorf("the way is %d events long:\n%s", n, text)
	}
}

// The report names each group and bound of a world.
func TestReportListsBounds(t *testing.T) {
	text := Run(Options{MaxStates: 100, Worlds: Worlds()[:1]}).String()
	for _, want := range []string{"no: states", "voice text user retrying holding failing", "queue   pending", "rows ", "checks of steps"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not contain %q:\n%s", want, text)
		}
	}
}

// A situation that a world cannot produce is reported as missed, and a pair meets some
// that neither of its worlds does.
func TestSituationsAreMetOrMissed(t *testing.T) {
	worlds := small(world.Text|world.User, world.Holding|world.Failing)
	apart := Run(Options{MaxStates: enough, Worlds: worlds})
	pair := Run(Options{MaxStates: enough, Worlds: Pairs(worlds)})
	const failsWhileHeld = "an answer fails while held"
	if slices.Contains(apart.Met, failsWhileHeld) || !slices.Contains(apart.Missed, failsWhileHeld) || !slices.Contains(pair.Met, failsWhileHeld) {
		t.Errorf("apart they meet %q, and together %q", apart.Met, pair.Met)
	}
	if len(pair.Met)+len(pair.Missed) != len(Situations) || !pair.Closed() || len(pair.Worlds) != 1 || pair.Worlds[0].Name != "small+small" {
		t.Errorf("%d met and %d missed of %d:\n%v", len(pair.Met), len(pair.Missed), len(Situations), pair)
	}
}

func TestLimitsStopIt(t *testing.T) {
	r := Run(Options{MaxStates: 100, Worlds: small(world.Text)})
	if r.Closed() || r.Worlds[0].Stopped != "states" {
		t.Errorf("closed %v, stopped by %q", r.Closed(), r.Worlds[0].Stopped)
	}
	r = Run(Options{MaxStates: enough, Worlds: small(world.Text), Expired: func() bool { return true }})
	if r.Closed() || r.Worlds[0].Stopped != "time" {
		t.Errorf("closed %v, stopped by %q", r.Closed(), r.Worlds[0].Stopped)
	}
}
