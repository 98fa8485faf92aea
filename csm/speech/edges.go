package speech

import (
	"cmp"
	"slices"
)

// Edge is one arrow of the region's diagram: in state From, the input On leads to
// state To. On may say in brackets what makes the difference.
type Edge struct{ From, On, To string }

// shape is what tells two states apart as far as arrows go: not the generation,
// nor which words there are.
type shape struct {
	name           string
	played, unsaid int
	ended          bool
}

func shapeOf(s State) shape {
	l, _ := LineOf(s)
	return shape{s.String(), l.Played, len(l.Segments) - l.Played, l.Ended}
}

// Edges returns the arrows of all states that can be reached from Closed, as the
// region's functions draw them, sorted. What is stale or ignored has no arrow;
// what changes only the line leads back to the state.
func Edges() []Edge {
	const segments = 2 // one that is heard, and one that is not
	var edges []Edge
	seen := map[shape]bool{}
	for todo := []State{Closed{}}; len(todo) > 0; todo = todo[1:] {
		from := todo[0]
		arrow := func(on string, to State) {
			edges = append(edges, Edge{from.String(), on, to.String()})
			if l, _ := LineOf(to); len(l.Segments) <= segments && !seen[shapeOf(to)] {
				seen[shapeOf(to)] = true
				todo = append(todo, to)
			}
		}
		each(from, func(on string, to State, out Outcome) {
			if out == Stale || out == Ignored {
				return
			}
			l, _ := LineOf(from)
			switch {
			case out == Done:
				on += " [all was heard]"
			case out == Started && l.Ended:
				on += " [the line has ended]"
			}
			arrow(on, to)
		})
		if _, open := LineOf(from); open {
			on := "restart"
			if _, still := LineOf(Restart(from)); !still {
				on += " [all was heard]"
			}
			arrow(on, AskedFor(Restart(from)))
		}
		arrow("flush", Flush(from))
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.On, b.On), cmp.Compare(a.To, b.To))
	})
	return slices.Compact(edges)
}

// each gives s every input that has an outcome.
func each(s State, took func(on string, to State, out Outcome)) {
	gen := s.Generation()
	l, _ := LineOf(s)
	last, _ := l.Last()
	give := func(on string) func(State, Outcome) {
		return func(to State, out Outcome) { took(on, to, out) }
	}
	next, out := Enqueue(s, Segment{Seq: last.Seq + 1})
	took("enqueue", AskedFor(next), out)
	give("end")(End(s))
	give("buffered")(Buffered(s, gen, last.Seq))
	for _, seg := range l.Segments {
		give("played")(Played(s, gen, seg.Seq))
		give("drained")(Drained(s, gen, seg.Seq))
	}
	give("start")(Start(s))
	give("pause")(Pause(s))
	give("resume")(Resume(s))
}
