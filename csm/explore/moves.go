package explore

import (
	"encoding/json"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// group is a set of things that can happen, which a world has or does not have.
type group uint32

// The groups.
const (
	always      group = 0
	voice       group = 1 << iota // the user speaks
	text                          // the user types
	reading                       // a text is read aloud
	pausing                       // the user pauses what is said
	user                          // the user interrupts, commits, and goes
	retrying                      // the user has what failed tried again
	holding                       // suspend and resume
	renewing                      // the service forces a pause
	device                        // devices get lost and come back
	dropping                      // connections get lost
	failing                       // requests fail
	fatally                       // requests fail for good
	breaking                      // what works breaks
	configuring                   // the configuration changes
	quiet                         // time passes without a fault
	expiring                      // connections expire
	tooling                       // answers ask for calls of tools,
	destroying                    // also of such as destroy something
	loading                       // the user selects models
	silences                      // the voice pauses inside an utterance
	replying                      // transcripts are yes and no
	phrases                       // transcripts end with the send phrase
)

var groupNames = []string{
	"voice", "text", "reading", "pausing", "user", "retrying", "holding", "renewing", "device", "dropping", "failing", "fatally", "breaking",
	"configuring", "quiet", "expiring", "tooling", "destroying", "loading", "silences", "replying", "phrases",
}

func (g group) names() (out []string) {
	for i, name := range groupNames {
		if g&(voice<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// MarshalJSON writes the names of the groups.
func (g group) MarshalJSON() ([]byte, error) { return json.Marshal(g.names()) }

// class is what a move is to the graph.
type class uint8

const (
	command class = iota // the user's or the world's own doing: nothing may depend on it
	answer               // what is owed
	timer                // a deadline
	post                 // the core's own follow-up
	passing              // time alone
)

// move is one thing that can happen in a node.
type move struct {
	event csm.Event // nil for passing
	class class
	item  int8 // the index of the owed item it is about, -1 for none
	say   uint8
	act   func(*env) // what becomes of the environment besides, nil for nothing
}

// quietStep is how much time a pause of the environment lets pass, against a
// breaker window of a minute.
const quietStep = 36 * time.Second

// node is a composite state.
type node struct {
	s     csm.State
	env   env
	world *World
}

// moves lists everything that can happen in n, in an order that depends on n
// alone.
func (n *node) moves(out []move) []move {
	if n.env.posts.n > 0 { // only what is on the signal lane already comes first
		out = append(out, move{event: postOf(n.env.posts.at[0]), class: post, item: -1,
			act: func(w *env) {
				first := true
				w.posts.keep(func(csm.Kind) bool { was := first; first = false; return !was })
			}})
	}
	out = n.answers(out)
	for t := range csm.NumTimers {
		if ts := n.s.Timers[t]; ts.Armed {
			out = append(out, move{event: csm.TimerFired{Timer: t, Gen: ts.Gen}, class: timer, item: -1})
		}
	}
	for i := range generators {
		if g := &generators[i]; g.group&^n.world.Groups == 0 {
			out = g.moves(n, out)
		}
	}
	switch n.env.posts.n {
	case 0:
		return out
	case 1:
	default: // as many as may wait
		return out[:1]
	}
	signals := out[:0]
	for _, m := range out {
		if m.class == post || m.event != nil && csm.LaneOf(m.event) == csm.Signal {
			signals = append(signals, m)
		}
	}
	return signals
}

func postOf(k csm.Kind) csm.Event {
	e, err := csm.DecodeEvent(k, nil)
	if err != nil {
		panic("explore: the core posts an event that is none: " + err.Error())
	}
	return e
}

// answers are what is owed.
func (n *node) answers(out []move) []move {
	for i, it := range n.env.owed.all() {
		says := rules[it.rule].says
		for j := range says {
			if sy := &says[j]; sy.group&^n.world.Groups == 0 && (sy.when == nil || sy.when(n, it)) {
				out = append(out, move{event: sy.event(n, it), class: answer, item: int8(i), say: uint8(j)})
			}
		}
	}
	return out
}

// apply is what becomes of the environment when m happens, before the core's
// effects.
func (w *env) apply(m move) {
	if m.item >= 0 {
		it := w.owed.at[m.item]
		sy := &rules[it.rule].says[m.say]
		if sy.next != nil {
			w.owed.at[m.item] = sy.next(it)
		} else {
			i := int8(-1)
			w.owed.keep(func(item) bool { i++; return i != m.item })
		}
		if sy.done != nil {
			sy.done(w, it)
		}
	}
	if m.act != nil {
		m.act(w)
	}
}

// generator offers moves of its own accord.
type generator struct {
	group group
	moves func(*node, []move) []move
}

func does(e csm.Event) move { return move{event: e, item: -1} }

// one offers the same command in every state.
func one(g group, e csm.Event) generator {
	return generator{g, func(_ *node, out []move) []move { return append(out, does(e)) }}
}

// when offers a move where the condition holds.
func when(g group, holds func(*node) bool, m func(*node) move) generator {
	return generator{g, func(n *node, out []move) []move {
		if !holds(n) {
			return out
		}
		return append(out, m(n))
	}}
}

func has(p int) func(*node) bool { return func(n *node) bool { return n.env.parts[p] == opened } }

// call is the call of every command, so that each step shows whether it is
// answered once.
const call = 1

var generators = []generator{
	one(always, csm.UserStart{Call: call}),
	one(always, csm.UserStop{Call: call}),
	one(user, csm.UserStop{Code: csm.CodeClientGone}),
	one(user, csm.UserInterrupt{Call: call}),
	one(user, csm.UserCommit{Call: call}),
	{retrying, retries},
	one(pausing, csm.UserPlayback{Call: call, Pause: true}),
	one(pausing, csm.UserPlayback{Call: call}),
	{text, func(n *node, out []move) []move {
		if n.merged() {
			return out
		}
		m := does(csm.UserText{Call: call, Utterance: n.env.next + 1, Words: 2})
		m.act = func(w *env) { w.next++ }
		return append(out, m)
	}},
	{reading, func(n *node, out []move) []move {
		m := does(csm.UserSpeak{Call: call, Ref: n.env.next + 1, Chars: segmentChars})
		m.act = func(w *env) { w.next++ }
		return append(out, m)
	}},
	one(holding, csm.Suspend{Call: call, Reason: csm.SuspendUser}),
	one(holding, csm.Resume{Call: call, Reason: csm.SuspendUser}),
	when(renewing, has(sessionPart), func(n *node) move { return does(csm.SessionRenewal{Instance: n.s.Instance}) }),
	when(renewing, has(sessionPart), func(n *node) move { return does(csm.SessionRenewed{Instance: n.s.Instance}) }),
	when(breaking, has(sessionPart), func(n *node) move {
		return does(csm.SessionFailed{Instance: n.s.Instance, Code: csm.CodeSessionExpired})
	}),
	when(breaking, has(audioPart), func(n *node) move {
		return does(csm.AudioFailed{Instance: n.s.Instance, Code: csm.CodeAudioFailed})
	}),
	when(device, func(n *node) bool { return n.env.parts[audioPart] == opened && !n.env.lost }, func(n *node) move {
		return move{event: csm.AudioLost{Instance: n.s.Instance}, item: -1, act: func(w *env) { w.lost = true }}
	}),
	when(device, func(n *node) bool { return n.env.lost }, func(n *node) move {
		return move{event: csm.AudioRestored{Instance: n.s.Instance}, item: -1, act: func(w *env) { w.lost = false }}
	}),
	when(dropping, func(n *node) bool { return n.env.epoch != 0 }, func(n *node) move {
		return move{event: csm.ConnLost{Epoch: n.env.epoch, Code: csm.CodeConnectionLost}, item: -1, act: func(w *env) { w.hangUp() }}
	}),
	when(dropping|expiring, func(n *node) bool { return n.env.successor != 0 }, func(n *node) move {
		return move{event: csm.ConnLost{Epoch: n.env.successor, Code: csm.CodeConnectionLost}, item: -1, act: func(w *env) { w.successor = 0 }}
	}),
	when(expiring, has(sessionPart), func(n *node) move { return does(csm.SessionExpiring{Instance: n.s.Instance}) }),
	when(tooling, asks, func(n *node) move { return does(csm.UserApprove{Call: call, ToolCall: n.env.asking, Approved: true}) }),
	when(tooling, asks, func(n *node) move { return does(csm.UserApprove{Call: call, ToolCall: n.env.asking}) }),
	one(loading, csm.UserSelectModel{Call: call, Model: 1}),
	one(loading, csm.UserSelectModel{Call: call, Model: 2}),
	when(pausing, func(n *node) bool { return n.env.playing }, func(n *node) move {
		return does(csm.SpeechCursor{Gen: n.s.Speech.Generation(), Seq: n.s.IDs.Segment, Played: 1, Of: 2})
	}),
	{voice, speaks},
	{configuring, func(n *node, out []move) []move {
		other := n.world.Config
		other.QueueMax = 1
		if *n.s.Config == other {
			other = n.world.Config
		}
		return append(out, does(csm.Configure{Config: other}))
	}},
	when(quiet, func(n *node) bool { return n.s.Phase() == csm.PhaseListening && n.s.Faults.InRow > 0 }, func(*node) move {
		return move{class: passing, item: -1, act: func(w *env) { w.now += quietStep }}
	}),
}

// merged says whether as many utterances are gathered in one turn as the world's
// bound allows. The core has no bound of its own.
func (n *node) merged() bool {
	most := max(n.world.Drafts, 1)
	return len(n.s.Drafts) >= most || len(n.s.Current.More) >= most
}

func asks(n *node) bool { return n.env.asking != 0 }

// retries are the user's "try again", of whatever it was, of the stage that
// failed, and of another one.
func retries(n *node, out []move) []move {
	stage := n.s.Retry.Stage
	for i, e := range []csm.UserRetry{{Call: call}, {Call: call, Stage: stage}, {Call: call, Stage: stage%4 + 1}} {
		if i == 1 && stage == 0 {
			continue
		}
		m := does(e)
		if n.world.Groups&tooling != 0 {
			e.ToolCall = n.env.next + 1
			m = does(e)
			m.act = func(w *env) { w.next++ }
		}
		out = append(out, m)
	}
	return out
}

// transcripts are the kinds of transcript.
var transcripts = []struct {
	group group
	final csm.Final
}{
	{voice, csm.Final{Words: 2}},
	{voice, csm.Final{Class: csm.Empty}},
	{voice, csm.Final{Class: csm.Backchannel, Words: 1}},
	{voice, csm.Final{Class: csm.Stop, Words: 1}},
	{replying, csm.Final{Class: csm.Yes, Words: 1}},
	{replying, csm.Final{Class: csm.Yes, Words: 3, Named: true}},
	{replying, csm.Final{Class: csm.No, Words: 1}},
	{phrases, csm.Final{Class: csm.Send, Words: 2}},
	{pausing, csm.Final{Class: csm.Pause, Words: 2}},
	{pausing, csm.Final{Class: csm.Continue, Words: 1}},
}

// speaks is the user's voice, and what recognition makes of it.
func speaks(n *node, out []move) []move {
	w := &n.env
	if w.epoch == 0 || !w.hearing || w.lost {
		return out
	}
	if w.open == 0 && int(w.pending.n) < n.world.Pending {
		out = append(out, move{event: csm.SpeechStarted{Epoch: w.epoch, Utterance: w.next + 1}, item: -1,
			act: func(w *env) { w.next++; w.open = w.next }})
	}
	if w.open != 0 {
		if n.world.Groups&silences != 0 {
			if w.silent {
				out = append(out, move{event: csm.SpeechResumed{Epoch: w.epoch, Utterance: w.open}, item: -1, act: func(w *env) { w.silent = false }})
			} else {
				for _, pos := range n.ends() {
					out = append(out, move{event: csm.SpeechPaused{Epoch: w.epoch, Utterance: w.open, Pos: pos}, item: -1, act: func(w *env) { w.silent = true }})
				}
			}
		}
		for _, pos := range n.ends() {
			out = append(out, move{event: csm.SpeechStopped{Epoch: w.epoch, Utterance: w.open, Pos: pos}, item: -1,
				act: func(w *env) { w.pending.add(w.open); w.open, w.silent = 0, false }})
		}
		out = recognised(n, w.open, out)
	}
	for _, u := range w.pending.all() {
		out = recognised(n, u, out)
	}
	return out
}

// ends are the positions at which speech that began at 0 may end: at once and,
// where it matters how long it was, late.
func (n *node) ends() []int64 {
	if n.world.Interruption == csm.Confirmed || n.world.Interruption == csm.ByWords {
		return []int64{0, 10 * 48000}
	}
	return []int64{0}
}

// recognised is what may be understood of an utterance. A service may end and
// answer it in one message.
func recognised(n *node, u uint64, out []move) []move {
	over := func(w *env) {
		if w.open == u {
			w.open, w.silent = 0, false
		}
		w.pending.keep(func(p uint64) bool { return p != u })
	}
	epoch := n.env.epoch
	out = append(out, does(csm.Partial{Epoch: epoch, Utterance: u, Words: 1}))
	if n.world.Interruption != csm.AtOnce {
		out = append(out, does(csm.Partial{Epoch: epoch, Utterance: u, Words: 1, Class: csm.Backchannel}))
	}
	for _, t := range transcripts {
		sent := t.final.Class != csm.Empty && t.final.Class != csm.Backchannel && t.final.Class != csm.Stop && t.final.Class != csm.Pause
		if t.group&^n.world.Groups != 0 || sent && n.merged() {
			continue
		}
		f := t.final
		f.Epoch, f.Utterance = epoch, u
		out = append(out, move{event: f, item: -1, class: answer, act: over})
	}
	return append(out, move{event: csm.RecognitionLost{Epoch: epoch, Utterance: u, Code: csm.CodeRecognitionFailed}, item: -1, class: answer, act: over})
}
