package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// check is one thing that must hold of every step. The numbers are those of the
// design's list of invariants.
type check struct {
	name  string
	about string
	holds func(*stepSeen) error
}

// stepSeen is a step with what is around it.
type stepSeen struct {
	from, to *node
	move     world.Move
	env      csm.Envelope
	fx       []csm.Effect
}

var checks = []check{
	{"core", "every invariant that the core states of itself (csm.CheckStep)", func(x *stepSeen) error {
		return csm.CheckStep(x.from.State, x.env, x.to.State, x.fx)
	}},
	{"counted", "11: what is counted as stale or without a meaning changes nothing else", counted},
	{"taken", "2: the terminal of what is still wanted is never lost", taken},
	{"noticed", "8: the loss of a device in use is never passed over", noticed},
	{"flush", "3: a flush comes before every other effect of its step", flushFirst},
	{"once", "6: an utterance is in one place at a time, and is sent once unless the user asks again", sentOnce},
	{"ended", "6: an utterance that was accepted ends once: answered, failed and explained, or dropped by the user", endedOnce},
	{"turns", "7: a turn opens in Listening, and ends before the next", turnsInOrder},
}

// otherChecks are made elsewhere: of effects as the environment takes them, of
// events that are delivered beside a step, and of the whole graph.
var otherChecks = []check{
	{name: "handlers", about: "2, 9: a request is asked for once; resources are opened and closed once, of the live instance alone"},
	{name: "repeated", about: "11: an answer, a fact or a deadline that comes again changes nothing"},
	{name: "stale", about: "11: what is of an older instance, epoch, request, generation or deadline changes a counter alone"},
	{name: "deadEnd", about: "8: whatever is owed may be lost: deadlines alone lead to rest, from everywhere and without a loop"},
	{name: "rest", about: "8: from everywhere Idle or Listening at rest is reached without the user"},
}

// check says which of the checks a step breaks, or nil.
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
		return fmt.Errorf("invariant 11: it was counted as meaningless, and changed %v to %v", summary(&x.from.State), summary(&x.to.State))
	}
	return nil
}

func taken(x *stepSeen) error {
	effect, id := x.from.Env.Ends(x.move)
	if effect == "" || x.from.State.Counters == x.to.State.Counters {
		return nil
	}
	return fmt.Errorf("invariant 2: %s %d was answered, and the core made nothing of it", effect, id)
}

func noticed(x *stepSeen) error {
	if _, lost := x.env.Event.(csm.AudioLost); lost && x.from.State.Counters != x.to.State.Counters {
		return fmt.Errorf("invariant 8: an open device is gone, and the core made nothing of it")
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

// waiting are the utterances that wait to be sent, and sent are those that were,
// in one request.
func waiting(s *csm.State) (list, sent []uint64) {
	list = append(append(list, s.Queue...), s.Drafts...)
	var cur []uint64
	if s.Current.Utterance != 0 {
		cur = append(append(cur, s.Current.Utterance), s.Current.More...)
	}
	if s.Current.Request != 0 {
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
		before, _ := waiting(&x.from.State)
		for _, u := range append(send.More, send.Utterance) {
			if !slices.Contains(before, u) && accepts(x) != u && !x.retries(u) {
				return fmt.Errorf("invariant 2: utterance %d is sent, and nothing had it wait", u)
			}
		}
	}
	return nil
}

// retries says whether the event is the user's word to try u again.
func (x *stepSeen) retries(u uint64) bool {
	_, again := x.env.Event.(csm.UserRetry)
	return again && (x.from.State.Retry.Utterance == u || slices.Contains(x.from.State.Retry.More, u))
}

// accepts is the utterance that an event brings, 0 for none.
func accepts(x *stepSeen) uint64 {
	switch e := x.env.Event.(type) {
	case csm.Final:
		switch e.Class {
		case csm.Content, csm.Yes, csm.No, csm.Send:
			return e.Utterance
		case csm.Continue:
			if !x.from.State.HasPlayback() {
				return e.Utterance
			}
		}
	case csm.UserText:
		return e.Utterance
	case csm.UserRetry:
		if slices.Contains(x.fx, csm.Effect(csm.Post{Event: csm.KindUserRetry})) {
			return 0 // it does in the step that follows
		}
		return x.from.State.Retry.Utterance
	default:
	}
	return 0
}

func endedOnce(x *stepSeen) error {
	before, sent := waiting(&x.from.State)
	before = append(before, sent...)
	after, sent := waiting(&x.to.State)
	after = append(after, sent...)
	for _, u := range before {
		if !slices.Contains(after, u) && !explained(x, u) {
			return fmt.Errorf("invariant 6: utterance %d is gone, and nobody was told", u)
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
	if f, ok := x.env.Event.(csm.Final); ok && x.from.Env.Asking != 0 && (f.Class == csm.Yes || f.Class == csm.No) {
		return nil // it was the answer to a question
	}
	if f, ok := x.env.Event.(csm.Final); ok && f.Doubted && (x.from.State.Current.Request != 0 || x.from.State.Current.Role == csm.Assistant) {
		return nil // no words, while an answer is under way
	}
	if u != 0 && x.from.State.Counters == x.to.State.Counters && !refused && !slices.Contains(after, u) {
		return fmt.Errorf("invariant 6: utterance %d was accepted, and is nowhere", u)
	}
	return nil
}

// explained says whether a step ends utterance u in one of the ways that there
// are: its turn ends or was ended when it was cut off, the user drops what
// waits, or the conversation fails and says so.
func explained(x *stepSeen, u uint64) bool {
	if cutOff(&x.from.State) && (x.from.State.Current.Utterance == u || slices.Contains(x.from.State.Current.More, u)) {
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

// cutOff says whether the current turn was interrupted for good, and only waits
// for what was heard of it to be known.
func cutOff(s *csm.State) bool {
	in, cut := s.Conv.(csm.Interrupted)
	return cut && !in.Doubt
}

func turnsInOrder(x *stepSeen) error {
	from, to := &x.from.State, &x.to.State
	over := from.Current.ID == 0 || cutOff(from) // the last turn's end was published
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
	if ended := to.Current.ID == 0 || cutOff(to); ended != over {
		return fmt.Errorf("invariant 6: turn %d is current, and its end was published: %v", to.Current.ID, over)
	}
	return nil
}

// violation describes what is wrong with an event in n. Two are of one class
// when the same check fails at the same kind of event in the same phase.
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
