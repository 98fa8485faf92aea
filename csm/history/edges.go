package history

import (
	"cmp"
	"fmt"
	"slices"
)

// Edge is one arrow of the region's diagram: in state From, the input On leads to
// state To.
type Edge struct{ From, On, To string }

// inputs are what happens to a history, by name.
var inputs = []struct {
	name string
	do   func(State) State
}{
	{"said", func(s State) State { return Add(s, Item{Turn: 1, Utterance: 1}) }},
	{"heard", func(s State) State { return Heard(s, 1, 1, 1) }},
	{"tool", func(s State) State { return Add(s, Item{Turn: 1, Tool: 1, Outcome: Done}) }},
	{"compact", func(s State) State { return Compact(s, 1, 1) }},
	{"summarised", func(s State) State { s, _ = Compacted(s, 1, true, 1); return s }},
	{"summarised [failed]", func(s State) State { s, _ = Compacted(s, 1, false, 1); return s }},
	{"stop", Stop},
}

// shape is what tells two states apart as far as arrows go: not what was said.
type shape struct {
	name         string
	items, count int
	answered     bool // the last item is an answer
}

func shapeOf(s State) shape {
	c, _ := s.(Compacting)
	items := s.Said().Items
	return shape{s.String(), len(items), c.Count, len(items) > 0 && items[len(items)-1].Request != 0}
}

// same compares states as they are written out, since items hold lists.
func same(a, b State) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// Edges returns the arrows of all states that can be reached from an empty
// history, as its functions draw them, sorted. What leaves the state as it was
// has no arrow; what changes only the log leads back to it.
func Edges() []Edge {
	const items = 3 // one that leaves, one that stays, and one that comes meanwhile
	var edges []Edge
	seen := map[shape]bool{}
	for todo := []State{Normal{}}; len(todo) > 0; todo = todo[1:] {
		from := todo[0]
		for _, in := range inputs {
			to := in.do(from)
			if len(to.Said().Items) > items || same(from, to) {
				continue
			}
			edges = append(edges, Edge{from.String(), in.name, to.String()})
			if !seen[shapeOf(to)] {
				seen[shapeOf(to)] = true
				todo = append(todo, to)
			}
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.On, b.On), cmp.Compare(a.To, b.To))
	})
	return slices.Compact(edges)
}
