package csmtest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

// Whatever happens, in any order, however late, repeated, failed, lost or invented: every
// step keeps every invariant, stale events change nothing, and once the world answers all
// requests, the conversation comes to rest. A failing sequence is shrunk and written to
// testdata/regressions.
func TestRandomEventsKeepInvariants(t *testing.T) {
	t.Parallel()
	hunt(t, regressionDir, nil)
}

// hunt searches for events that violate an invariant of a step function (nil for the
// core's own) and writes the shortest sequence to dir.
func hunt(t rapid.TB, dir string, step csmtest.StepFunc) {
	var found *csmtest.World
	var broke error
	defer func() { // even if Check ends the goroutine
		if found == nil {
			return
		}
		// rapid shrinks the choices; the regression keeps the events.
		short := csmtest.Shorten(found.Log, func(log []csm.Envelope) bool {
			_, err := csmtest.Replay(log, found.Injected, step)
			return err != nil && anInvariant.FindString(err.Error()) == anInvariant.FindString(broke.Error())
		})
		if w, err := csmtest.Replay(short, found.Injected, step); err != nil {
			w.Injected, found, broke = found.Injected, w, err
		}
		name := filepath.Join(dir, regressionName(found, broke))
		comment := fmt.Sprintf("Found by a random walk and shrunk: %.200v", strings.SplitN(broke.Error(), "\n", 2)[0])
		if err := os.WriteFile(name, []byte(found.Scenario(comment)), 0o644); err != nil {
			t.Errorf("save the regression: %v", err)
		}
		t.Logf("saved as %s; fix the core, describe the bug in the scenario's first line, and commit it", name)
	}()
	begun := logs(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := csmtest.NewWorld(func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, what) })
		w.Step = step
		err := wander(w, begun, rapid.IntRange(1, 100).Draw(rt, "steps"))
		if err == nil {
			err = w.Rest()
		}
		if err != nil {
			found, broke = w, err // the last is the shortest
			rt.Fatalf("%v", err)
		}
	})
}

// wander walks from the middle of a scenario or from the beginning.
func wander(w *csmtest.World, begun [][]csm.Envelope, n int) error {
	if w.Pick("begin", 4) > 0 {
		log := begun[w.Pick("scenario", len(begun))]
		if err := w.Begin(log[:w.Pick("step", len(log)+1)]); err != nil {
			return err
		}
	}
	return w.Walk(n)
}

// logs returns the events of all scenarios.
func logs(t rapid.TB) [][]csm.Envelope {
	t.Helper()
	all, err := csmtest.Scenarios(os.DirFS(scenarioDir))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]csm.Envelope
	for _, s := range all {
		o, err := csmtest.Play(s)
		if err != nil {
			t.Fatal(err)
		}
		var log []csm.Envelope
		for _, st := range o.Steps {
			log = append(log, st.Envelope)
		}
		out = append(out, log)
	}
	return out
}

var anInvariant = regexp.MustCompile(`invariant \d+|no rest`)

// regressionName combines the violated invariant and the event.
func regressionName(w *csmtest.World, err error) string {
	what := anInvariant.FindString(err.Error())
	if what == "" {
		what = "the step"
	}
	last := w.Injected
	if n := len(w.Log); last == nil && n > 0 {
		last = w.Log[n-1].Event
	}
	return strings.ReplaceAll(what, " ", "-") + "-after-" + strings.ReplaceAll(csm.KindOf(last).String(), ".", "-") + ".txt"
}

// hunt finds the bug in a broken core, and writes a short, playable and well-named
// scenario.
func TestHuntWritesTheShortestSequence(t *testing.T) {
	drop := func(fx []csm.Effect, bad func(csm.Effect) bool) []csm.Effect {
		var out []csm.Effect
		for _, f := range fx {
			if !bad(f) {
				out = append(out, f)
			}
		}
		return out
	}
	for _, c := range []struct {
		name, file string
		step       csmtest.StepFunc
	}{
		{"a deadline is not armed", "invariant-8-after-", func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect) {
			next, fx := csm.Step(s, e)
			return next, drop(fx, func(f csm.Effect) bool { t, ok := f.(csm.StartTimer); return ok && t.Timer == csm.TimerPrepare })
		}},
		{"the epoch is not looked at", "invariant-11-after-", func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect) {
			if l, ok := e.Event.(csm.ConnReady); ok {
				l.Epoch = s.IDs.Epoch
				e.Event = l
			}
			return csm.Step(s, e)
		}},
		{"a request is sent twice", "invariant-2-after-", func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect) {
			next, fx := csm.Step(s, e)
			for _, f := range fx {
				if _, ok := f.(csm.SendCopilot); ok {
					return next, append(fx, f)
				}
			}
			return next, fx
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if tb := hunted(t, dir, c.step); !tb.failed {
				t.Fatal("no violation was found")
			}
			list := files(t, dir)
			if len(list) != 1 || !strings.HasPrefix(filepath.Base(list[0]), c.file) {
				t.Fatalf("wrote %q, want one file %s*", list, c.file)
			}
			text, err := os.ReadFile(list[0])
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\n"); n > 14 {
				t.Errorf("it has %d lines:\n%s", n, text)
			}
			csmtest.Run(t, list[0]) // the core itself is right
		})
	}
}

// hunted runs a hunt that may fail.
func hunted(t *testing.T, dir string, step csmtest.StepFunc) *quietTB {
	t.Helper()
	seed := flag.Lookup("rapid.seed").Value // for a deterministic search
	was := seed.String()
	defer func() {
		if err := seed.Set(was); err != nil {
			t.Error(err)
		}
	}()
	if err := seed.Set("7"); err != nil {
		t.Fatal(err)
	}
	tb, ended := &quietTB{}, make(chan struct{})
	go func() {
		defer close(ended)
		hunt(tb, dir, step)
	}()
	<-ended
	return tb
}

// quietTB records a failure without failing the test.
type quietTB struct {
	rapid.TB
	failed bool
}

func (*quietTB) Helper()                 {}
func (*quietTB) Name() string            { return "hunt" }
func (*quietTB) Logf(string, ...any)     {}
func (*quietTB) Log(...any)              {}
func (q *quietTB) Errorf(string, ...any) { q.failed = true }
func (q *quietTB) Error(...any)          { q.failed = true }
func (q *quietTB) Fatalf(string, ...any) { q.FailNow() }
func (q *quietTB) Fatal(...any)          { q.FailNow() }
func (q *quietTB) Fail()                 { q.failed = true }
func (q *quietTB) Failed() bool          { return q.failed }
func (q *quietTB) FailNow()              { q.failed = true; runtime.Goexit() }

// A few hundred walks take most rows of the table.
func TestWalksReachTheTable(t *testing.T) {
	t.Parallel()
	rows, begun := csm.Table(), logs(t)
	taken := make([]int, len(rows))
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := csmtest.NewWorld(func(_ string, n int) int { return r.IntN(n) })
		w.Step = func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect) {
			next, fx, seen := csm.StepObserved(s, e)
			for _, row := range seen.Fired {
				taken[row]++
			}
			return next, fx
		}
		if err := wander(w, begun, 80); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, w.Scenario(""))
		}
	}
	if n := reached(taken); 100*n < 55*len(rows) {
		t.Errorf("%d of %d rows were taken; want 55 %%", n, len(rows))
	} else {
		t.Logf("%d of %d rows were taken", n, len(rows))
	}
}

// The scenarios take nearly every row that changes the phase, and half of the internal
// ones (002, section 6).
func TestScenariosReachTheTable(t *testing.T) {
	rows := csm.Table()
	taken := make([]int, len(rows))
	for _, s := range scenarios(t) {
		o, err := csmtest.Play(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range o.Steps {
			_, _, seen := csm.StepObserved(st.Before, st.Envelope)
			for _, row := range seen.Fired {
				taken[row]++
			}
		}
	}
	leads, led := 0, 0
	for i, r := range rows {
		if r.Internal() {
			continue
		}
		leads++
		if taken[i] > 0 {
			led++
			continue
		}
		t.Logf("no scenario takes %v on %v [%s] to %v", r.From, r.On, r.Guard.Name, r.To)
	}
	t.Logf("%d of %d transitions, %d of %d rows", led, leads, reached(taken), len(rows))
	if 100*led < 95*leads || 2*reached(taken) < len(rows) {
		t.Errorf("the scenarios take %d of %d transitions and %d of %d rows; want 95 %% and half of them", led, leads, reached(taken), len(rows))
	}
}

func reached(taken []int) (n int) {
	for _, times := range taken {
		if times > 0 {
			n++
		}
	}
	return n
}
