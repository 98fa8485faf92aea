package csmtest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Stale is an event with one id that is not live, so that it must change nothing
// but a counter (invariant 11).
type Stale struct {
	Event csm.Event
	Field string // the id that is not live
	Age   string // over: it was live once, or of the last conversation; unknown: it never was
}

// Class is the injection class: which event, stale by what.
func (s Stale) Class() string {
	return fmt.Sprintf("%s by %s %s", csm.KindOf(s.Event), s.Age, s.Field)
}

// notStale are fields that look like ids of something live, and are not: with
// another value in them the event is another one, that may be welcome.
var notStale = map[string]string{
	"conn.closed.Epoch":         "it is about a connection that was replaced, whose epoch is over",
	"vad.start.Utterance":       "an onset brings the utterance's id",
	"user.text.Utterance":       "so does typed text",
	"tts.drained.Seq":           "it is an upper bound: all through Seq was heard",
	"tts.flushed.Seq":           "it says how far speech came, and the generation alone makes it live",
	"tts.bufferReady.Seq":       "audio of any segment of the live generation is audio",
	"tts.cursor.Seq":            "a cursor of the live generation is a measurement, whatever its segment",
	"copilot.toolCall.ToolCall": "a call brings its id",
	"user.retry.ToolCall":       "so does the wish for another one",
	"tts.cursor.Gen":            "a cursor goes past the machine, and of another generation it moves nothing",
}

// StaleVariants are the ways in which e can be stale in s: each id of it once
// replaced by one that is over, and once by one that nobody gave out. Only the
// kind's fields decide, so an event that is new tomorrow has its variants.
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

// given is the last id of a field's kind that was given out.
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
