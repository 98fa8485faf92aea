// Package history is the history region: what was said, and of the assistant's
// words only what was heard.
//
// # Model
//
// It keeps references and lengths, never words. The words are beside the core;
// an item names the utterance, the answer or the call of a tool that they belong
// to, and for an answer how many of its characters the playback cursor proves
// were heard.
//
// A history that grows past its limit is compacted: its oldest items are
// summarised, and leave when the summary stands for them. One compaction runs at
// a time, items that come meanwhile stay, and one that failed takes nothing away
// (invariant 10).
package history

import "fmt"

// Item is one thing that was said or done.
type Item struct {
	Turn      uint64   `json:"turn"`
	Utterance uint64   `json:"utterance,omitempty"` // the user's, or
	More      []uint64 `json:"more,omitempty"`      // with what was merged with it, or
	Request   uint64   `json:"request,omitempty"`   // the assistant's, or
	Tool      uint64   `json:"tool,omitempty"`      // a call of a tool
	From      int      `json:"from,omitempty"`      // characters of the answer that an item before this one has
	Heard     int      `json:"heard,omitempty"`     // characters of the answer that were heard
	Outcome   Outcome  `json:"outcome,omitempty"`   // of the call
}

// Outcome is how a call of a tool ended.
type Outcome string

// The outcomes of a call.
const (
	Done     Outcome = "done"
	Rejected Outcome = "rejected"
	Failed   Outcome = "failed"
	Stopped  Outcome = "cancelled"
)

// Log is what is remembered, oldest first. Items is never modified in place.
type Log struct {
	Items   []Item `json:"items,omitempty"`
	Summary uint32 `json:"summary,omitempty"` // the compaction whose summary stands for what left, 0 for none
	Left    Answer `json:"left,omitzero"`     // the last answer that left, of which more may be heard
}

// Answer says how many characters of an answer were heard.
type Answer struct {
	Request uint64 `json:"request"`
	Heard   int    `json:"heard"`
}

// State is a closed sum: Normal or Compacting.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	// Said is what is remembered.
	Said() Log
	parts() (name, data)
}

// The states.
type (
	// Normal: nothing is being summarised. From is how long the log must be before
	// another compaction is tried after one that failed.
	Normal struct {
		Log
		From int `json:"from,omitempty"`
	}
	// Compacting: the first Count items are being summarised.
	Compacting struct {
		Log
		Job   uint32 `json:"job"`
		Count int    `json:"count"`
	}
)

// name is a state without its data, or a superstate.
type name uint8

const (
	normal name = iota
	compacting
	all
)

func (n name) String() string { return [...]string{"normal", "compacting", "all"}[n] }

var parents = map[name]name{normal: all, compacting: all}

// data is what a state may know.
type data struct {
	Compacting
	from int
}

// state is the one place where a state is made of its name and data.
func state(n name, d data) State {
	if n == compacting {
		return d.Compacting
	}
	return Normal{Log: d.Log, From: d.from}
}

func (n Normal) parts() (name, data)     { return normal, data{Compacting{Log: n.Log}, n.From} }
func (c Compacting) parts() (name, data) { return compacting, data{Compacting: c} }

func (Normal) String() string     { return normal.String() }
func (Compacting) String() string { return compacting.String() }

// Said is the log of a Normal history.
func (n Normal) Said() Log { return n.Log }

// Said is the log of a history that is being compacted.
func (c Compacting) Said() Log { return c.Log }

// HeardOf is how many characters of an answer were heard, over all its items.
func HeardOf(l Log, request uint64) (chars int) {
	if l.Left.Request == request {
		chars = l.Left.Heard
	}
	for _, it := range l.Items {
		if it.Request == request {
			chars = max(chars, it.Heard)
		}
	}
	return chars
}

// Due says whether a log of more than limit items is to be compacted now.
func Due(s State, limit int) bool {
	n, _ := s.(Normal)
	return limit > 0 && len(n.Items) > limit && len(n.Items) >= n.From
}

// Add adds an item.
func Add(s State, it Item) State { return only(next(s, said, change{item: it})) }

// Heard adds an answer, or raises the heard length of the last item when it is
// of the same request. A shorter length than the known one changes nothing.
func Heard(s State, turn, request uint64, chars int) State {
	return only(next(s, heard, change{item: Item{Turn: turn, Request: request, Heard: chars}}))
}

// Compact begins to summarise all but the last keep items, as job. It cuts
// before something that the user said where it can, and else between two items
// of one long turn, so that a turn of many tools is compacted too.
func Compact(s State, job uint32, keep int) State {
	return only(next(s, compact, change{job: job, n: max(keep, 1)}))
}

// Compacted ends compaction job. What was summarised leaves; a compaction that
// failed leaves everything, and the next is tried when the log has grown by
// grow items.
func Compacted(s State, job uint32, ok bool, grow int) (State, bool) {
	in := summarised
	if !ok {
		in = failed
	}
	return next(s, in, change{job: job, n: max(grow, 1)})
}

// Stop gives up the compaction that runs, if one does: its conversation is over.
func Stop(s State) State { return only(next(s, stop, change{})) }

func only(s State, _ bool) State { return s }
