package csm_test

import (
	"reflect"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// fixedAllocs is the allocation budget of a step, in addition to one object for each
// effect and each changed region.
const fixedAllocs = 4

// stepCost is what one step allocated, and for how many results.
type stepCost struct {
	event   csm.Kind
	in      csm.Phase
	effects int
	regions int // changed regions
	allocs  int
}

// over is the number of allocations over budget, if positive.
func (c stepCost) over() int { return c.allocs - fixedAllocs - c.effects - c.regions }

// Sinks prevent the compiler from optimising measured steps away.
var (
	sinkState   csm.State
	sinkEffects []csm.Effect
)

// stepCosts counts the allocations of each step. Steps are pure, so each is repeated,
// which averages out stray allocations of the runtime.
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

// A step allocates only its results and four other objects.
func TestStepAllocationBudget(t *testing.T) {
	for i, c := range stepCosts(conversationEvents(t)) {
		if c.over() > 0 {
			t.Errorf("event %d, %v in %v: %d allocations; %d effects and %d changed regions allow %d",
				i, c.event, c.in, c.allocs, c.effects, c.regions, fixedAllocs+c.effects+c.regions)
		}
	}
}

// A Stepper takes the same steps as Step, and its results stay valid when its memory is
// reused.
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
