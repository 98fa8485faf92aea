package explore

import (
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// A hand-made graph: 0 is at rest. From 1 a deadline leads there, from 2 only an answer.
// 3 and 4 form a loop of deadlines, with an answer out of 4. 5 is a dead end, and 6 leads
// to it or to rest.
func TestGraphChecks(t *testing.T) {
	var g graph
	for id, edges := range [][]struct {
		class world.Class
		to    uint32
	}{
		0: {{world.Command, 1}},
		1: {{world.Deadline, 0}},
		2: {{world.Answer, 0}},
		3: {{world.Post, 4}},
		4: {{world.Deadline, 3}, {world.Answer, 1}},
		5: {{world.Command, 0}},
		6: {{world.Deadline, 5}, {world.Deadline, 0}},
	} {
		m := mark(0)
		if id == 0 {
			m = resting
		}
		g.begin(uint32(id), m)
		for _, e := range edges {
			g.edge(e.class, e.to)
		}
	}
	if got, want := g.unrested(true), []uint32{2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("deadlines alone do not lead to rest from %v, want %v", got, want)
	}
	if got, want := g.unrested(false), []uint32{5}; !slices.Equal(got, want) {
		t.Errorf("nothing leads to rest from %v, want %v", got, want)
	}
}
