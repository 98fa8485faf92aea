// Package history is the history region: the conversation so far, with only the heard
// part of the assistant's answers.
//
// # Model
//
// It holds references and lengths, never words, which are kept outside of the core. An
// item identifies an utterance, an answer or a tool call; for an answer, it also has the
// number of characters that were heard according to the playback cursor.
//
// A history over its limit is compacted: its oldest items are summarised and then removed
// in favour of the summary. One compaction runs at a time. Items that are added meanwhile
// stay, and a failed compaction removes nothing (invariant 10).
package history

import (
	"fmt"
	"slices"
)

// Item is one message or action.
type Item struct {
	Turn      uint64   `json:"turn"`
	Utterance uint64   `json:"utterance,omitempty"` // the user's, or
	More      []uint64 `json:"more,omitempty"`      // and the utterances merged with it, or
	Request   uint64   `json:"request,omitempty"`   // the assistant's, or
	Tool      uint64   `json:"tool,omitempty"`      // a tool call
	From      int      `json:"from,omitempty"`      // characters of the answer in earlier items
	Heard     int      `json:"heard,omitempty"`     // characters of the answer that were heard
	Outcome   Outcome  `json:"outcome,omitempty"`   // outcome of the call
}

// Outcome is how a tool call ended.
type Outcome string

// The outcomes of a call.
const (
	Done     Outcome = "done"
	Rejected Outcome = "rejected"
	Failed   Outcome = "failed"
	Stopped  Outcome = "cancelled"
)

// Log is the history, oldest item first. Items is never modified in place.
type Log struct {
	Items   []Item `json:"items,omitempty"`
	Summary uint32 `json:"summary,omitempty"` // the compaction that summarised the removed items, 0 for none
	Left    Answer `json:"left,omitzero"`     // the last removed answer, of which more may be heard
}

// Answer is how many characters of an answer were heard.
type Answer struct {
	Request uint64 `json:"request"`
	Heard   int    `json:"heard"`
}

// State is a closed sum: Normal or Compacting.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	// Said returns the log.
	Said() Log
	parts() (name, data)
}

// The states.
type (
	// Normal: nothing is being summarised. From is the length from which a failed
	// compaction is retried.
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

// data is the union of the states' data.
type data struct {
	Compacting
	from int
}

// state is the only function that builds a state from its name and data.
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

// Said returns the log.
func (n Normal) Said() Log { return n.Log }

// Said returns the log.
func (c Compacting) Said() Log { return c.Log }

// HeardOf returns how many characters of an answer were heard, over all its items.
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

// Due says whether a log of more than limit items must be compacted now.
func Due(s State, limit int) bool {
	n, _ := s.(Normal)
	return limit > 0 && len(n.Items) > limit && len(n.Items) >= n.From
}

// Add appends an item.
func Add(s State, it Item) State { return only(next(s, said, change{item: it})) }

// Asked returns the index of the item of an utterance, or -1.
func Asked(l Log, utterance uint64) int {
	return slices.IndexFunc(l.Items, func(it Item) bool { return utterance != 0 && it.Utterance == utterance })
}

// Again replaces the item of the same utterance, which is asked about again, and what followed it. Those
// that are being summarised stay.
func Again(s State, it Item) State { return only(next(s, again, change{item: it})) }

// Heard appends an answer, or increases the heard length of the last item if it is of the
// same request. A shorter length changes nothing.
func Heard(s State, turn, request uint64, chars int) State {
	return only(next(s, heard, change{item: Item{Turn: turn, Request: request, Heard: chars}}))
}

// Compact starts job, which summarises all but the last keep items. If possible it cuts
// before an utterance of the user, otherwise between two items of one long turn, so that
// a turn with many tool calls is compacted too.
func Compact(s State, job uint32, keep int) State {
	return only(next(s, compact, change{job: job, n: max(keep, 1)}))
}

// Compacted ends a compaction job. On success the summarised items are removed; on
// failure all stay, and the next attempt waits until the log has grown by grow items.
func Compacted(s State, job uint32, ok bool, grow int) (State, bool) {
	in := summarised
	if !ok {
		in = failed
	}
	return next(s, in, change{job: job, n: max(grow, 1)})
}

// Stop cancels a running compaction at the end of the conversation.
func Stop(s State) State { return only(next(s, stop, change{})) }

func only(s State, _ bool) State { return s }
