package turn

import (
	"cmp"
	"fmt"
	"slices"
)

// Edge is one arrow of the region's diagram: in state From, the input On leads to
// state To. On may say in brackets which utterance the input is about.
type Edge struct{ From, On, To string }

// Edges returns the arrows of all states that can be reached from Idle, as Next
// draws them, sorted. What is stale has no arrow; what changes only what the
// state knows leads back to it.
func Edges() []Edge {
	// One open utterance and two awaited ones show every arrow: with two, one more
	// may be left.
	const utterances = 3
	var edges []Edge
	seen := map[string]bool{}
	for todo := []State{Idle{}}; len(todo) > 0; todo = todo[1:] {
		from := todo[0]
		for in := range numInputs {
			for id := uint64(1); id <= utterances; id++ {
				to, out := Next(from, in, Utterance{ID: id})
				if out == Stale {
					continue
				}
				edges = append(edges, Edge{from.String(), in.String() + which(from, in, id), to.String()})
				if key := fmt.Sprintf("%#v", to); !seen[key] {
					seen[key] = true
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

// which says what makes a difference to input in: whether utterance id is the
// open one, and what else is awaited.
func which(s State, in Input, id uint64) string {
	sp, speaking := s.(UserSpeaking)
	switch awaited := len(Pending(s)); {
	case in != Answered:
		return ""
	case speaking && sp.Open.ID == id && awaited == 0:
		return " [the open one]"
	case speaking && sp.Open.ID == id:
		return " [the open one, more awaited]"
	case speaking || awaited > 1:
		return " [an awaited one]"
	default:
		return " [the last awaited]"
	}
}
