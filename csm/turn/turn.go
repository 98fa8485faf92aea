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
//
// What ends an utterance is a matter of the mode. In Server it is a pause of the
// voice of a fixed length. In Semantic it is whoever judges that the sentence is
// whole, and a long pause where that judgement does not come. In Manual it is the
// user's hand or a send phrase: no pause ends a turn, however long (M2, GUD-001).
package turn

import (
	"fmt"
	"slices"
	"time"
)

// Mode is who ends the user's turn.
type Mode uint8

// The modes: server_vad, semantic_vad and manual.
const (
	Semantic Mode = iota
	Server
	Manual
)

// Eagerness is how soon a pause ends a turn in Semantic when nobody judged it.
type Eagerness uint8

// The degrees of eagerness. Auto is Medium.
const (
	Auto Eagerness = iota
	Low
	Medium
	High
)

// Pause is how long the voice may be silent inside an utterance before the
// utterance ends; ok is false where no pause ends it. silence is what Server
// takes.
func Pause(m Mode, e Eagerness, silence time.Duration) (d time.Duration, ok bool) {
	switch {
	case m == Manual:
		return 0, false
	case m == Server:
		return silence, true
	case e == Low:
		return 8 * time.Second, true
	case e == High:
		return 2 * time.Second, true
	default:
		return 4 * time.Second, true
	}
}

// MaxPending is how many closed utterances may wait for their words. One more
// pushes the oldest out as lost: recognition that far behind is not coming back.
const MaxPending = 4

// Utterance is an utterance's id with the position of its onset, in samples at
// 48 kHz of the audio that was captured in this conversation.
type Utterance struct {
	ID        uint64
	Pos       int64
	Committed bool `json:",omitempty"` // the user ended it by hand: its words are to be sent
	Reply     bool `json:",omitempty"` // it began after a question about a tool was heard: it may be the answer
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
	// Silent says that the voice pauses.
	UserSpeaking struct {
		Open    Utterance
		Pending []Utterance
		Silent  bool `json:",omitempty"`
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
	Silence
	Voice // again, after Silence
	End
	Commit // End, by the user's hand, and for what is awaited too
	Answered
	numInputs
)

var inputNames = [numInputs]string{"onset", "silence", "voice", "end", "commit", "answered"}

func (in Input) String() string { return inputNames[in] }

// Outcome is what an input meant.
type Outcome uint8

// The outcomes. Stale leaves the state as it was. Crowded is Closed, and the words
// that were awaited longest are lost.
const (
	Stale Outcome = iota
	Opened
	Changed
	Closed
	Crowded
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

// Find returns utterance id, and whether s knows it.
func Find(s State, id uint64) (Utterance, bool) {
	if sp, ok := s.(UserSpeaking); ok && sp.Open.ID == id {
		return sp.Open, true
	}
	p := Pending(s)
	if i := slices.IndexFunc(p, func(u Utterance) bool { return u.ID == id }); i >= 0 {
		return p[i], true
	}
	return Utterance{}, false
}

// Silent says whether an utterance is open whose voice pauses.
func Silent(s State) bool { sp, _ := s.(UserSpeaking); return sp.Silent }

// Speaking says whether an utterance is open.
func Speaking(s State) bool { _, ok := s.(UserSpeaking); return ok }

// Next is total and pure. A repeated onset, pause or end is stale; an answer for
// the open utterance closes it (a service may end and answer in one message).
func Next(s State, in Input, u Utterance) (State, Outcome) {
	sp, speaking := s.(UserSpeaking)
	_, known := Find(s, u.ID)
	switch in {
	case Onset:
		if known || speaking {
			return s, Stale
		}
		return UserSpeaking{Open: u, Pending: Pending(s)}, Opened
	case Silence, Voice:
		if !speaking || sp.Open.ID != u.ID || sp.Silent == (in == Silence) {
			return s, Stale
		}
		sp.Silent = in == Silence
		return sp, Changed
	case End:
		if !speaking || sp.Open.ID != u.ID {
			return s, Stale
		}
		p, out := closed(sp)
		return EndPending{Pending: p}, out
	case Commit:
		if !known {
			return s, Stale
		}
		return commit(s)
	case Answered:
		if !known {
			return s, Stale
		}
		return answered(s, u.ID), Resolved
	default:
		return s, Stale
	}
}

// answered takes utterance id out, whose words are here or are not coming.
func answered(s State, id uint64) State {
	var rest []Utterance
	for _, p := range Pending(s) {
		if p.ID != id {
			rest = append(rest, p)
		}
	}
	sp, speaking := s.(UserSpeaking)
	switch {
	case speaking && sp.Open.ID != id:
		sp.Pending = rest
		return sp
	case len(rest) > 0:
		return EndPending{Pending: rest}
	default:
		return Idle{}
	}
}

// closed is what is awaited when the open utterance ends.
func closed(sp UserSpeaking) ([]Utterance, Outcome) {
	p, out := sp.Pending, Closed
	if len(p) == MaxPending {
		p, out = p[1:], Crowded
	}
	return append(slices.Clip(p), sp.Open), out
}

// commit ends the open utterance, and has everything that is awaited sent.
func commit(s State) (State, Outcome) {
	p, out := Pending(s), Closed
	if sp, ok := s.(UserSpeaking); ok {
		p, out = closed(sp)
	}
	p = slices.Clone(p)
	for i := range p {
		p[i].Committed = true
	}
	return EndPending{Pending: p}, out
}
