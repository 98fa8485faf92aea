package world

import "github.com/agentvoice/agentvoice-daemon/csm"

// rule is one line of the handlers' contract: how an effect is answered. A new request
// effect needs a new line in the table below.
type rule struct {
	effect     string
	target     string                // the receiver of the request; its answers keep their order
	family     Family                // family of the item's id
	genFamily  Family                // family of the item's gen, NoFamily for a plain number
	supersedes func(csm.Effect) bool // it cancels its target's earlier requests without an answer
	open       func(csm.Effect) Item
	// over says when an answer no longer matters to the core; nil means only when the
	// conversation rests.
	over func(*csm.State, Item) bool
	// says lists what the handler may report, starting with the success path.
	says []say
}

// say is something that a handler may report about an item.
type say struct {
	group   Group
	outcome Outcome
	when    func(*Place, Item) bool // nil: always
	event   func(*Place, Item) csm.Event
	// next returns the item afterwards; nil if this is its terminal.
	next func(Item) Item
}

// Outcome is how a request ends.
type Outcome uint8

// The outcomes.
const (
	Done Outcome = iota
	Failed
	Cancelled
)

// Family is a kind of id.
type Family uint8

// The families.
const (
	NoFamily Family = iota
	Turns
	Requests
	Utterances
	Epochs
	Instances
	Generations
	Segments
	Calls
	Models
	Loads
	Jobs
	NumFamilies
)

// Families returns the families of the item's id and gen.
func (it Item) Families() (id, gen Family) { return rules[it.Rule].family, rules[it.Rule].genFamily }

// asked returns a function that builds an effect's item from its id.
func asked[F csm.Effect](id func(F) uint64) func(csm.Effect) Item {
	return func(f csm.Effect) Item { return Item{ID: id(f.(F))} }
}

// ends returns a terminal that depends only on the id.
func ends(g Group, o Outcome, event func(id uint64) csm.Event) say {
	return say{group: g, outcome: o, event: func(_ *Place, it Item) csm.Event { return event(it.ID) }}
}

func all(csm.Effect) bool { return true }

// confirmed says that the core stopped waiting for a cancelled request.
func confirmed(s *csm.State, it Item) bool { return it.Cancelled && !s.Needs(csm.TimerCancel) }

// given says that the core does not wait for the answer that t bounds.
func given(t csm.Timer) func(*csm.State, Item) bool {
	return func(s *csm.State, _ Item) bool { return !s.Needs(t) }
}

func oldInstance(s *csm.State, it Item) bool { return it.ID != uint64(s.Instance) }

// rules is the contract of csm/doc.go and csm/effect.go, and ruleOf finds a rule by its
// effect. They are initialised in init, since rules refer to each other.
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
	{effect: "ActivateSession", target: "session", family: Instances, over: oldInstance,
		open: asked(func(f csm.ActivateSession) uint64 { return uint64(f.Instance) }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.SessionReady{Instance: uint32(id)} }),
			ends(Failing, Failed, func(id uint64) csm.Event {
				return csm.SessionFailed{Instance: uint32(id), Code: csm.CodeSessionFailed}
			}),
			ends(Fatally, Failed, func(id uint64) csm.Event {
				return csm.SessionFailed{Instance: uint32(id), Code: csm.CodeAuthentication}
			}),
		}},
	{effect: "DeactivateSession", target: "session", family: Instances, over: oldInstance, supersedes: all,
		open: asked(func(f csm.DeactivateSession) uint64 { return uint64(f.Instance) }),
		says: []say{ends(Always, Done, func(id uint64) csm.Event { return csm.SessionClosed{Instance: uint32(id)} })}},
	{effect: "OpenAudio", target: "audio", family: Instances, over: oldInstance,
		open: asked(func(f csm.OpenAudio) uint64 { return uint64(f.Instance) }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.AudioPrimed{Instance: uint32(id)} }),
			ends(Failing, Failed, func(id uint64) csm.Event {
				return csm.AudioFailed{Instance: uint32(id), Code: csm.CodeDeviceUnavailable}
			}),
			ends(Fatally, Failed, func(id uint64) csm.Event {
				return csm.AudioFailed{Instance: uint32(id), Code: csm.CodeMicrophoneDenied}
			}),
		}},
	{effect: "StartCapture", target: "audio", family: Instances, over: oldInstance,
		open: asked(func(f csm.StartCapture) uint64 { return uint64(f.Instance) }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.AudioReady{Instance: uint32(id)} }),
			ends(Failing, Failed, func(id uint64) csm.Event {
				return csm.AudioFailed{Instance: uint32(id), Code: csm.CodeAudioFailed}
			}),
		}},
	{effect: "CloseAudio", target: "audio", family: Instances, over: oldInstance, supersedes: all,
		open: asked(func(f csm.CloseAudio) uint64 { return uint64(f.Instance) }),
		says: []say{ends(Always, Done, func(id uint64) csm.Event { return csm.AudioClosed{Instance: uint32(id)} })}},
	{effect: "OpenConnection", target: "connection", family: Epochs,
		supersedes: func(f csm.Effect) bool { return !f.(csm.OpenConnection).Successor },
		open:       asked(func(f csm.OpenConnection) uint64 { return uint64(f.Epoch) }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.ConnReady{Epoch: uint32(id)} }),
			ends(Failing, Failed, func(id uint64) csm.Event {
				return csm.ConnFailed{Epoch: uint32(id), Code: csm.CodeConnectionFailed}
			}),
		}},
	{effect: "CloseConnection", target: "connection", family: Instances, genFamily: Epochs, over: oldInstance,
		supersedes: func(f csm.Effect) bool { return f.(csm.CloseConnection).Epoch == 0 },
		open: func(f csm.Effect) Item {
			c := f.(csm.CloseConnection)
			return Item{ID: uint64(c.Instance), Gen: c.Epoch}
		},
		says: []say{{event: func(_ *Place, it Item) csm.Event {
			return csm.ConnClosed{Instance: uint32(it.ID), Epoch: it.Gen}
		}}}},
	{effect: "SendCopilot", target: "copilot", family: Requests, over: confirmed,
		open: func(f csm.Effect) Item {
			c := f.(csm.SendCopilot)
			return Item{ID: c.Request, Gen: uint32(c.Round)}
		},
		says: copilotSays},
	{effect: "SearchTools", target: "copilot", family: Requests, over: confirmed,
		open: func(f csm.Effect) Item {
			t := f.(csm.SearchTools)
			return Item{ID: t.Request, Gen: uint32(t.Round)}
		},
		says: []say{
			{event: func(_ *Place, it Item) csm.Event {
				return csm.ToolSearchDone{Request: it.ID, Round: int(it.Gen)}
			}},
			{group: Failing, outcome: Failed, event: func(_ *Place, it Item) csm.Event {
				return csm.ToolSearchDone{Request: it.ID, Round: int(it.Gen), Code: csm.CodeToolSearchFailed}
			}},
			{outcome: Cancelled, event: func(_ *Place, it Item) csm.Event {
				return csm.ToolSearchDone{Request: it.ID, Round: int(it.Gen), Cancelled: true}
			}},
		}},
	{effect: "CallTool", target: "tool", family: Calls, over: given(csm.TimerTool),
		open: asked(func(f csm.CallTool) uint64 { return f.ToolCall }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.ToolDone{ToolCall: id} }),
			ends(Failing, Failed, func(id uint64) csm.Event { return csm.ToolDone{ToolCall: id, Code: csm.CodeToolFailed} }),
			ends(Always, Cancelled, func(id uint64) csm.Event { return csm.ToolDone{ToolCall: id, Cancelled: true} }),
		}},
	{effect: "LoadModel", target: "model", family: Loads, over: given(csm.TimerModel), supersedes: all,
		open: asked(func(f csm.LoadModel) uint64 { return uint64(f.Load) }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.ModelLoaded{Load: uint32(id)} }),
			ends(Failing, Failed, func(id uint64) csm.Event { return csm.ModelFailed{Load: uint32(id), Code: csm.CodeModelFailed} }),
			{when: func(_ *Place, it Item) bool { return it.Stage == 0 },
				event: func(_ *Place, it Item) csm.Event { return csm.ModelProgress{Load: uint32(it.ID), Percent: 50} },
				next:  func(it Item) Item { it.Stage = 1; return it }},
		}},
	{effect: "Summarise", target: "history", family: Jobs, over: given(csm.TimerSummary),
		open: asked(func(f csm.Summarise) uint64 { return uint64(f.Job) }),
		says: []say{
			ends(Always, Done, func(id uint64) csm.Event { return csm.Summarised{Job: uint32(id)} }),
			ends(Failing, Failed, func(id uint64) csm.Event { return csm.Summarised{Job: uint32(id), Code: csm.CodeCopilotFailed} }),
		}},
	{effect: "Speak", target: "voice", family: Segments, genFamily: Generations,
		open: func(f csm.Effect) Item {
			sp := f.(csm.Speak)
			return Item{ID: uint64(sp.Segment.Seq), Gen: sp.Gen}
		},
		over: func(s *csm.State, it Item) bool { return it.Gen != s.Speech.Generation() },
		says: speechSays},
	{effect: "Flush", target: "voice", genFamily: Generations, supersedes: all,
		open: func(f csm.Effect) Item { return Item{Gen: f.(csm.Flush).Gen - 1} },
		over: func(s *csm.State, _ Item) bool { return s.Conv.Phase() != csm.PhaseInterrupted },
		says: []say{
			{event: func(_ *Place, it Item) csm.Event { return csm.SpeechFlushed{Gen: it.Gen} }},
			{event: func(p *Place, it Item) csm.Event {
				return csm.SpeechFlushed{Gen: it.Gen, Seq: p.State.IDs.Segment, Played: 3, Of: 7}
			}},
		}},
}

// Stages of an answer: the reported attempt, and then its words.
const streaming = 100

// segmentChars is the length of each piece of an answer.
const segmentChars = 10

var copilotSays = []say{
	{when: func(p *Place, it Item) bool { return !it.Cancelled && int(it.Stage) < p.Limits.Attempts },
		event: func(_ *Place, it Item) csm.Event {
			return csm.CopilotSent{Request: it.ID, Round: int(it.Gen), Attempt: int(it.Stage) + 1}
		},
		next: func(it Item) Item { it.Stage++; return it }},
	{when: answering,
		event: func(p *Place, it Item) csm.Event {
			return csm.CopilotDelta{Request: it.ID, Round: int(it.Gen), Chars: int(p.Env.Said)*segmentChars + 1}
		},
		next: func(it Item) Item { it.Stage = streaming; return it }},
	{group: Acting, when: answering,
		event: func(p *Place, it Item) csm.Event {
			return csm.CopilotDelta{Request: it.ID, Round: int(it.Gen), Chars: int(p.Env.Said)*segmentChars + 1, Acted: true}
		},
		next: func(it Item) Item { it.Stage = streaming; return it }},
	{when: func(p *Place, it Item) bool { return answering(p, it) && int(p.Env.Said) < p.Limits.Segments },
		event: func(p *Place, it Item) csm.Event {
			at := int(p.Env.Said) * segmentChars
			return csm.CopilotSegment{Request: it.ID, Round: int(it.Gen), Start: at, End: at + segmentChars}
		},
		next: func(it Item) Item { it.Stage = streaming; return it }},
	wantsCall(Tooling, false, false), wantsCall(Destroying, true, false), wantsCall(Allowing, false, true),
	{when: func(_ *Place, it Item) bool { return it.Cancelled || it.Stage > 0 },
		event: func(_ *Place, it Item) csm.Event { return csm.CopilotDone{Request: it.ID, Round: int(it.Gen)} }},
	{group: Asking, when: answering,
		event: func(_ *Place, it Item) csm.Event {
			return csm.CopilotDone{Request: it.ID, Round: int(it.Gen), Asks: true}
		}},
	{outcome: Cancelled, event: func(_ *Place, it Item) csm.Event {
		return csm.CopilotDone{Request: it.ID, Round: int(it.Gen), Cancelled: true}
	}},
	{group: Failing, outcome: Failed, event: func(_ *Place, it Item) csm.Event {
		return csm.CopilotDone{Request: it.ID, Round: int(it.Gen), Code: csm.CodeCopilotFailed}
	}},
}

// wantsCall makes an answer call a tool, which reads unless it is destructive.
func wantsCall(g Group, destructive, allowed bool) say {
	return say{group: g,
		when: func(p *Place, it Item) bool { return answering(p, it) && int(it.Count) < p.Limits.Calls },
		event: func(p *Place, it Item) csm.Event {
			return csm.CopilotToolCall{Request: it.ID, Round: int(it.Gen), ToolCall: p.Env.Next + 1, Destructive: destructive, Reads: !destructive, Allowed: allowed}
		},
		next: func(it Item) Item { it.Stage = streaming; it.Count++; return it },
	}
}

// answering says whether words of an answer may arrive.
func answering(_ *Place, it Item) bool { return !it.Cancelled && it.Stage > 0 }

// Stages of a segment: requested, buffered, played.
const (
	wanted uint8 = iota
	buffered
	heard
)

var speechSays = []say{
	{when: func(p *Place, it Item) bool { return it.Stage == wanted && p.firstIn(it, wanted) && !p.dry() },
		event: func(_ *Place, it Item) csm.Event { return csm.SpeechBuffered{Gen: it.Gen, Seq: uint32(it.ID)} },
		next:  func(it Item) Item { it.Stage = buffered; return it }},
	{when: func(p *Place, it Item) bool { return p.sounds(it) && p.moreBuffered(it) }, event: played},
	{when: func(p *Place, it Item) bool { return p.sounds(it) && !p.moreBuffered(it) }, event: played,
		next: func(it Item) Item { it.Stage = heard; return it }},
	{when: func(_ *Place, it Item) bool { return it.Stage == heard },
		event: func(_ *Place, it Item) csm.Event { return csm.SpeechDrained{Gen: it.Gen, Seq: uint32(it.ID)} }},
	{group: Failing, outcome: Failed,
		when: func(p *Place, it Item) bool { return it.Stage == wanted && !p.dry() },
		event: func(_ *Place, it Item) csm.Event {
			return csm.SpeechFailed{Gen: it.Gen, Seq: uint32(it.ID), Code: csm.CodeSpeechFailed}
		}},
}

func played(_ *Place, it Item) csm.Event { return csm.SpeechPlayed{Gen: it.Gen, Seq: uint32(it.ID)} }

// voice says whether any segment requested from the voice passes.
func (p *Place) voice(pass func(Item) bool) bool {
	for _, it := range p.Env.Owed.All() {
		if rules[it.Rule].effect == "Speak" && pass(it) {
			return true
		}
	}
	return false
}

// firstIn says whether no earlier segment is in the same stage.
func (p *Place) firstIn(it Item, stage uint8) bool {
	return it.Stage == stage && !p.voice(func(o Item) bool { return o.ID < it.ID && o.Stage == stage })
}

// dry says that the last buffered segment was played, which is reported before anything
// else about the voice.
func (p *Place) dry() bool { return p.voice(func(o Item) bool { return o.Stage == heard }) }

// sounds says whether the item is being played.
func (p *Place) sounds(it Item) bool {
	return p.Env.Playing && p.firstIn(it, buffered) && !p.dry()
}

func (p *Place) moreBuffered(it Item) bool {
	return p.voice(func(o Item) bool { return o.ID > it.ID && o.Stage == buffered })
}
