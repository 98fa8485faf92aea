package explore

import "github.com/agentvoice/agentvoice-daemon/csm"

// rule is one line of the handlers' contract: how an effect is answered. A new
// request effect is a new line in the table below.
type rule struct {
	effect     string
	target     string                // what it is asked of; answers of one target keep their order
	family     family                // of the item's id
	genFamily  family                // of the item's gen, noFamily where that is a plain number
	supersedes func(csm.Effect) bool // it ends what its target still owes without an answer
	open       func(csm.Effect) item
	// over says when an answer can mean nothing to the core any more, nil for
	// never before the conversation rests.
	over func(*csm.State, item) bool
	says []say
}

// say is one thing that a handler may report about an item.
type say struct {
	group group
	when  func(*node, item) bool // nil: always
	event func(*node, item) csm.Event
	// next is the item afterwards, nil when this is its terminal.
	next func(item) item
	// done, if set, is what becomes of the environment besides.
	done func(*env, item)
}

// asked makes the item of an effect.
func asked[F csm.Effect](id func(F) uint64) func(csm.Effect) item {
	return func(f csm.Effect) item { return item{id: id(f.(F))} }
}

// ends1 is a terminal without any condition.
func terminal(g group, event func(id uint64) csm.Event, done func(*env, item)) say {
	return say{group: g, event: func(_ *node, it item) csm.Event { return event(it.id) }, done: done}
}

func becomes(p int, to part) func(*env, item) { return func(w *env, _ item) { w.parts[p] = to } }

func all(csm.Effect) bool { return true }

// confirmed holds when the core stopped waiting for what it cancelled.
func confirmed(s *csm.State, it item) bool {
	return it.cancelled && !s.Needs(csm.TimerCancel)
}

// given holds when the core does not wait for the answer that t bounds.
func given(t csm.Timer) func(*csm.State, item) bool {
	return func(s *csm.State, _ item) bool { return !s.Needs(t) }
}

func oldInstance(s *csm.State, it item) bool { return it.id != uint64(s.Instance) }

// rules is the contract of csm/doc.go and csm/effect.go, and ruleOf finds a rule
// by its effect. They are filled before anything runs, since the rules of one
// item look at those of others.
var (
	rules  []rule
	ruleOf = map[string]uint8{}
)

func init() {
	rules = contract
	for i := range rules {
		ruleOf[rules[i].effect] = uint8(i)
	}
}

var contract = []rule{
	{effect: "ActivateSession", target: "session", family: instances, over: oldInstance,
		open: asked(func(f csm.ActivateSession) uint64 { return uint64(f.Instance) }),
		says: []say{
			terminal(always, func(id uint64) csm.Event { return csm.SessionReady{Instance: uint32(id)} }, becomes(sessionPart, opened)),
			terminal(failing, func(id uint64) csm.Event {
				return csm.SessionFailed{Instance: uint32(id), Code: csm.CodeSessionFailed}
			}, nil),
			terminal(fatally, func(id uint64) csm.Event {
				return csm.SessionFailed{Instance: uint32(id), Code: csm.CodeAuthentication}
			}, nil),
		}},
	{effect: "DeactivateSession", target: "session", family: instances, over: oldInstance, supersedes: all,
		open: asked(func(f csm.DeactivateSession) uint64 { return uint64(f.Instance) }),
		says: []say{terminal(always, func(id uint64) csm.Event { return csm.SessionClosed{Instance: uint32(id)} }, becomes(sessionPart, closed))}},
	{effect: "OpenAudio", target: "audio", family: instances, over: oldInstance,
		open: asked(func(f csm.OpenAudio) uint64 { return uint64(f.Instance) }),
		says: []say{
			terminal(always, func(id uint64) csm.Event { return csm.AudioPrimed{Instance: uint32(id)} }, becomes(audioPart, opened)),
			terminal(failing, func(id uint64) csm.Event {
				return csm.AudioFailed{Instance: uint32(id), Code: csm.CodeDeviceUnavailable}
			}, nil),
			terminal(fatally, func(id uint64) csm.Event {
				return csm.AudioFailed{Instance: uint32(id), Code: csm.CodeMicrophoneDenied}
			}, nil),
		}},
	{effect: "StartCapture", target: "audio", family: instances, over: oldInstance,
		open: asked(func(f csm.StartCapture) uint64 { return uint64(f.Instance) }),
		says: []say{
			terminal(always, func(id uint64) csm.Event { return csm.AudioReady{Instance: uint32(id)} }, func(w *env, _ item) { w.hearing = true }),
			terminal(failing, func(id uint64) csm.Event {
				return csm.AudioFailed{Instance: uint32(id), Code: csm.CodeAudioFailed}
			}, nil),
		}},
	{effect: "CloseAudio", target: "audio", family: instances, over: oldInstance, supersedes: all,
		open: asked(func(f csm.CloseAudio) uint64 { return uint64(f.Instance) }),
		says: []say{terminal(always, func(id uint64) csm.Event { return csm.AudioClosed{Instance: uint32(id)} }, becomes(audioPart, closed))}},
	{effect: "OpenConnection", target: "connection", family: epochs,
		supersedes: func(f csm.Effect) bool { return !f.(csm.OpenConnection).Successor },
		open:       asked(func(f csm.OpenConnection) uint64 { return uint64(f.Epoch) }),
		says: []say{
			{event: func(_ *node, it item) csm.Event { return csm.ConnReady{Epoch: uint32(it.id)} },
				done: func(w *env, it item) {
					if w.epoch != 0 {
						w.successor = uint32(it.id)
						return
					}
					w.parts[connPart], w.epoch = opened, uint32(it.id)
				}},
			terminal(failing, func(id uint64) csm.Event {
				return csm.ConnFailed{Epoch: uint32(id), Code: csm.CodeConnectionFailed}
			}, nil),
		}},
	{effect: "CloseConnection", target: "connection", family: instances, genFamily: epochs, over: oldInstance,
		supersedes: func(f csm.Effect) bool { return f.(csm.CloseConnection).Epoch == 0 },
		open: func(f csm.Effect) item {
			c := f.(csm.CloseConnection)
			return item{id: uint64(c.Instance), gen: c.Epoch}
		},
		says: []say{{
			event: func(_ *node, it item) csm.Event { return csm.ConnClosed{Instance: uint32(it.id), Epoch: it.gen} },
			done: func(w *env, it item) {
				if it.gen == 0 {
					w.parts[connPart] = closed
				}
			}}}},
	{effect: "SendCopilot", target: "copilot", family: requests, over: confirmed,
		open: func(f csm.Effect) item {
			c := f.(csm.SendCopilot)
			return item{id: c.Request, gen: uint32(c.Round)}
		},
		says: copilotSays},
	{effect: "SearchTools", target: "copilot", family: requests, over: confirmed,
		open: func(f csm.Effect) item {
			t := f.(csm.SearchTools)
			return item{id: t.Request, gen: uint32(t.Round)}
		},
		says: []say{
			{event: func(_ *node, it item) csm.Event {
				return csm.ToolSearchDone{Request: it.id, Round: int(it.gen), Tools: 1}
			}},
			{group: failing, event: func(_ *node, it item) csm.Event {
				return csm.ToolSearchDone{Request: it.id, Round: int(it.gen), Code: csm.CodeToolSearchFailed}
			}},
			{event: func(_ *node, it item) csm.Event {
				return csm.ToolSearchDone{Request: it.id, Round: int(it.gen), Cancelled: true}
			}},
		}},
	{effect: "CallTool", target: "tool", family: calls, over: given(csm.TimerTool),
		open: asked(func(f csm.CallTool) uint64 { return f.ToolCall }),
		says: []say{
			terminal(always, func(id uint64) csm.Event { return csm.ToolDone{ToolCall: id} }, nil),
			terminal(failing, func(id uint64) csm.Event { return csm.ToolDone{ToolCall: id, Code: csm.CodeToolFailed} }, nil),
			terminal(always, func(id uint64) csm.Event { return csm.ToolDone{ToolCall: id, Cancelled: true} }, nil),
		}},
	{effect: "LoadModel", target: "model", family: loads, over: given(csm.TimerModel), supersedes: all,
		open: asked(func(f csm.LoadModel) uint64 { return uint64(f.Load) }),
		says: []say{
			{when: func(_ *node, it item) bool { return it.stage == 0 },
				event: func(_ *node, it item) csm.Event { return csm.ModelProgress{Load: uint32(it.id), Percent: 50} },
				next:  func(it item) item { it.stage = 1; return it }},
			terminal(always, func(id uint64) csm.Event { return csm.ModelLoaded{Load: uint32(id)} }, nil),
			terminal(failing, func(id uint64) csm.Event { return csm.ModelFailed{Load: uint32(id), Code: csm.CodeModelFailed} }, nil),
		}},
	{effect: "Summarise", target: "history", family: jobs, over: given(csm.TimerSummary),
		open: asked(func(f csm.Summarise) uint64 { return uint64(f.Job) }),
		says: []say{
			terminal(always, func(id uint64) csm.Event { return csm.Summarised{Job: uint32(id)} }, nil),
			terminal(failing, func(id uint64) csm.Event { return csm.Summarised{Job: uint32(id), Code: csm.CodeCopilotFailed} }, nil),
		}},
	{effect: "Speak", target: "voice", family: segments, genFamily: generations,
		open: func(f csm.Effect) item {
			sp := f.(csm.Speak)
			return item{id: uint64(sp.Segment.Seq), gen: sp.Gen}
		},
		over: func(s *csm.State, it item) bool { return it.gen != s.Speech.Generation() },
		says: speechSays},
	{effect: "Flush", target: "voice", family: noFamily, genFamily: generations, supersedes: all,
		open: func(f csm.Effect) item { return item{gen: f.(csm.Flush).Gen - 1} },
		over: func(s *csm.State, _ item) bool { return s.Conv.Phase() != csm.PhaseInterrupted },
		says: []say{
			{event: func(_ *node, it item) csm.Event { return csm.SpeechFlushed{Gen: it.gen} }},
			{event: func(n *node, it item) csm.Event {
				return csm.SpeechFlushed{Gen: it.gen, Seq: n.s.IDs.Segment, Played: 3, Of: 7}
			}},
		}},
}

// The stages of an answer: the attempt that was reported, and then its words.
const streaming = 100

// segmentChars is the length of each piece of an answer.
const segmentChars = 10

var copilotSays = []say{
	{when: func(n *node, it item) bool { return !it.cancelled && int(it.stage) < n.world.Attempts },
		event: func(_ *node, it item) csm.Event {
			return csm.CopilotSent{Request: it.id, Round: int(it.gen), Attempt: int(it.stage) + 1}
		},
		next: func(it item) item { it.stage++; return it }},
	{when: answering,
		event: func(n *node, it item) csm.Event {
			return csm.CopilotDelta{Request: it.id, Round: int(it.gen), Chars: int(n.env.said)*segmentChars + 1}
		},
		next: func(it item) item { it.stage = streaming; return it }},
	{when: func(n *node, it item) bool { return answering(n, it) && int(n.env.said) < n.world.Segments },
		event: func(n *node, it item) csm.Event {
			at := int(n.env.said) * segmentChars
			return csm.CopilotSegment{Request: it.id, Round: int(it.gen), Start: at, End: at + segmentChars}
		},
		next: func(it item) item { it.stage = streaming; return it },
		done: func(w *env, _ item) { w.said++ }},
	wantsCall(tooling, false), wantsCall(destroying, true),
	{when: func(_ *node, it item) bool { return it.cancelled || it.stage > 0 },
		event: func(_ *node, it item) csm.Event { return csm.CopilotDone{Request: it.id, Round: int(it.gen)} }},
	{event: func(_ *node, it item) csm.Event {
		return csm.CopilotDone{Request: it.id, Round: int(it.gen), Cancelled: true}
	}},
	{group: failing,
		event: func(_ *node, it item) csm.Event {
			return csm.CopilotDone{Request: it.id, Round: int(it.gen), Code: csm.CodeCopilotFailed}
		}},
}

// wantsCall has an answer ask for a call of a tool.
func wantsCall(g group, destructive bool) say {
	return say{group: g,
		when: func(n *node, it item) bool { return answering(n, it) && int(it.count) < n.world.Calls },
		event: func(n *node, it item) csm.Event {
			return csm.CopilotToolCall{Request: it.id, Round: int(it.gen), ToolCall: n.env.next + 1, Destructive: destructive}
		},
		next: func(it item) item { it.stage = streaming; it.count++; return it },
		done: func(w *env, _ item) { w.next++ },
	}
}

// answering says whether words of an answer may come.
func answering(_ *node, it item) bool { return !it.cancelled && it.stage > 0 }

// The stages of a segment: asked for, buffered, heard to its end.
const (
	wanted uint8 = iota
	buffered
	heard
)

var speechSays = []say{
	{when: func(n *node, it item) bool { return it.stage == wanted && n.firstIn(it, wanted) && !n.dry() },
		event: func(_ *node, it item) csm.Event { return csm.SpeechBuffered{Gen: it.gen, Seq: uint32(it.id)} },
		next:  func(it item) item { it.stage = buffered; return it }},
	{when: func(n *node, it item) bool { return n.sounds(it) && n.moreBuffered(it) },
		event: func(_ *node, it item) csm.Event { return csm.SpeechPlayed{Gen: it.gen, Seq: uint32(it.id)} }},
	{when: func(n *node, it item) bool { return n.sounds(it) && !n.moreBuffered(it) },
		event: func(_ *node, it item) csm.Event { return csm.SpeechPlayed{Gen: it.gen, Seq: uint32(it.id)} },
		next:  func(it item) item { it.stage = heard; return it }},
	{when: func(_ *node, it item) bool { return it.stage == heard },
		event: func(_ *node, it item) csm.Event { return csm.SpeechDrained{Gen: it.gen, Seq: uint32(it.id)} },
		done:  func(w *env, _ item) { w.playing = false }},
	{group: failing,
		when: func(n *node, it item) bool { return it.stage == wanted && !n.dry() },
		event: func(_ *node, it item) csm.Event {
			return csm.SpeechFailed{Gen: it.gen, Seq: uint32(it.id), Code: csm.CodeSpeechFailed}
		}},
}

// voice says whether a segment that the voice was asked for passes.
func (n *node) voice(pass func(item) bool) bool {
	for _, it := range n.env.owed.all() {
		if rules[it.rule].effect == "Speak" && pass(it) {
			return true
		}
	}
	return false
}

// firstIn says whether no segment before it is in the same stage.
func (n *node) firstIn(it item, stage uint8) bool {
	return it.stage == stage && !n.voice(func(o item) bool { return o.id < it.id && o.stage == stage })
}

// dry says that the last buffered segment was heard, which is reported before
// anything else happens to the voice.
func (n *node) dry() bool { return n.voice(func(o item) bool { return o.stage == heard }) }

// sounds says whether the item is what is being heard.
func (n *node) sounds(it item) bool {
	return n.env.playing && n.firstIn(it, buffered) && !n.dry()
}

func (n *node) moreBuffered(it item) bool {
	return n.voice(func(o item) bool { return o.id > it.id && o.stage == buffered })
}
