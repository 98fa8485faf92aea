package connection

import (
	"cmp"
	"slices"
)

// Edge is one arrow of the region's diagram: in state From, the input On leads to
// state To. On may say in brackets what the input is about.
type Edge struct{ From, On, To string }

// Edges returns the arrows of all states that can be reached from Disconnected,
// as Next draws them, sorted. What leaves the state as it was has no arrow; what
// changes only what the state knows leads back to it.
func Edges() []Edge {
	// Epochs are told apart and nothing else, so three of them stand for all: a
	// dial takes one that is not in use.
	const epochs = 3
	var edges []Edge
	seen := map[State]bool{Disconnected{}: true}
	for todo := []State{Disconnected{}}; len(todo) > 0; todo = todo[1:] {
		from := todo[0]
		open, _ := from.(Open)
		for in := range numInputs {
			for epoch := range uint32(epochs + 1) {
				used := epoch == 0 || epoch == Epoch(from) || epoch == open.Successor
				if dials := in == Dial || in == Succeed; dials && used {
					continue
				}
				to, out := Next(from, in, epoch)
				if out == Stale || out == Ignored {
					continue
				}
				on := in.String()
				if fact := in == Ready || in == Lost || in == Failed; fact && epoch == open.Successor {
					on += " [successor]"
				}
				edges = append(edges, Edge{from.String(), on, to.String()})
				if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.On, b.On), cmp.Compare(a.To, b.To))
	})
	return slices.Compact(edges)
}
