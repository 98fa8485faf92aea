package explore

import (
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// mark classifies a node for the graph checks.
type mark uint8

const (
	resting mark = 1 << iota // Idle, or Listening with nothing under way
	users                    // waiting for the user, who paused the conversation or the voice or must commit a turn
)

// markOf returns the marks of n.
func markOf(n *node) mark {
	s := &n.State
	if n.Env.Posts.N > 0 {
		return 0
	}
	switch s.Phase() {
	case csm.PhaseIdle:
		if !s.Needs(csm.TimerStart) {
			return resting
		}
	case csm.PhaseListening:
		if s.Current.ID == 0 && len(s.Queue) == 0 && !s.Needs(csm.TimerUtterance) && !s.Needs(csm.TimerFinal) {
			return resting
		}
		if t := &s.Current; t.Utterance != 0 && t.Request == 0 && t.Failed == "" && n.Limits.Drafts > 0 {
			return users
		}
	case csm.PhaseSuspended, csm.PhaseFaulted:
		if s.UserPaused() && !s.Needs(csm.TimerSuspend) {
			return users
		}
	case csm.PhaseSpeaking:
		if s.Speech.String() == "paused" {
			return users
		}
	}
	return 0
}

// graph is the part of the explored graph that needs no action of the user: answers,
// deadlines and the core's own events.
type graph struct {
	marks   []mark
	answers list // edges by answers
	timers  list // edges by deadlines and the core's own events
}

// list holds edges by node: those of node i are to[at[i]:at[i+1]].
type list struct {
	at []uint32
	to []uint32
}

func (l *list) of(id int) []uint32 {
	if id+1 < len(l.at) {
		return l.to[l.at[id]:l.at[id+1]]
	}
	return l.to[l.at[id]:]
}

func (g *graph) begin(id uint32, m mark) {
	if int(id) != len(g.marks) {
		panic(fmt.Sprintf("explore: node %d was added after %d others", id, len(g.marks)))
	}
	g.marks = append(g.marks, m)
	g.answers.at = append(g.answers.at, uint32(len(g.answers.to)))
	g.timers.at = append(g.timers.at, uint32(len(g.timers.to)))
}

func (g *graph) edge(c world.Class, to uint32) {
	switch c {
	case world.Answer:
		g.answers.to = append(g.answers.to, to)
	case world.Deadline, world.Post:
		g.timers.to = append(g.timers.to, to)
	}
}

// unrested returns the nodes from which no path leads to rest or, with deadlinesOnly,
// from which some path never does.
func (g *graph) unrested(deadlinesOnly bool) []uint32 {
	n := len(g.marks)
	lists := []*list{&g.timers, &g.answers}
	if deadlinesOnly {
		lists = lists[:1]
	}
	// Reverse the edges, and count for each node the paths that are not known to lead to
	// rest.
	at := make([]uint32, n+1)
	left := make([]uint32, n)
	for _, l := range lists {
		for id := range n {
			for _, to := range l.of(id) {
				at[to+1]++
			}
			left[id] += uint32(len(l.of(id)))
		}
	}
	for i := range n {
		at[i+1] += at[i]
	}
	from := make([]uint32, at[n])
	fill := append([]uint32(nil), at[:n]...)
	for _, l := range lists {
		for id := range n {
			for _, to := range l.of(id) {
				from[fill[to]] = uint32(id)
				fill[to]++
			}
		}
	}
	rests := make([]bool, n)
	var work []uint32
	for id, m := range g.marks {
		if m != 0 {
			rests[id] = true
			work = append(work, uint32(id))
		}
	}
	for len(work) > 0 {
		to := work[len(work)-1]
		work = work[:len(work)-1]
		for _, id := range from[at[to]:at[to+1]] {
			left[id]--
			if !rests[id] && (!deadlinesOnly || left[id] == 0) {
				rests[id] = true
				work = append(work, id)
			}
		}
	}
	var out []uint32
	for id, ok := range rests {
		if !ok {
			out = append(out, uint32(id))
		}
	}
	return out
}

// checkGraph checks the whole graph once it is closed.
func (s *search) checkGraph() {
	for _, c := range []struct {
		check, what   string
		deadlinesOnly bool
	}{
		{"deadEnd", "invariant 8: if every answer is lost, deadlines do not lead to rest", true},
		{"rest", "invariant 8: rest (Idle or Listening) is unreachable without the user", false},
	} {
		if bad := s.graph.unrested(c.deadlinesOnly); len(bad) > 0 {
			what := fmt.Sprintf("%s (%d states, this one first)", c.what, len(bad))
			s.note(bad[0], &edge{move: noMove, wrong: &Violation{Check: c.check, What: what, class: c.check}})
			s.report.Closed = false
		}
	}
}
