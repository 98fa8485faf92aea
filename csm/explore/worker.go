package explore

import (
	"bytes"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// worker expands nodes. Its fields are its own.
type worker struct {
	s     *search
	coder *coder
	moves []world.Move
	stale int // stale events that were verified to change nothing
	was   []byte

	fired   []bool
	met     []bool // which Situations were met
	guards  [][2]bool
	regions [numRegions]map[string]bool
	rows    []csm.Row
}

func newWorker(s *search) *worker {
	rows := csm.Table()
	w := &worker{s: s, coder: newCoder(&s.world.Limits), rows: rows, fired: make([]bool, len(rows)), guards: make([][2]bool, len(rows)), met: make([]bool, len(Situations))}
	for i := range w.regions {
		w.regions[i] = map[string]bool{}
	}
	return w
}

// expand applies every move to some nodes.
func (w *worker) expand(nodes []node) (b batch) {
	for i := range nodes {
		n := &nodes[i]
		w.see(n)
		w.moves = n.Moves(w.moves[:0])
		for at, m := range w.moves {
			b.edges = append(b.edges, w.take(n, m, uint16(at)))
		}
		if v := w.tryStale(n); v != nil {
			b.edges = append(b.edges, edge{move: noMove, wrong: v})
		}
		b.ends = append(b.ends, len(b.edges))
		b.marks = append(b.marks, markOf(n))
	}
	return b
}

// take makes one step, checks it and identifies the resulting node.
func (w *worker) take(n *node, m world.Move, index uint16) edge {
	e := edge{move: index, class: m.Class}
	to := node{Env: n.Env, Limits: n.Limits}
	to.Env.Apply(m)
	if m.Event == nil { // only time passes
		to.State = n.State
		return w.identify(e, &to)
	}
	env := envelope(&to, m.Event)
	next, fx, seen := w.s.step(n.State, env)
	w.cover(seen)
	to.State = next
	w.meet(&Moment{&n.State, &to.State, m.Event, fx})
	if err := w.check(n, m, env, &to, fx); err != nil {
		e.wrong = violation(n, m.Event, err)
		return e
	}
	if err := to.Env.Take(&to.State, fx); err != nil {
		e.wrong = violation(n, m.Event, broken{"handlers", err})
		return e
	}
	if err := w.again(m, &to); err != nil {
		e.wrong = violation(n, m.Event, err)
		e.wrong.extra = []csm.Event{m.Event}
		return e
	}
	return w.identify(e, &to)
}

func (w *worker) identify(e edge, to *node) edge {
	e.to = w.coder.key(&to.State, &to.Env)
	if id, ok := w.s.seen[e.to]; ok {
		e.known = id + 1
		return e
	}
	e.node = to
	return e
}

// again delivers an answer or a deadline a second time: invariant 11.
func (w *worker) again(m world.Move, to *node) error {
	if m.Class != world.Answer && m.Class != world.Deadline {
		return nil
	}
	w.was = append(w.was[:0], w.coder.core(&to.State, &to.Env)...)
	repeat := csm.Envelope{Seq: to.Env.Seq + 1, At: to.Env.Now, Event: m.Event}
	after, fx, _ := w.s.step(to.State, repeat)
	if now := w.coder.core(&after, &to.Env); !bytes.Equal(now, w.was) {
		return broken{"repeated", fmt.Errorf("invariant 11: a repetition changed %v to %v", summary(&to.State), summary(&after))}
	}
	for _, f := range fx {
		if world.Asks(f) {
			return broken{"repeated", fmt.Errorf("invariant 11: a repetition emitted %s", csm.NameOf(f))}
		}
	}
	return nil
}

// tryStale delivers stale events to n: each may only change a counter.
func (w *worker) tryStale(n *node) *Violation {
	for _, e := range n.Stale(nil) {
		w.stale++
		after, fx, _ := w.s.step(n.State, csm.Envelope{Seq: n.Env.Seq + 1, At: n.Env.Now, Event: e})
		var err error
		switch {
		case !unchanged(&n.State, &after):
			err = fmt.Errorf("invariant 11: a stale event changed %v to %v", summary(&n.State), summary(&after))
		case after.Counters == n.State.Counters:
			err = fmt.Errorf("invariant 11: a stale event was not counted")
		case len(fx) > 0:
			err = fmt.Errorf("invariant 11: a stale event emitted %s", csm.NameOf(fx[0]))
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

// meet records situations that are met for the first time.
func (w *worker) meet(m *Moment) {
	for i := range w.met {
		w.met[i] = w.met[i] || Situations[i].Met(m)
	}
}

// broken is an error with the name of the failed check.
type broken struct {
	check string
	error
}

func (b broken) Unwrap() error { return b.error }
