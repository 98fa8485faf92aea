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

import (
	"fmt"
	"slices"
)

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
	state()
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

func (Normal) state()     {}
func (Compacting) state() {}

func (Normal) String() string     { return "normal" }
func (Compacting) String() string { return "compacting" }

// Said is the log of a Normal history.
func (n Normal) Said() Log { return n.Log }

// Said is the log of a history that is being compacted.
func (c Compacting) Said() Log { return c.Log }

func with(s State, l Log) State {
	switch s := s.(type) {
	case Compacting:
		s.Log = l
		return s
	case Normal:
		s.Log = l
		return s
	}
	return s
}

// Add adds an item.
func Add(s State, it Item) State {
	l := s.Said()
	l.Items = append(l.Items[:len(l.Items):len(l.Items)], it)
	return with(s, l)
}

// Heard adds an answer, or raises the heard length of the last item when it is
// of the same request. A shorter length than the known one changes nothing.
func Heard(s State, turn, request uint64, chars int) State {
	l := s.Said()
	n := len(l.Items)
	if n > 0 && l.Items[n-1].Request == request {
		if chars <= l.Items[n-1].Heard {
			return s
		}
		l.Items = slices.Clone(l.Items)
		l.Items[n-1].Heard = chars
		return with(s, l)
	}
	before := HeardOf(l, request)
	if chars <= before {
		return s
	}
	return Add(s, Item{Turn: turn, Request: request, From: before, Heard: chars})
}

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

// Compact begins to summarise all but the last keep items, as job. It cuts
// before something that the user said where it can, and else between two items
// of one long turn, so that a turn of many tools is compacted too.
func Compact(s State, job uint32, keep int) State {
	n, _ := s.(Normal)
	if len(n.Items) <= max(keep, 1) {
		return s
	}
	last := len(n.Items) - max(keep, 1)
	count := last
	for count > 0 && n.Items[count].Utterance == 0 {
		count--
	}
	if count == 0 {
		count = last
	}
	return Compacting{Log: n.Log, Job: job, Count: count}
}

// Compacted ends compaction job. What was summarised leaves; a compaction that
// failed leaves everything, and the next is tried when the log has grown by
// grow items.
func Compacted(s State, job uint32, ok bool, grow int) (next State, live bool) {
	c, compacting := s.(Compacting)
	switch {
	case !compacting || c.Job != job:
		return s, false
	case !ok:
		return Normal{Log: c.Log, From: len(c.Items) + max(grow, 1)}, true
	default:
		left := c.Left
		for _, it := range c.Items[:c.Count] {
			if it.Request != 0 {
				left = Answer{it.Request, it.Heard}
			}
		}
		return Normal{Log: Log{Items: slices.Clone(c.Items[c.Count:]), Summary: job, Left: left}}, true
	}
}

// Stop gives up the compaction that runs, if one does: its conversation is over.
func Stop(s State) State {
	if c, ok := s.(Compacting); ok {
		return Normal{Log: c.Log}
	}
	return s
}
