package explore

import (
	"bytes"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// worker expands nodes. What it keeps between them is its own.
type worker struct {
	s     *search
	coder *coder
	moves []move
	stale int // events that meant nothing, and were seen to change nothing
	was   []byte

	fired   []bool
	met     []bool // of Situations
	guards  [][2]bool
	regions [numRegions]map[string]bool
	rows    []csm.Row
}

func newWorker(s *search) *worker {
	rows := csm.Table()
	w := &worker{s: s, coder: newCoder(s.world), rows: rows, fired: make([]bool, len(rows)), guards: make([][2]bool, len(rows)), met: make([]bool, len(Situations))}
	for i := range w.regions {
		w.regions[i] = map[string]bool{}
	}
	return w
}

// expand takes every move of some nodes.
func (w *worker) expand(nodes []node) (b batch) {
	for i := range nodes {
		n := &nodes[i]
		w.see(n)
		w.moves = n.moves(w.moves[:0])
		for at, m := range w.moves {
			b.edges = append(b.edges, w.take(n, m, uint16(at)))
		}
		if v := w.tryStale(n); v != nil {
			b.edges = append(b.edges, edge{move: noMove, wrong: v})
		}
		b.ends = append(b.ends, len(b.edges))
		b.marks = append(b.marks, n.mark())
	}
	return b
}

// take makes one step, checks it and identifies what it leads to.
func (w *worker) take(n *node, m move, index uint16) edge {
	e := edge{move: index, class: m.class}
	to := node{env: n.env, world: n.world}
	to.env.apply(m)
	if m.event == nil { // time alone
		to.s = n.s
		return w.identify(e, &to)
	}
	env := to.envelope(m.event)
	next, fx, seen := w.s.step(n.s, env)
	w.cover(seen)
	to.s = next
	w.meet(&Moment{&n.s, &to.s, m.event, fx})
	if err := w.check(n, m, env, &to, fx); err != nil {
		e.wrong = violation(n, m.event, err)
		return e
	}
	if err := to.env.take(&to.s, fx); err != nil {
		e.wrong = violation(n, m.event, broken{"handlers", err})
		return e
	}
	if err := w.again(m, &to); err != nil {
		e.wrong = violation(n, m.event, err)
		e.wrong.extra = []csm.Event{m.event}
		return e
	}
	return w.identify(e, &to)
}

func (w *worker) identify(e edge, to *node) edge {
	e.to = w.coder.key(&to.s, &to.env)
	if id, ok := w.s.seen[e.to]; ok {
		e.known = id + 1
		return e
	}
	e.node = to
	return e
}

// again delivers an answer or a deadline once more: invariant 11.
func (w *worker) again(m move, to *node) error {
	if m.class != answer && m.class != timer {
		return nil
	}
	w.was = append(w.was[:0], w.coder.core(&to.s, &to.env)...)
	repeat := csm.Envelope{Seq: to.env.seq + 1, At: to.env.now, Event: m.event}
	after, fx, _ := w.s.step(to.s, repeat)
	if now := w.coder.core(&after, &to.env); !bytes.Equal(now, w.was) {
		return broken{"repeated", fmt.Errorf("invariant 11: repeated, it changed %v to %v", summary(&to.s), summary(&after))}
	}
	for _, f := range fx {
		if _, request := ruleOf[f.Name()]; request {
			return broken{"repeated", fmt.Errorf("invariant 11: repeated, it asked for %s", f.Name())}
		}
	}
	return nil
}

// tryStale delivers what is over to n: each event may change a counter and
// nothing else.
func (w *worker) tryStale(n *node) *Violation {
	for _, e := range n.staleEvents(nil) {
		w.stale++
		after, fx, _ := w.s.step(n.s, csm.Envelope{Seq: n.env.seq + 1, At: n.env.now, Event: e})
		var err error
		switch {
		case !unchanged(&n.s, &after):
			err = fmt.Errorf("invariant 11: it is stale, and changed %v to %v", summary(&n.s), summary(&after))
		case after.Counters == n.s.Counters:
			err = fmt.Errorf("invariant 11: it is stale, and was not counted")
		case len(fx) > 0:
			err = fmt.Errorf("invariant 11: it is stale, and asked for %s", fx[0].Name())
		default:
			continue
		}
		v := violation(n, e, broken{"stale", err})
		v.extra = []csm.Event{e}
		return v
	}
	return nil
}

func (w *worker) cover(seen csm.Observation) {
	for _, row := range seen.Fired {
		w.fired[row] = true
	}
	for _, g := range seen.Guards {
		if g.Held {
			w.guards[g.Row][1] = true
		} else {
			w.guards[g.Row][0] = true
		}
	}
}

// meet notes the situations that are met for the first time.
func (w *worker) meet(m *Moment) {
	for i := range w.met {
		w.met[i] = w.met[i] || Situations[i].Met(m)
	}
}

// broken is an error with the name of the check that found it.
type broken struct {
	check string
	error
}

func (b broken) Unwrap() error { return b.error }
