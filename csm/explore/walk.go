package explore

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Walk makes random steps in a world, with every step check, and reports the situations
// that it meets. pick returns a number below n. The violation is nil if every check
// passed.
func Walk(w *World, pick func(n int) int, steps int, meets func(name string)) *Violation {
	s := newSearch(w, Options{})
	walker := s.workers[0]
	n, log := s.root()
	for range steps {
		m := n.Any(func(_ string, below int) int { return pick(below) })
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
