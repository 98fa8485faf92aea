package csmtest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Stale is an event with one id that is not live, which may only change a counter
// (invariant 11).
type Stale struct {
	Event csm.Event
	Field string // the field of the stale id
	Age   string // "over" if it was live once, "unknown" if it never was
}

// Class is the injection class: which event is stale, and by what.
func (s Stale) Class() string {
	return fmt.Sprintf("%s by %s %s", csm.KindOf(s.Event), s.Age, s.Field)
}

// notStale are id-like fields whose change does not make an event stale.
var notStale = map[string]string{
	"conn.closed.Epoch":         "it concerns a replaced connection, whose epoch has ended",
	"vad.start.Utterance":       "an onset introduces the utterance's id",
	"user.text.Utterance":       "likewise for typed text",
	"tts.drained.Seq":           "it is an upper bound: everything through Seq was heard",
	"tts.flushed.Seq":           "it says how far speech got; only the generation makes it live",
	"tts.bufferReady.Seq":       "audio of any segment of the live generation counts",
	"tts.cursor.Seq":            "any cursor of the live generation is a valid measurement",
	"copilot.toolCall.ToolCall": "a call introduces its id",
	"user.retry.ToolCall":       "likewise for a retry",
	"tts.cursor.Gen":            "a cursor bypasses the state machine, and has no effect in another generation",
}

// StaleVariants returns the ways in which e can be stale in s: each id replaced by an
// ended one and by an unknown one. Only the kind's fields matter, so that new events are
// covered.
func StaleVariants(s csm.State, e csm.Event) []Stale {
	live := LiveIDs(s)
	var out []Stale
	add := func(field, age string, n uint64) {
		if v, ok := with(e, field, n); ok {
			out = append(out, Stale{Event: v, Field: field, Age: age})
		}
	}
	if t, ok := e.(csm.TimerFired); ok && t.Timer < csm.NumTimers {
		gen := s.Timers[t.Timer].Gen
		add("Gen", "over", uint64(gen-min(gen, 1)))
		add("Gen", "unknown", uint64(gen)+9)
		return slices.DeleteFunc(out, func(v Stale) bool {
			return s.Timers[t.Timer].Armed && v.Event == (csm.TimerFired{Timer: t.Timer, Gen: gen})
		})
	}
	v := reflect.ValueOf(e)
	for _, field := range idFields {
		f := v.FieldByName(field)
		if !f.IsValid() {
			continue
		}
		if _, not := notStale[csm.KindOf(e).String()+"."+field]; not {
			continue
		}
		if field == "Gen" {
			live[field] = append(live[field], uint64(s.Speech.Generation()))
		}
		top := uint64(0)
		for _, n := range live[field] {
			top = max(top, n)
		}
		own, _ := number(f)
		for n := max(top, own); n > 0; n-- {
			if old := n - 1; !slices.Contains(live[field], old) && (old > 0 || fromZero(field)) {
				add(field, "over", old)
				break
			}
		}
		add(field, "unknown", max(top, own, given(s, field))+9)
	}
	return out
}

// given returns the last allocated id of a field's kind.
func given(s csm.State, field string) uint64 {
	if f := reflect.ValueOf(s.IDs).FieldByName(field); f.IsValid() {
		n, _ := number(f)
		return n
	}
	if field == "Seq" {
		return uint64(s.IDs.Segment)
	}
	return 0
}
