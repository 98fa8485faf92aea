package session

import (
	"cmp"
	"slices"
)

// Edge is one arrow of the region's diagram: in state From, the status On leads
// to state To.
type Edge struct{ From, On, To string }

// Edges returns the arrows of all states that can be reached from Inactive, as
// Next draws them, sorted by their names. A rejected status has no arrow.
func Edges() []Edge {
	var edges []Edge
	seen := [numStates]bool{Inactive: true}
	for todo := []State{Inactive}; len(todo) > 0; todo = todo[1:] {
		from := todo[0]
		for on := range numStatuses {
			to, ok := Next(from, on)
			if !ok {
				continue
			}
			edges = append(edges, Edge{From: from.String(), On: on.String(), To: to.String()})
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.On, b.On), cmp.Compare(a.To, b.To))
	})
	return edges
}
