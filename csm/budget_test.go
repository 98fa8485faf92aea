package csm_test

import (
	"reflect"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// fixedAllocs is what a step may allocate beside one object for each effect and
// each changed region.
const fixedAllocs = 4

// stepCost is what one step of a conversation allocated, and what for.
type stepCost struct {
	event   csm.Kind
	in      csm.Phase
	effects int
	regions int // that changed
	allocs  int
}

// over is how many allocations are over the budget; none, where it is not
// positive.
func (c stepCost) over() int { return c.allocs - fixedAllocs - c.effects - c.regions }

// Sinks keep what a measured step returns from being optimised away.
var (
	sinkState   csm.State
	sinkEffects []csm.Effect
)

// stepCosts counts the allocations of each step of events. A step is pure, so it
// is repeated, and a stray allocation of the runtime is lost in the mean.
func stepCosts(events []csm.Envelope) []stepCost {
	costs := make([]stepCost, 0, len(events))
	s := csm.Initial()
	for _, e := range events {
		allocs := testing.AllocsPerRun(20, func() { sinkState, sinkEffects = csm.Step(s, e) })
		next, effects := csm.Step(s, e)
		costs = append(costs, stepCost{csm.KindOf(e.Event), s.Phase(), len(effects), changedRegions(s, next), int(allocs)})
		s = next
	}
	return costs
}

// changedRegions counts the regions whose value differs.
func changedRegions(a, b csm.State) int {
	n := 0
	for _, region := range [][2]any{
		{a.Conv, b.Conv}, {a.Session, b.Session}, {a.Conn, b.Conn}, {a.Turn, b.Turn},
		{a.Speech, b.Speech}, {a.Copilot, b.Copilot}, {a.History, b.History},
	} {
		if !reflect.DeepEqual(region[0], region[1]) {
			n++
		}
	}
	return n
}

// A step allocates no more than its result needs: what it returns, and four
// objects beside that.
func TestStepAllocationBudget(t *testing.T) {
	for i, c := range stepCosts(conversationEvents(t)) {
		if c.over() > 0 {
			t.Errorf("event %d, %v in %v: %d allocations; %d effects and %d changed regions allow %d",
				i, c.event, c.in, c.allocs, c.effects, c.regions, fixedAllocs+c.effects+c.regions)
		}
	}
}

// A Stepper takes the same steps, and what it returned stays as it was when its
// memory is used again.
func TestStepperIsStep(t *testing.T) {
	var p csm.Stepper
	s, again := csm.Initial(), csm.Initial()
	var states []csm.State
	var effects [][]csm.Effect
	events := conversationEvents(t)
	for _, e := range events {
		var fx []csm.Effect
		again, fx = p.Step(again, e)
		states, effects = append(states, again), append(effects, fx)
	}
	for i, e := range events {
		var fx []csm.Effect
		s, fx = csm.Step(s, e)
		if !reflect.DeepEqual(s, states[i]) || !reflect.DeepEqual(fx, effects[i]) {
			t.Fatalf("event %d, %v: the Stepper made %+v and %v of it, Step %+v and %v", i, csm.KindOf(e.Event), states[i], effects[i], s, fx)
		}
	}
}
