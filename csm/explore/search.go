package explore

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// stepFunc is csm.StepObserved or a test's replacement.
type stepFunc func(csm.State, csm.Envelope) (csm.State, []csm.Effect, csm.Observation)

// chunk is how many nodes a worker expands before their successors are merged. The result
// does not depend on it.
const chunk = 256

// noMove means no move, if a node itself is the violation.
const noMove = ^uint16(0)

// search explores one world, level by level. Several workers expand a level and one
// merges it, in the order of its nodes: numbers, paths and counts are the same in every
// run.
type search struct {
	world   *World
	opts    Options
	step    stepFunc
	seen    map[key]uint32
	parents []uint32 // parent of each node
	by      []uint16 // the index of the move that led to it
	graph   graph
	level   []node // the level being expanded,
	first   uint32 // and the number of its first node
	next    []node
	report  WorldReport
	found   []*Violation
	classes map[string]bool // classes of violations found
	workers []*worker
}

// batch is the result of expanding some nodes.
type batch struct {
	edges []edge
	ends  []int // end of each node's edges
	marks []mark
}

// edge is one step, or its violation.
type edge struct {
	to    key
	known uint32 // 1 plus the number of the node it leads to, if known
	node  *node  // otherwise the new node
	move  uint16
	class world.Class
	wrong *Violation
}

func newSearch(w *World, o Options) *search {
	s := &search{world: w, opts: o, step: o.step, seen: map[key]uint32{}, classes: map[string]bool{}}
	if s.step == nil {
		s.step = csm.StepObserved
	}
	for range max(o.Workers, 1) {
		s.workers = append(s.workers, newWorker(s))
	}
	return s
}

// run explores until nothing new is found, and then checks the whole graph.
func (s *search) run() {
	root, _ := s.root()
	s.seen[s.workers[0].coder.key(&root.State, &root.Env)] = 0
	s.parents, s.by = append(s.parents, 0), append(s.by, 0)
	s.next = []node{root}
	for len(s.next) > 0 {
		s.first += uint32(len(s.level))
		s.level, s.next = s.next, nil
		s.report.Depth++
		if !s.expandLevel() {
			s.report.Closed = false
			s.finish()
			return
		}
		s.opts.progress(s.world.Name, len(s.parents), s.report.Edges, len(s.next))
	}
	s.report.Closed = len(s.found) == 0
	s.finish()
}

// expandLevel expands the nodes of the level, and returns false if it ran out of space or
// time.
func (s *search) expandLevel() bool {
	chunks := (len(s.level) + chunk - 1) / chunk
	for from := 0; from < chunks; from += 4 * len(s.workers) {
		to := min(from+4*len(s.workers), chunks)
		done := make([]batch, to-from)
		var wg sync.WaitGroup
		for i, w := range s.workers {
			wg.Go(func() {
				for c := from + i; c < to; c += len(s.workers) {
					done[c-from] = w.expand(s.level[c*chunk : min((c+1)*chunk, len(s.level))])
				}
			})
		}
		wg.Wait()
		for i := range done {
			s.takeIn(s.first+uint32((from+i)*chunk), &done[i])
		}
		clear(s.level[from*chunk : min(to*chunk, len(s.level))]) // expanded states are no longer needed
		if s.stop() {
			return false
		}
	}
	return true
}

// stop says whether to stop: too many violations, or out of time or space.
func (s *search) stop() bool {
	switch {
	case len(s.found) >= max(s.opts.MaxViolations, 1):
		s.report.Stopped = "violations"
	case s.opts.MaxStates > 0 && len(s.parents) >= s.opts.MaxStates:
		s.report.Stopped = "states"
	case s.opts.expired():
		s.report.Stopped = "time"
	default:
		return false
	}
	return true
}

// takeIn numbers the new nodes of a batch; id is its first node.
func (s *search) takeIn(id uint32, b *batch) {
	at := 0
	for i, end := range b.ends {
		from := id + uint32(i)
		s.graph.begin(from, b.marks[i])
		for ; at < end; at++ {
			e := &b.edges[at]
			s.report.Edges++
			if e.wrong != nil {
				s.note(from, e)
				continue
			}
			to := e.known - 1
			if e.known == 0 {
				to = s.number(from, e)
			}
			s.graph.edge(e.class, to)
		}
	}
}

// number returns the number of the node that an edge leads to.
func (s *search) number(from uint32, e *edge) uint32 {
	if to, ok := s.seen[e.to]; ok {
		return to
	}
	to := uint32(len(s.parents))
	s.seen[e.to] = to
	s.parents, s.by = append(s.parents, from), append(s.by, e.move)
	s.next = append(s.next, *e.node)
	return to
}

// note records the first violation of each class.
func (s *search) note(from uint32, e *edge) {
	if s.classes[e.wrong.class] || len(s.found) >= max(s.opts.MaxViolations, 1) {
		return
	}
	s.classes[e.wrong.class] = true
	e.wrong.World = s.world.Name
	e.wrong.Steps = s.path(from, e.move)
	for _, extra := range e.wrong.extra {
		last := e.wrong.Steps[len(e.wrong.Steps)-1]
		e.wrong.Steps = append(e.wrong.Steps, csm.Envelope{Seq: last.Seq + 1, At: last.At, Event: extra})
	}
	s.found = append(s.found, e.wrong)
	s.opts.violation(e.wrong)
}

// finish sums up the workers' results.
func (s *search) finish() {
	s.report.World, s.report.States = *s.world, len(s.parents)
	for _, w := range s.workers {
		s.report.Stale += w.stale
		s.report.cover(w)
	}
	if s.report.Closed {
		s.checkGraph()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.report.HeapBytes = m.HeapSys
	s.report.Violations = s.found
}

// root returns the initial node of a world: the core has received its configuration.
func (s *search) root() (node, []csm.Envelope) {
	n := node{State: csm.Initial(), Limits: &s.world.Limits, Env: world.Env{Now: time.Second}}
	first := envelope(&n, csm.Configure{Config: s.world.Config})
	n.State, _, _ = s.step(n.State, first)
	return n, []csm.Envelope{first}
}

// path returns the shortest list of events that leads to a node, followed by one more
// move unless that is noMove.
func (s *search) path(to uint32, last uint16) []csm.Envelope {
	var by []uint16
	if last != noMove {
		by = append(by, last)
	}
	for id := to; id != 0; id = s.parents[id] {
		by = append(by, s.by[id])
	}
	n, out := s.root()
	for _, mv := range slices.Backward(by) {
		m := n.Moves(nil)[mv]
		n.Env.Apply(m)
		if m.Event == nil {
			continue
		}
		e := envelope(&n, m.Event)
		out = append(out, e)
		var fx []csm.Effect
		n.State, fx, _ = s.step(n.State, e)
		_ = n.Env.Take(&n.State, fx) // a violation of the last step was already reported
	}
	return out
}

// envelope wraps the next event as the dispatcher would.
func envelope(n *node, e csm.Event) csm.Envelope {
	n.Env.Seq++
	return csm.Envelope{Seq: n.Env.Seq, At: n.Env.Now, Event: e}
}
