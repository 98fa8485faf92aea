package copilot

import (
	"cmp"
	"slices"
)

// Edge is one arrow of the region's diagram: in state From, the input On leads to
// state To. On may say in brackets what makes the difference.
type Edge struct{ From, On, To string }

// shape is what tells two states apart as far as arrows go: not which request it
// is, nor its round.
type shape struct {
	name      string
	cancelled bool
	calls     int
}

func shapeOf(s State) shape {
	l, _ := LiveOf(s)
	return shape{s.String(), l.Cancelled, len(l.Calls)}
}

// Edges returns the arrows of all states that can be reached from Idle, as Next
// draws them, sorted. What is stale or ignored has no arrow; what changes only
// what the state knows leads back to it.
func Edges() []Edge {
	const calls = 2 // the one that is decided about, and one more
	var edges []Edge
	seen := map[shape]bool{}
	for todo := []State{Idle{}}; len(todo) > 0; todo = todo[1:] {
		from := todo[0]
		for do := range numDos {
			to, out := Next(from, inputTo(from, do))
			if l, _ := LiveOf(to); out == Stale || out == Ignored || len(l.Calls) > calls {
				continue
			}
			edges = append(edges, Edge{from.String(), do.String() + difference(from, do), to.String()})
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

// inputTo is the input do about what is live in s, so that it is not stale where
// any is not.
func inputTo(s State, do Do) Input {
	l, live := LiveOf(s)
	if !live {
		l.Request = 1
	}
	in := Input{Do: do, Request: l.Request, Round: l.Round, Attempt: l.Attempt + 1}
	switch {
	case do == Wants:
		in.Call.ID = uint64(len(l.Calls) + 1)
	case len(l.Calls) > 0:
		in.Call = l.Calls[0]
	}
	if load, loading := s.(LoadingModel); loading {
		in.Load, in.Percent = load.Load, load.Percent+1
	}
	return in
}

// difference is what in s decides where do leads.
func difference(s State, do Do) string {
	l, _ := LiveOf(s)
	ends := do == Found || do == NotFound || do == Terminal || do == Fail || do == ToolDone || do == ToolFail
	switch {
	case ends && l.Cancelled:
		return " [cancelled]"
	case do == Terminal && len(l.Calls) > 0:
		return " [it asks for calls]"
	case (do == Reject || do == ToolDone) && len(l.Calls) > 1:
		return " [more calls]"
	default:
		return ""
	}
}
