package explore

import (
	"reflect"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// role says what the canonical form keeps of a field.
type role struct {
	kind roleKind
	fam  world.Family
}

type roleKind uint8

const (
	drop  roleKind = iota // no decision depends on it, or another field implies it
	plain                 // its value
	isSet                 // whether it is zero, per array element
	named                 // the id's number in its family, per slice element
	special
)

// roles defines how each field of a state, other than structs and sums, enters the
// canonical form. A missing field is an error, so that none is ignored silently.
var roles = map[string]role{
	// Published facts about the last transition.
	"csm.State.Previous": {}, "csm.State.Since": {}, "csm.State.Cause": {}, "csm.State.CauseSeq": {},
	"csm.State.Session":     {kind: plain},
	"csm.State.Hold":        {kind: plain},
	"csm.State.Instance":    {kind: named, fam: world.Instances},
	"csm.State.Queue":       {kind: named, fam: world.Utterances},
	"csm.State.Drafts":      {kind: named, fam: world.Utterances},
	"csm.State.Config":      {kind: special},
	"csm.State.VoicePaused": {kind: plain},
	"csm.State.Asked":       {kind: plain},
	"csm.State.Cursor":      {}, // it only determines the recorded heard length
	"csm.State.IDs":         {}, // all other ids are relative to them
	"csm.State.Faults":      {kind: special},
	"csm.State.Retry":       {kind: special},
	"csm.State.Counters":    {},

	"csm.Idle.Starting":      {kind: plain},
	"csm.Analysing.Unsent":   {kind: named, fam: world.Utterances},
	"csm.Analysing.Awaiting": {kind: plain},
	"csm.Analysing.Stage":    {kind: plain},
	// How much of it was heard only affects the history.
	"csm.Interrupted.Request": {kind: named, fam: world.Requests},
	"csm.Interrupted.Doubt":   {kind: plain},
	"csm.Interrupted.Left":    {}, // a duration
	"csm.Faulted.Code":        {}, // published; Fatal has its consequence
	"csm.Faulted.Fatal":       {kind: plain},
	"csm.Faulted.Breaker":     {kind: plain},
	"csm.Faulted.Recovering":  {kind: plain},

	"csm.Terminating.Start": {kind: plain}, "csm.Terminating.TakeOver": {}, "csm.Terminating.Texts": {kind: named, fam: world.Utterances},

	"csm.Turn.ID": {kind: named, fam: world.Turns}, "csm.Turn.Role": {kind: plain}, "csm.Turn.Opened": {},
	"csm.Turn.Utterance": {kind: named, fam: world.Utterances}, "csm.Turn.Request": {kind: named, fam: world.Requests},
	"csm.Turn.Attempt": {kind: plain}, "csm.Turn.Interruptions": {}, // published
	"csm.Turn.Decided": {kind: plain},
	"csm.Turn.Failed":  {kind: isSet}, "csm.Turn.Config": {kind: special}, "csm.Turn.More": {kind: named, fam: world.Utterances},

	"csm.Model.Wanted": {kind: named, fam: world.Models}, "csm.Model.Loaded": {kind: named, fam: world.Models},

	"csm.TimerState.Gen": {}, "csm.TimerState.Armed": {kind: plain}, "csm.TimerState.At": {}, "csm.TimerState.Left": {kind: isSet},

	"csm.Resources.Audio": {kind: plain}, "csm.Resources.Conn": {kind: plain}, "csm.Resources.Session": {kind: plain},
	"csm.Resources.OldConn": {kind: plain}, "csm.Resources.Capturing": {kind: plain},

	"connection.Connecting.Epoch":    {kind: named, fam: world.Epochs},
	"connection.Open.Epoch":          {kind: named, fam: world.Epochs},
	"connection.Open.Successor":      {kind: named, fam: world.Epochs},
	"connection.Open.SuccessorReady": {kind: plain},
	"connection.Reconnecting.Epoch":  {kind: named, fam: world.Epochs},

	"turn.Utterance.ID": {kind: named, fam: world.Utterances}, "turn.Utterance.Pos": {}, // published
	"turn.Utterance.Committed": {kind: plain}, "turn.Utterance.Stamp": {kind: plain}, "turn.Utterance.Dropped": {kind: plain}, "turn.UserSpeaking.Silent": {kind: plain},

	"speech.Closed.Gen": {kind: named, fam: world.Generations},
	"speech.Line.Gen":   {kind: named, fam: world.Generations}, "speech.Line.Asked": {kind: plain}, "speech.Line.Played": {kind: plain}, "speech.Line.Ended": {kind: plain},
	"speech.Paused.HasWords": {kind: plain},
	"speech.Segment.Seq":     {kind: named, fam: world.Segments}, "speech.Segment.Request": {kind: named, fam: world.Requests},
	"speech.Segment.Start": {kind: plain}, "speech.Segment.End": {kind: plain},
	"speech.Segment.Ask": {kind: named, fam: world.Calls}, "speech.Segment.Ref": {kind: isSet}, "speech.Segment.Notice": {kind: isSet},

	"copilot.Live.Request": {kind: named, fam: world.Requests}, "copilot.Live.Attempt": {kind: plain}, "copilot.Live.Cancelled": {kind: plain},
	"copilot.Live.Round": {kind: plain}, "copilot.Call.ID": {kind: named, fam: world.Calls}, "copilot.Call.Destructive": {kind: plain},
	"copilot.Call.Allowed": {kind: plain}, "copilot.Call.Reads": {kind: plain},
	"csm.Approval.State": {kind: plain}, "csm.Approval.Times": {kind: plain}, "csm.Approval.Heard": {kind: plain},
	"copilot.LoadingModel.Load": {kind: named, fam: world.Loads}, "copilot.LoadingModel.Model": {kind: named, fam: world.Models},
	"copilot.LoadingModel.Percent": {kind: plain}, "copilot.LoadFailed.Reason": {}, // only explained to the user
	"copilot.Failure.Utterance": {kind: named, fam: world.Utterances}, "copilot.Failure.More": {kind: named, fam: world.Utterances},
	"copilot.Failure.Stage": {kind: plain},

	// Decisions see the length of the history, and where the user's messages start.
	"history.Log.Items": {kind: special}, "history.Log.Summary": {}, "history.Log.Left": {}, "history.Normal.From": {kind: special},
	"history.Item.Utterance": {}, "history.Item.Turn": {}, "history.Item.More": {}, "history.Item.Request": {}, "history.Item.Tool": {},
	"history.Item.From": {}, "history.Item.Heard": {}, "history.Item.Outcome": {},
	"history.Compacting.Job": {kind: named, fam: world.Jobs}, "history.Compacting.Count": {kind: special},
}

// specials write the fields that have a form of their own. They are initialised in init,
// since some refer to each other.
var specials map[string]program

func init() { specials = specialPrograms }

var specialPrograms = map[string]program{
	"csm.State.Config": writeConfig,
	"csm.Turn.Config":  writeConfig,
	"csm.State.Faults": func(c *coder, _ reflect.Value) { c.faults() },
	// Only the user's "try again" uses the last failure.
	"csm.State.Retry": func(c *coder, v reflect.Value) {
		if c.limits.Groups&world.Retrying != 0 {
			c.value(v)
		}
	},
	// Items come first in a history; the other fields refer to them. A history that is
	// never compacted does not matter.
	"history.Log.Items": func(c *coder, v reflect.Value) {
		if c.items = v.Len(); c.base.HistoryMax == 0 {
			return
		}
		n := min(c.items, c.base.HistoryMax+2)
		c.byte(byte(n))
		for i := c.items - n; i < c.items; i++ {
			c.bool(v.Index(i).FieldByName("Utterance").Uint() != 0)
		}
	},
	"history.Normal.From": func(c *coder, v reflect.Value) {
		if c.base.HistoryMax != 0 {
			c.uint(uint64(max(int(v.Int())-c.items, 0)))
		}
	},
	"history.Compacting.Count": func(c *coder, v reflect.Value) {
		if c.base.HistoryMax != 0 {
			c.uint(uint64(min(c.items-int(v.Int()), c.base.HistoryMax+2)))
		}
	},
}

func writeConfig(c *coder, v reflect.Value) { c.config(v.Interface().(*csm.Config)) }

// program returns the program that writes the field of that name and type in this role.
func (r role) program(name string, t reflect.Type) program {
	switch r.kind {
	case isSet:
		if t.Kind() == reflect.Array {
			return func(c *coder, v reflect.Value) {
				for i := range v.Len() {
					c.bool(!v.Index(i).IsZero())
				}
			}
		}
		return func(c *coder, v reflect.Value) { c.bool(!v.IsZero()) }
	case named:
		if t.Kind() == reflect.Slice {
			return func(c *coder, v reflect.Value) {
				c.uint(uint64(v.Len()))
				for i := range v.Len() {
					c.id(r.fam, v.Index(i).Uint())
				}
			}
		}
		return func(c *coder, v reflect.Value) { c.id(r.fam, v.Uint()) }
	case special:
		p, ok := specials[name]
		if !ok {
			panic("explore: field " + name + " has the role special, but specials has no entry for it")
		}
		return p
	default:
		return compile(t)
	}
}
