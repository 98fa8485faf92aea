package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// check is a condition on every step. The numbers are those of the design's list of
// invariants.
type check struct {
	name  string
	about string
	holds func(*stepSeen) error
}

// stepSeen is a step with its context.
type stepSeen struct {
	from, to *node
	move     world.Move
	env      csm.Envelope
	fx       []csm.Effect
}

var checks = []check{
	{"core", "the core's own invariants (csm.CheckStep)", func(x *stepSeen) error {
		return csm.CheckStep(x.from.State, x.env, x.to.State, x.fx)
	}},
	{"counted", "11: an event counted as stale or meaningless changes nothing else", counted},
	{"taken", "2: the terminal of a live request is never ignored", taken},
	{"noticed", "8: the loss of a device in use is never ignored", noticed},
	{"flush", "3: a flush comes before every other effect of its step", flushFirst},
	{"once", "6: an utterance is in one place at a time, and is sent once unless the user retries", sentOnce},
	{"ended", "6: an accepted utterance ends once: answered, failed and explained, or dropped by the user", endedOnce},
	{"turns", "7: a turn opens in Listening, and ends before the next", turnsInOrder},
}

// otherChecks are made elsewhere: of effects by the environment, of events delivered in
// addition to a step, and of the whole graph.
var otherChecks = []check{
	{name: "handlers", about: "2, 9: a request is sent once; resources are opened and closed once, and only in the live instance"},
	{name: "repeated", about: "11: a repeated answer, fact or deadline changes nothing"},
	{name: "stale", about: "11: an event of an older instance, epoch, request, generation or deadline only changes a counter"},
	{name: "deadEnd", about: "8: if answers are lost, deadlines lead to rest from every state, without a loop"},
	{name: "rest", about: "8: Idle or Listening at rest is reachable from every state without the user"},
}

// check returns the first failed check of a step, or nil.
func (w *worker) check(n *node, m world.Move, env csm.Envelope, to *node, fx []csm.Effect) error {
	x := &stepSeen{from: n, to: to, move: m, env: env, fx: fx}
	for i := range checks {
		if err := checks[i].holds(x); err != nil {
			return broken{checks[i].name, err}
		}
	}
	return nil
}

func counted(x *stepSeen) error {
	if x.from.State.Counters != x.to.State.Counters && !unchanged(&x.from.State, &x.to.State) {
		return fmt.Errorf("invariant 11: the event was counted as meaningless, but changed %v to %v", summary(&x.from.State), summary(&x.to.State))
	}
	return nil
}

func taken(x *stepSeen) error {
	effect, id := x.from.Env.Ends(x.move)
	if effect == "" || x.from.State.Counters == x.to.State.Counters {
		return nil
	}
	return fmt.Errorf("invariant 2: the core ignored the answer to %s %d", effect, id)
}

func noticed(x *stepSeen) error {
	if _, lost := x.env.Event.(csm.AudioLost); lost && x.from.State.Counters != x.to.State.Counters {
		return fmt.Errorf("invariant 8: the core ignored the loss of an open device")
	}
	return nil
}

func flushFirst(x *stepSeen) error {
	other := ""
	for _, f := range x.fx {
		if _, ok := f.(csm.Flush); !ok {
			other = csm.NameOf(f)
		} else if other != "" {
			return fmt.Errorf("invariant 3: %s comes before the flush", other)
		}
	}
	return nil
}

// waiting returns the utterances that wait to be sent, and those that were sent in one
// request.
func waiting(s *csm.State) (list, sent []uint64) {
	list = append(append(list, s.Queue...), s.Drafts...)
	if end, over := s.Conv.(csm.Terminating); over {
		list = append(list, end.Texts...)
	}
	var cur []uint64
	if s.Current.Utterance != 0 {
		cur = append(append(cur, s.Current.Utterance), s.Current.More...)
	}
	if a, _ := s.Conv.(csm.Analysing); s.Current.Request != 0 && a.Unsent == 0 {
		return list, cur
	}
	return append(list, cur...), nil
}

func sentOnce(x *stepSeen) error {
	list, sent := waiting(&x.to.State)
	all := append(list, sent...)
	for i, u := range all {
		if slices.Contains(all[i+1:], u) {
			return fmt.Errorf("invariant 6: utterance %d is in two places", u)
		}
	}
	for _, f := range x.fx {
		send, ok := f.(csm.SendCopilot)
		if !ok || send.Request == x.from.State.Current.Request { // a later round
			continue
		}
		before, asked := waiting(&x.from.State)
		if u := accepts(x); u != 0 && slices.Contains(send.More, u) { // the user went on
			before = append(before, asked...)
		}
		for _, u := range append(send.More, send.Utterance) {
			if !slices.Contains(before, u) && accepts(x) != u && !x.retries(u) {
				return fmt.Errorf("invariant 2: utterance %d is sent without having been pending", u)
			}
		}
	}
	return nil
}

// retries says whether the event is the user's retry of u.
func (x *stepSeen) retries(u uint64) bool {
	_, again := x.env.Event.(csm.UserRetry)
	return again && (x.from.State.Retry.Utterance == u || slices.Contains(x.from.State.Retry.More, u))
}

// accepts returns the utterance that an event introduces, 0 for none.
func accepts(x *stepSeen) uint64 {
	switch e := x.env.Event.(type) {
	case csm.Final:
		if isMessage(&x.from.State, e) {
			return e.Utterance
		}
	case csm.UserText:
		return e.Utterance
	case csm.UserRetry:
		if slices.Contains(x.fx, csm.Effect(csm.Post{Event: csm.KindUserRetry})) {
			return 0 // the next step accepts it
		}
		return x.from.State.Retry.Utterance
	default:
	}
	return 0
}

// isMessage says whether a transcript is a message for the assistant.
func isMessage(s *csm.State, e csm.Final) bool {
	if e.Words == 0 {
		return false
	}
	switch s.MeaningOf(e) {
	case csm.MeansMessage, csm.MeansSend:
		return true
	case csm.MeansUnclear:
		return !s.Asking()
	case csm.MeansContinue:
		return !s.HasPlayback()
	default:
		return false
	}
}

func endedOnce(x *stepSeen) error {
	before, sent := waiting(&x.from.State)
	before = append(before, sent...)
	after, sent := waiting(&x.to.State)
	after = append(after, sent...)
	for _, u := range before {
		if !slices.Contains(after, u) && !explained(x, u) {
			return fmt.Errorf("invariant 6: utterance %d was lost without informing the user", u)
		}
	}
	refused := false
	for _, f := range x.fx {
		if n, ok := f.(csm.Notify); ok && n.Code == csm.CodeQueueFull {
			refused = true
		}
		if r, ok := f.(csm.Reply); ok && r.Code != "" {
			refused = true
		}
	}
	u := accepts(x)
	if u != 0 && x.from.State.Counters == x.to.State.Counters && !refused && !slices.Contains(after, u) {
		return fmt.Errorf("invariant 6: accepted utterance %d disappeared", u)
	}
	return nil
}

// explained says whether a step ends utterance u legitimately: its turn ends or was ended
// by an interruption, the user drops the queue, or the conversation fails and says so.
func explained(x *stepSeen, u uint64) bool {
	if x.from.State.Cleared() && (x.from.State.Current.Utterance == u || slices.Contains(x.from.State.Current.More, u)) {
		return true
	}
	for _, f := range x.fx {
		switch f := f.(type) {
		case csm.PublishTurn:
			if f.End != "" && (f.Turn.Utterance == u || slices.Contains(f.Turn.More, u)) {
				return true
			}
		case csm.PublishError:
			return true
		case csm.Notify:
			if f.Code == csm.CodeQueueFull {
				return true
			}
		default:
		}
	}
	switch e := x.env.Event.(type) {
	case csm.UserInterrupt, csm.UserStop:
		return true
	case csm.Final:
		return e.Class == csm.Stop
	case csm.Fatal, csm.SessionFailed:
		return true
	default:
		return false
	}
}

func turnsInOrder(x *stepSeen) error {
	from, to := &x.from.State, &x.to.State
	over := from.Current.ID == 0 || from.Cleared() // the end of the last turn was published
	listening := from.Conv.Phase() == csm.PhaseListening || to.Conv.Phase() == csm.PhaseListening
	for _, f := range x.fx {
		switch f := f.(type) {
		case csm.PublishState:
			listening = listening || f.To == csm.PhaseListening || f.From == csm.PhaseListening
		case csm.PublishTurn:
			switch {
			case f.End == "" && !over:
				return fmt.Errorf("invariant 7: turn %d begins before turn %d ended", f.Turn.ID, from.Current.ID)
			case f.End == "" && !listening:
				return fmt.Errorf("invariant 7: turn %d begins in %v", f.Turn.ID, from.Conv.Phase())
			case f.End == "":
				over = false
			case over:
				return fmt.Errorf("invariant 6: turn %d ends twice", f.Turn.ID)
			default:
				over = true
			}
		default:
		}
	}
	if ended := to.Current.ID == 0 || to.Cleared(); ended != over {
		return fmt.Errorf("invariant 6: turn %d is current, but its end was published: %v", to.Current.ID, over)
	}
	return nil
}

// violation describes a failed check of an event in n. Violations are of one class if the
// same check fails for the same kind of event in the same phase.
func violation(n *node, e csm.Event, err error) *Violation {
	var b broken
	check := "step"
	if errors.As(err, &b) {
		check = b.check
	}
	kind := "time"
	if e != nil {
		kind = csm.KindOf(e).String()
	}
	return &Violation{
		Check: check, What: err.Error(),
		class: fmt.Sprint(check, " ", kind, " ", n.State.Phase(), " ", digits.ReplaceAllString(err.Error(), "#")),
	}
}
