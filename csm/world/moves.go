package world

import (
	"encoding/json"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Limits define what can happen in a world in addition to answers and deadlines, and how
// often.
type Limits struct {
	Groups   Group      `json:"groups"`
	Config   csm.Config `json:"-"`
	Queue    int        `json:"queue"`    // queued utterances
	Pending  int        `json:"pending"`  // utterances whose words are awaited, besides the open one
	Segments int        `json:"segments"` // pieces of one answer
	Attempts int        `json:"attempts"` // per request
	Faults   int        `json:"faults"`   // consecutive recoveries
	Calls    int        `json:"calls"`    // tool calls per round
	Rounds   int        `json:"rounds"`   // further rounds per request
	Drafts   int        `json:"drafts"`   // utterances in a turn with manual commit; 0 for automatic turns, where one may be merged
	History  int        `json:"history"`  // items from which the oldest are summarised, 0 for never

	Interruption csm.Interruption `json:"interruption"` // what interrupts the assistant; 0 for the default
}

// Configured returns l with the core configuration that it implies.
func (l Limits) Configured() Limits {
	c := csm.DefaultConfig()
	c.QueueMax, c.FaultRetries, c.BreakerFaults, c.BreakerWindow = l.Queue, l.Faults, 2, time.Minute
	c.Tools, c.RoundsMax = l.Groups&Tooling != 0, l.Rounds
	c.HistoryMax, c.HistoryKeep, c.Interruption = l.History, 1, max(c.Interruption, l.Interruption)
	if l.Drafts > 0 {
		c.Turns = turn.Manual
	}
	l.Config = c
	return l
}

// Group is a set of kinds of events.
type Group uint32

// The groups.
const (
	Always      Group = 0
	Voice       Group = 1 << iota // the user speaks
	Text                          // the user types
	Reading                       // a text is read aloud
	Pausing                       // the user pauses speech
	User                          // the user interrupts, commits and stops
	Retrying                      // the user retries
	Holding                       // suspend and resume
	Renewing                      // the service forces a pause
	Device                        // devices are lost and restored
	Dropping                      // connections are lost
	Failing                       // requests fail
	Fatally                       // requests fail permanently
	Breaking                      // working resources fail
	Configuring                   // the configuration changes
	Quiet                         // time passes without a fault
	Expiring                      // connections expire
	Tooling                       // answers call tools,
	Destroying                    // including destructive ones
	Loading                       // the user selects models
	Silences                      // the voice pauses within an utterance
	Replying                      // transcripts are yes and no
	Phrases                       // transcripts end with the send phrase
	Allowing                      // tool calls may be preapproved
	Waiting                       // transcripts tell the assistant to wait
	Asking                        // answers end with a question
	Acting                        // agents run tools by themselves
)

var groupNames = []string{
	"voice", "text", "reading", "pausing", "user", "retrying", "holding", "renewing", "device", "dropping", "failing", "fatally", "breaking",
	"configuring", "quiet", "expiring", "tooling", "destroying", "loading", "silences", "replying", "phrases", "allowing", "waiting", "asking", "acting",
}

// Names returns the names of the groups in g.
func (g Group) Names() (out []string) {
	for i, name := range groupNames {
		if g&(Voice<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// MarshalJSON writes the names of the groups.
func (g Group) MarshalJSON() ([]byte, error) { return json.Marshal(g.Names()) }

// Class is the origin of a move.
type Class uint8

// The classes.
const (
	Command  Class = iota // an action of the user or the world, which nothing may depend on
	Answer                // an owed answer
	Deadline              // a timer of the core
	Post                  // the core's own event
	Passing               // only time passes
)

// Move is one thing that can happen in a Place.
type Move struct {
	Event csm.Event // nil for Passing
	Class Class
	item  int8 // index of the owed item, -1 for none
	say   uint8
}

// QuietStep is how much time a pause of the environment takes, relative to a breaker
// window of one minute.
const QuietStep = 36 * time.Second

// Place is a core in its environment.
type Place struct {
	State  csm.State
	Env    Env
	Limits *Limits
}

// Moves appends everything that can happen in p, in an order that depends only on p.
func (p *Place) Moves(out []Move) []Move {
	if p.Env.Posts.N > 0 { // only events on the signal lane precede these
		e, err := csm.DecodeEvent(p.Env.Posts.At[0], nil)
		if err != nil {
			panic("world: the core posts an unknown event: " + err.Error())
		}
		out = append(out, Move{Event: e, Class: Post, item: -1})
	}
	out = p.answers(out)
	for t := range csm.NumTimers {
		if ts := p.State.Timers[t]; ts.Armed {
			out = append(out, Move{Event: csm.TimerFired{Timer: t, Gen: ts.Gen}, Class: Deadline, item: -1})
		}
	}
	for i := range commands {
		if c := &commands[i]; p.has(c.group) {
			out = append(out, does(c.event))
		}
	}
	out = p.speaks(p.facts(p.wishes(out)))
	switch p.Env.Posts.N {
	case 0:
		return out
	case 1:
	default: // the queue is full
		return out[:1]
	}
	signals := out[:0]
	for _, m := range out {
		if m.Class == Post || m.Event != nil && csm.LaneOf(m.Event) == csm.Signal {
			signals = append(signals, m)
		}
	}
	return signals
}

// Any returns a random move, mostly an owed answer; pick returns a number below n.
// Deadlines, failures and ends are rare, so that conversations get far.
func (p *Place) Any(pick func(what string, n int) int) Move {
	var owed, other []Move
	fails, rare := pick("fails", 6) == 0, pick("rare", 8) == 0
	for _, m := range p.Moves(nil) {
		_, stops := m.Event.(csm.UserStop)
		switch {
		case m.Class == Post, m.Class == Answer && (fails || p.Env.Outcome(m) == Done):
			owed = append(owed, m)
		case m.Class == Answer, (stops || m.Class == Deadline) && !rare:
		default:
			other = append(other, m)
		}
	}
	switch from := other; {
	case len(owed) > 0 && (len(other) == 0 || pick("owed", 2) == 0):
		return owed[pick("move", len(owed))]
	case len(from) > 0:
		return from[pick("move", len(from))]
	default: // only rare moves are left
		return p.Moves(nil)[0]
	}
}

func (p *Place) has(g Group) bool { return g&^p.Limits.Groups == 0 }

// answers appends the reports about owed items.
func (p *Place) answers(out []Move) []Move {
	for i, it := range p.Env.Owed.All() {
		says := rules[it.Rule].says
		for j := range says {
			if sy := &says[j]; p.has(sy.group) && (sy.when == nil || sy.when(p, it)) {
				out = append(out, Move{Event: sy.event(p, it), Class: Answer, item: int8(i), say: uint8(j)})
			}
		}
	}
	return out
}

// Apply updates the environment with a move, before the step of its event.
func (w *Env) Apply(m Move) {
	switch {
	case m.item >= 0:
		if sy := w.say(m); sy.next != nil {
			w.Owed.At[m.item] = sy.next(w.Owed.At[m.item])
		} else {
			w.Owed.drop(int(m.item))
		}
	case m.Class == Post:
		w.Posts.drop(0)
	case m.Class == Passing:
		w.Now += QuietStep
	}
	w.see(m.Event)
}

// Ends returns the effect and id whose last answer the move is, "" for other moves and
// for answers to cancelled requests.
func (w *Env) Ends(m Move) (effect string, id uint64) {
	if m.item < 0 {
		return "", 0
	}
	it := w.Owed.At[m.item]
	r := &rules[it.Rule]
	if it.Cancelled || r.says[m.say].next != nil {
		return "", 0
	}
	return r.effect, it.ID
}

// Owes says whether a move is a report about an item, and Settles whether it is the
// successful end of one. Outcome is how an answer ends.
func (w *Env) Owes(m Move) bool { return m.item >= 0 }

// Settles is described at Owes.
func (w *Env) Settles(m Move) bool {
	return m.item >= 0 && w.say(m).next == nil && w.say(m).outcome == Done
}

// Outcome is described at Owes.
func (w *Env) Outcome(m Move) Outcome {
	if m.item < 0 {
		return Done
	}
	return w.say(m).outcome
}

func (w *Env) say(m Move) *say { return &rules[w.Owed.At[m.item].Rule].says[m.say] }

// Asks says whether an effect is a request that the environment must answer.
func Asks(f csm.Effect) bool {
	_, ok := ruleOf[csm.NameOf(f)]
	return ok
}

func does(e csm.Event) Move { return Move{Event: e, item: -1} }

// call is the call id of every command, so that each step shows whether it is replied to
// once.
const call = 1

// commands are the actions of the user that are possible in every state.
var commands = []struct {
	group Group
	event csm.Event
}{
	{Always, csm.UserStart{Call: call}},
	{Always, csm.UserStop{Call: call}},
	{User, csm.UserStop{Code: csm.CodeClientGone}},
	{User, csm.UserInterrupt{Call: call}},
	{User, csm.UserCommit{Call: call}},
	{Pausing, csm.UserPlayback{Call: call, Pause: true}},
	{Pausing, csm.UserPlayback{Call: call}},
	{Holding, csm.Suspend{Call: call, Reason: csm.SuspendUser}},
	{Holding, csm.Resume{Call: call, Reason: csm.SuspendUser}},
	{Loading, csm.UserSelectModel{Call: call, Model: 1}},
	{Loading, csm.UserSelectModel{Call: call, Model: 2}},
}

// wishes appends the actions of the user that are possible here.
func (p *Place) wishes(out []Move) []Move {
	next := p.Env.Next + 1
	if p.has(Retrying) {
		out = p.retries(out)
	}
	if p.has(Text) && !p.merged() {
		out = append(out, does(csm.UserText{Call: call, Utterance: next, Words: 2}))
	}
	if p.has(Reading) {
		out = append(out, does(csm.UserSpeak{Call: call, Ref: next, Chars: segmentChars}))
	}
	if id := p.Env.Asking; id != 0 && p.has(Tooling) {
		out = append(out, does(csm.UserApprove{Call: call, ToolCall: id, Approved: true}), does(csm.UserApprove{Call: call, ToolCall: id}))
	}
	if p.has(Configuring) {
		other := p.Limits.Config
		other.QueueMax = 1
		if *p.State.Config == other {
			other = p.Limits.Config
		}
		out = append(out, does(csm.Configure{Config: other}))
	}
	return out
}

// retries appends the user's retries: of any failure, of the failed stage, and of another
// stage.
func (p *Place) retries(out []Move) []Move {
	stage := p.State.Retry.Stage
	for i, e := range []csm.UserRetry{{Call: call}, {Call: call, Stage: stage}, {Call: call, Stage: stage%4 + 1}} {
		if i == 1 && stage == 0 {
			continue
		}
		if p.has(Tooling) {
			e.ToolCall = p.Env.Next + 1
		}
		out = append(out, does(e))
	}
	return out
}

// facts appends the spontaneous events of devices and the service.
func (p *Place) facts(out []Move) []Move {
	w, in := &p.Env, p.State.Instance
	session, audio := w.Parts[sessionPart] == opened, w.Parts[audioPart] == opened
	on := func(g Group, holds bool, e csm.Event) {
		if holds && p.has(g) {
			out = append(out, does(e))
		}
	}
	if session && p.Limits.Groups&(Renewing|Breaking|Expiring) != 0 {
		on(Renewing, true, csm.SessionRenewal{Instance: in})
		on(Renewing, true, csm.SessionRenewed{Instance: in})
		on(Breaking, true, csm.SessionFailed{Instance: in, Code: csm.CodeSessionExpired})
		on(Expiring, true, csm.SessionExpiring{Instance: in})
	}
	if audio && p.has(Breaking) {
		out = append(out, does(csm.AudioFailed{Instance: in, Code: csm.CodeAudioFailed}))
	}
	if p.has(Device) {
		for d := range csm.Speaker + 1 {
			on(Device, audio && w.Lost&d.Reasons() == 0, csm.AudioLost{Instance: in, Device: d})
			on(Device, w.Lost&d.Reasons() == d.Reasons(), csm.AudioRestored{Instance: in, Device: d})
		}
	}
	if p.has(Dropping) {
		on(Dropping, w.Epoch != 0, csm.ConnLost{Epoch: w.Epoch, Code: csm.CodeConnectionLost})
		on(Dropping|Expiring, w.Successor != 0, csm.ConnLost{Epoch: w.Successor, Code: csm.CodeConnectionLost})
	}
	if w.Playing && p.has(Pausing) {
		out = append(out, does(csm.SpeechCursor{Gen: p.State.Speech.Generation(), Seq: p.State.IDs.Segment, Played: 1, Of: 2}))
	}
	if p.has(Quiet) && p.State.Phase() == csm.PhaseListening && p.State.Faults.InRow > 0 {
		out = append(out, Move{Class: Passing, item: -1})
	}
	return out
}

// merged says whether one turn has as many utterances as the limit allows. The core has
// no limit of its own.
func (p *Place) merged() bool {
	most := max(p.Limits.Drafts, 1)
	return len(p.State.Drafts) >= most || len(p.State.Current.More) >= most
}

// transcripts are the kinds of transcript.
var transcripts = []struct {
	group Group
	final csm.Final
}{
	{Voice, csm.Final{Words: 2}},
	{Replying, csm.Final{Words: 2, Doubted: true}},
	{Replying, csm.Final{Class: csm.Agree, Words: 1}},
	{Voice, csm.Final{Class: csm.Empty}},
	{Voice, csm.Final{Class: csm.Backchannel, Words: 1}},
	{Voice, csm.Final{Class: csm.Stop, Words: 1}},
	{Replying, csm.Final{Class: csm.Yes, Words: 1}},
	{Replying, csm.Final{Class: csm.Yes, Words: 3, Named: true}},
	{Replying, csm.Final{Class: csm.No, Words: 1}},
	{Replying, csm.Final{Class: csm.Unclear, Words: 2}},
	{Phrases, csm.Final{Class: csm.Send, Words: 2}},
	{Waiting, csm.Final{Class: csm.Pause, Words: 2}},
	{Pausing, csm.Final{Class: csm.Pause, Words: 2}},
	{Pausing, csm.Final{Class: csm.Continue, Words: 1}},
}

// speaks appends events of the user's voice and its recognition.
func (p *Place) speaks(out []Move) []Move {
	w := &p.Env
	if w.Epoch == 0 || !w.Hearing || w.Lost&csm.SuspendMicrophone != 0 || !p.has(Voice) {
		return out
	}
	if w.Open == 0 && int(w.Pending.N) < p.Limits.Pending {
		out = append(out, does(csm.SpeechStarted{Epoch: w.Epoch, Utterance: w.Next + 1}))
	}
	if w.Open != 0 {
		switch {
		case !p.has(Silences):
		case w.Silent:
			out = append(out, does(csm.SpeechResumed{Epoch: w.Epoch, Utterance: w.Open}))
		default:
			for _, pos := range p.lengths() {
				out = append(out, does(csm.SpeechPaused{Epoch: w.Epoch, Utterance: w.Open, Pos: pos}))
			}
		}
		for _, pos := range p.lengths() {
			out = append(out, does(csm.SpeechStopped{Epoch: w.Epoch, Utterance: w.Open, Pos: pos}))
		}
	}
	switch first := w.Pending.All(); { // words come in the order of onsets
	case len(first) > 0:
		return p.recognised(first[0], out)
	case w.Open != 0:
		return p.recognised(w.Open, out)
	}
	return out
}

// lengths are positions at which speech that started at 0 may end: immediately and, if
// its length matters, late.
func (p *Place) lengths() []int64 {
	if p.Limits.Interruption != csm.Never {
		return []int64{0, 10 * 48000}
	}
	return []int64{0}
}

// recognised appends the possible transcripts of an utterance.
func (p *Place) recognised(u uint64, out []Move) []Move {
	epoch := p.Env.Epoch
	out = append(out, does(csm.Partial{Epoch: epoch, Utterance: u, Words: 1}), does(csm.Partial{Epoch: epoch, Utterance: u, Words: 1, Class: csm.Backchannel}))
	for _, t := range transcripts {
		sent := t.final.Class != csm.Empty && t.final.Class != csm.Backchannel && t.final.Class != csm.Stop && t.final.Class != csm.Pause && !t.final.Doubted
		if !p.has(t.group) || sent && p.merged() {
			continue
		}
		f := t.final
		f.Epoch, f.Utterance = epoch, u
		out = append(out, Move{Event: f, item: -1, Class: Answer})
	}
	return append(out, Move{Event: csm.RecognitionLost{Epoch: epoch, Utterance: u, Code: csm.CodeRecognitionFailed}, item: -1, Class: Answer})
}
