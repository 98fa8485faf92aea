// Package turn is the turn detection region: who speaks, as far as the user is
// concerned.
//
// # Model
//
// An utterance opens with an onset and closes with an end, both facts about
// audio with sample positions. Recognition answers each closed utterance once,
// with a final transcript or a failure, possibly after the next onset: so the
// region keeps the utterance that is being spoken apart from those whose words
// are awaited.
package turn

import (
	"fmt"
	"slices"
)

// MaxPending is how many closed utterances may wait for their words. One more
// pushes the oldest out as lost: recognition that far behind is not coming back.
const MaxPending = 4

// Utterance is an utterance's id with the position of its onset, in samples at
// 48 kHz of the audio that was captured in this conversation.
type Utterance struct {
	ID  uint64
	Pos int64
}

// State is a closed sum: Idle, UserSpeaking or EndPending.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	state()
}

// The states. Pending is never modified in place.
type (
	// Idle: silence, and no words are awaited.
	Idle struct{}
	// UserSpeaking: an utterance is open; words of earlier ones may be awaited.
	UserSpeaking struct {
		Open    Utterance
		Pending []Utterance
	}
	// EndPending: silence, and words are awaited.
	EndPending struct{ Pending []Utterance }
)

func (Idle) state()         {}
func (UserSpeaking) state() {}
func (EndPending) state()   {}

func (Idle) String() string         { return "idle" }
func (UserSpeaking) String() string { return "userSpeaking" }
func (EndPending) String() string   { return "endPending" }

// Input is what happens to an utterance.
type Input uint8

// The inputs. Answered is a final transcript or a failure.
const (
	Onset Input = iota
	End
	Answered
)

// Outcome is what an input meant.
type Outcome uint8

// The outcomes. Stale leaves the state as it was.
const (
	Stale Outcome = iota
	Opened
	Closed
	Resolved
)

// Pending returns the utterances whose words are awaited; do not modify it.
func Pending(s State) []Utterance {
	switch s := s.(type) {
	case UserSpeaking:
		return s.Pending
	case EndPending:
		return s.Pending
	default:
		return nil
	}
}

// Speaking says whether an utterance is open.
func Speaking(s State) bool { _, ok := s.(UserSpeaking); return ok }

// Next is total and pure. A repeated onset or end is stale; an answer for the
// open utterance closes it (a service may end and answer in one message).
func Next(s State, in Input, u Utterance) (State, Outcome) {
	switch in {
	case Onset:
		if has(s, u.ID) || Speaking(s) {
			return s, Stale
		}
		return UserSpeaking{Open: u, Pending: Pending(s)}, Opened
	case End:
		sp, ok := s.(UserSpeaking)
		if !ok || sp.Open.ID != u.ID {
			return s, Stale
		}
		p := sp.Pending
		if len(p) == MaxPending {
			p = p[1:]
		}
		return EndPending{Pending: append(slices.Clip(p), sp.Open)}, Closed
	default:
		if !has(s, u.ID) {
			return s, Stale
		}
		rest := slices.DeleteFunc(slices.Clone(Pending(s)), func(p Utterance) bool { return p.ID == u.ID })
		if sp, ok := s.(UserSpeaking); ok && sp.Open.ID != u.ID {
			return UserSpeaking{Open: sp.Open, Pending: rest}, Resolved
		}
		if len(rest) > 0 {
			return EndPending{Pending: rest}, Resolved
		}
		return Idle{}, Resolved
	}
}

func has(s State, id uint64) bool {
	if sp, ok := s.(UserSpeaking); ok && sp.Open.ID == id {
		return true
	}
	return slices.ContainsFunc(Pending(s), func(p Utterance) bool { return p.ID == id })
}
