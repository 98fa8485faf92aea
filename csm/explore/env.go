package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// env is the world around the core: what it was asked for and has not answered,
// and what it knows of devices and of the user's voice. It learns of the core by
// its effects alone, and drops what can mean nothing to the core any more: that
// a late answer changes nothing is tried in every state anyhow.
//
// It is a value: a copy shares nothing with the original.
type env struct {
	now  time.Duration
	seq  uint64
	next uint64 // the last id given to an utterance or a text

	posts   queue[csm.Kind] // what the core asked for itself
	owed    queue[item]     // in the order it was asked for
	parts   [numParts]part
	lost    bool // a device is gone
	playing bool // what is buffered is let be heard
	paused  bool // the player was told to pause, and reports nothing that is buffered
	hearing bool // the microphone delivers

	// The user's voice on the connection with this epoch, 0 while there is none.
	epoch     uint32
	successor uint32 // the epoch of the connection that is to follow, once it stands
	open      uint64
	silent    bool // the voice pauses
	pending   queue[uint64]

	asking uint64 // the call of a tool that the user is asked about
	said   uint8  // pieces of the live request's answer
}

// queue is a short list by value.
type queue[T comparable] struct {
	n  uint8
	at [maxQueue]T
}

const maxQueue = 10

func (q *queue[T]) all() []T { return q.at[:q.n] }

func (q *queue[T]) add(v T) {
	if int(q.n) == len(q.at) {
		panic(fmt.Sprintf("explore: more than %d of %T at once; the bounds of the world are too wide", maxQueue, v))
	}
	q.at[q.n] = v
	q.n++
}

// keep drops what does not pass; what is behind it moves up.
func (q *queue[T]) keep(pass func(T) bool) {
	var zero T
	kept := slices.DeleteFunc(q.all(), func(v T) bool { return !pass(v) })
	for i := len(kept); i < int(q.n); i++ {
		q.at[i] = zero
	}
	q.n = uint8(len(kept))
}

// item is one thing that the environment owes an answer to.
type item struct {
	rule      uint8
	stage     uint8
	count     uint8
	cancelled bool
	gen       uint32 // or the round
	id        uint64
}

// part is a resource as the environment sees it.
type part uint8

const (
	closed part = iota
	opening
	opened
	closing
)

// The resources.
const (
	sessionPart = iota
	audioPart
	connPart
	numParts
)

// encode writes what of the environment the future depends on.
func (w *env) encode(c *coder) {
	c.byte(w.posts.n)
	for _, k := range w.posts.all() {
		c.byte(byte(k))
	}
	c.byte(w.owed.n)
	for _, it := range w.owed.all() {
		c.byte(it.rule)
		c.byte(it.stage)
		c.byte(it.count)
		c.bool(it.cancelled)
		r := &rules[it.rule]
		c.id(r.family, it.id)
		if r.genFamily != noFamily {
			c.id(r.genFamily, uint64(it.gen))
		} else {
			c.uint(uint64(it.gen))
		}
	}
	for _, p := range w.parts {
		c.byte(byte(p))
	}
	c.bool(w.lost)
	c.bool(w.playing)
	c.bool(w.paused)
	c.bool(w.hearing)
	c.id(epochs, uint64(w.epoch))
	c.id(epochs, uint64(w.successor))
	c.id(utterances, w.open)
	c.bool(w.silent)
	c.id(calls, w.asking)
	c.byte(w.said)
	c.byte(w.pending.n)
	for _, u := range w.pending.all() {
		c.id(utterances, u)
	}
}

// take carries out a step's effects as far as the environment's state goes, and
// says what the handlers' contract forbids.
func (w *env) take(s *csm.State, fx []csm.Effect) error {
	for _, f := range fx {
		if p, ok := f.(csm.Post); ok {
			w.posts.add(p.Event)
			continue
		}
		name := f.Name()
		if do, ok := notices[name]; ok {
			if err := do(w, s, f); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		i, ok := ruleOf[name]
		if !ok {
			continue
		}
		it := rules[i].open(f)
		it.rule, it.cancelled = i, false
		if slices.ContainsFunc(w.owed.all(), func(o item) bool { return o.rule == i && o.id == it.id && o.gen == it.gen }) {
			return fmt.Errorf("%s is asked for again before it was answered", name)
		}
		if sup := rules[i].supersedes; sup != nil && sup(f) {
			w.owed.keep(func(o item) bool { return rules[o.rule].target != rules[i].target })
		}
		w.owed.add(it)
	}
	w.forget(s)
	if w.paused && s.Speech.String() == "buffering" {
		return fmt.Errorf("invariant 8: audio is waited for, and the player is paused and announces none")
	}
	return nil
}

// forget drops what is over for the core for good: its instance, generation or
// request has been followed by another, or by none.
func (w *env) forget(s *csm.State) {
	phase := s.Phase()
	resting := phase == csm.PhaseIdle && !s.Needs(csm.TimerStart)
	w.owed.keep(func(it item) bool {
		r := &rules[it.rule]
		return !resting && (r.over == nil || !r.over(s, it))
	})
	if resting {
		w.parts, w.lost, w.hearing = [numParts]part{}, false, false
	}
	if !s.Needs(csm.TimerUtterance) {
		w.open, w.silent = 0, false
	}
	if !s.Needs(csm.TimerFinal) {
		w.pending = queue[uint64]{}
	}
}

// notices is what the environment does at once when it is told something.
var notices = map[string]func(*env, *csm.State, csm.Effect) error{
	"ActivateSession":   begins(sessionPart),
	"DeactivateSession": ends(sessionPart),
	"OpenAudio":         begins(audioPart),
	"CloseAudio": func(w *env, s *csm.State, f csm.Effect) error {
		w.lost, w.hearing = false, false
		return ends(audioPart)(w, s, f)
	},
	"OpenConnection": func(w *env, s *csm.State, f csm.Effect) error {
		o := f.(csm.OpenConnection)
		if o.Successor {
			if w.epoch == 0 {
				return fmt.Errorf("it is to follow a connection that does not stand")
			}
			return ofInstance(s, o.Instance)
		}
		w.parts[connPart] = opening
		w.hangUp() // the new one has heard nothing yet
		return ofInstance(s, o.Instance)
	},
	"CloseConnection": func(w *env, s *csm.State, f csm.Effect) error {
		c := f.(csm.CloseConnection)
		switch {
		case c.Epoch == 0:
			w.hangUp()
			return ends(connPart)(w, s, f)
		case c.Epoch == w.epoch:
			w.epoch, w.successor = w.successor, 0
		case c.Epoch == w.successor:
			w.successor = 0
		}
		return ofInstance(s, c.Instance)
	},
	"StartCapture": func(w *env, s *csm.State, f csm.Effect) error {
		if w.parts[audioPart] != opened {
			return fmt.Errorf("the devices are not open")
		}
		return ofInstance(s, f.(csm.StartCapture).Instance)
	},
	"PublishTool": func(w *env, _ *csm.State, f csm.Effect) error {
		p := f.(csm.PublishTool)
		if w.asking = 0; p.Status == csm.ToolPending {
			w.asking = p.ToolCall
		}
		return nil
	},
	"CommitInput": func(w *env, _ *csm.State, _ csm.Effect) error {
		if w.open != 0 {
			w.pending.add(w.open)
			w.open, w.silent = 0, false
		}
		return nil
	},
	"ClearInput": func(w *env, _ *csm.State, _ csm.Effect) error {
		w.open, w.silent = 0, false
		return nil
	},
	"StartPlayback":  plays(true),
	"PausePlayback":  pauses(true),
	"ResumePlayback": pauses(false),
	"Flush": func(w *env, s *csm.State, f csm.Effect) error {
		w.paused = false
		return plays(false)(w, s, f)
	},
	"SendCopilot": func(w *env, _ *csm.State, f csm.Effect) error {
		if f.(csm.SendCopilot).Round == 0 {
			w.said = 0
		}
		return nil
	},
	"CancelCopilot": cancels("SendCopilot", func(f csm.CancelCopilot) uint64 { return f.Request }),
	"CancelSearch":  cancels("SearchTools", func(f csm.CancelSearch) uint64 { return f.Request }),
	"CancelTool":    cancels("CallTool", func(f csm.CancelTool) uint64 { return f.ToolCall }),
	"CancelSummary": cancels("Summarise", func(f csm.CancelSummary) uint64 { return uint64(f.Job) }),
}

// hangUp ends every connection, with what is being said on it.
func (w *env) hangUp() {
	w.epoch, w.successor, w.open, w.silent, w.pending = 0, 0, 0, false, queue[uint64]{}
}

// begins and ends hold that each resource is opened and closed once.
func begins(p int) func(*env, *csm.State, csm.Effect) error {
	return func(w *env, _ *csm.State, _ csm.Effect) error {
		if w.parts[p] == opening || w.parts[p] == opened {
			return fmt.Errorf("it is open already")
		}
		w.parts[p] = opening
		return nil
	}
}

func ends(p int) func(*env, *csm.State, csm.Effect) error {
	return func(w *env, _ *csm.State, _ csm.Effect) error {
		if w.parts[p] != opening && w.parts[p] != opened {
			return fmt.Errorf("invariant 9: it is not open")
		}
		w.parts[p] = closing
		return nil
	}
}

// plays notes whether segments may be heard. What is paused may be: a report
// that is on its way is not called back. What drained needs another start, paused
// or not.
func plays(on bool) func(*env, *csm.State, csm.Effect) error {
	return func(w *env, _ *csm.State, _ csm.Effect) error {
		w.playing = on
		return nil
	}
}

// pauses notes whether the player was told to pause.
func pauses(on bool) func(*env, *csm.State, csm.Effect) error {
	return func(w *env, _ *csm.State, _ csm.Effect) error {
		w.paused = on
		return nil
	}
}

func ofInstance(s *csm.State, instance uint32) error {
	if instance != s.Instance {
		return fmt.Errorf("invariant 9: it is for instance %d, and %d is live", instance, s.Instance)
	}
	return nil
}

// cancels has what another effect asked for told to stop.
func cancels[F csm.Effect](asked string, id func(F) uint64) func(*env, *csm.State, csm.Effect) error {
	return func(w *env, _ *csm.State, f csm.Effect) error {
		want := id(f.(F))
		for i, it := range w.owed.all() {
			if rules[it.rule].effect == asked && it.id == want {
				if it.cancelled {
					return fmt.Errorf("it is cancelled again")
				}
				w.owed.at[i].cancelled = true
				return nil
			}
		}
		return fmt.Errorf("nothing like it is under way")
	}
}
