package explore

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// Walk takes some steps of a world at random, with every check of a step, and tells
// of the situations that it meets. pick is a number below n. The violation is nil where
// every promise was kept.
func Walk(w *World, pick func(n int) int, steps int, meets func(name string)) *Violation {
	s := newSearch(w, Options{})
	walker := s.workers[0]
	n, log := s.root()
	for range steps {
		m := any(&n, pick)
		for i := range walker.met {
			walker.met[i] = false
		}
		e := walker.take(&n, m, 0)
		if m.Event != nil {
			log = append(log, csm.Envelope{Seq: n.Env.Seq + 1, At: n.Env.Now, Event: m.Event})
		}
		if e.wrong != nil {
			e.wrong.World, e.wrong.Steps = w.Name, log
			return e.wrong
		}
		for i, met := range walker.met {
			if met {
				meets(Situations[i].Name)
			}
		}
		n = *e.node
	}
	return nil
}

// any is a move at random: mostly something that is owed, now and then a deadline, and
// seldom the end, or walks would not get far.
func any(n *node, pick func(int) int) world.Move {
	var kinds [2][]world.Move
	for _, m := range n.Moves(nil) {
		_, stops := m.Event.(csm.UserStop)
		switch {
		case stops && pick(8) > 0:
		case m.Class == world.Deadline && pick(4) > 0:
		case m.Class == world.Answer || m.Class == world.Post:
			kinds[0] = append(kinds[0], m)
		default:
			kinds[1] = append(kinds[1], m)
		}
	}
	from := kinds[0]
	if len(from) == 0 || len(kinds[1]) > 0 && pick(3) == 0 {
		from = kinds[1]
	}
	if len(from) == 0 {
		from = n.Moves(nil)
	}
	return from[pick(len(from))]
}
