// Package turn is the turn detection region: whether the user is speaking.
//
// # Model
//
// An utterance opens with an onset and closes with an end, both facts about audio with
// sample positions. Recognition answers each closed utterance once, with a transcript or
// a failure, possibly after the next onset. So the region distinguishes the open
// utterance from those whose words are awaited.
//
// The mode determines what ends an utterance. In Server, a pause of fixed length. In
// Semantic, a judgement that the sentence is complete, or a long pause if there is none.
// In Manual, the user's commit or a send phrase: no pause ends a turn, however long (M2,
// GUD-001).
package turn

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Mode is what ends the user's turn.
type Mode uint8

// The modes: server_vad, semantic_vad and manual.
const (
	Semantic Mode = iota
	Server
	Manual
)

// Eagerness is how soon a pause ends a turn in Semantic without a judgement.
type Eagerness uint8

// The degrees of eagerness. Auto is Medium.
const (
	Auto Eagerness = iota
	Low
	Medium
	High
)

// Pause returns how long the voice may be silent inside an utterance before the utterance
// ends; ok is false if no pause ends it. silence is the pause of Server.
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

// Stamp says what was open at the onset of an utterance. It determines what the words can
// mean, whenever they arrive.
type Stamp uint8

// The stamps, in order of precedence. Over a question about a tool call, it matters whether
// the question was heard.
const (
	OverNothing  Stamp = iota
	OverProse          // the last answer ended with a question
	OverRequest        // a request without anything audible yet, or earlier words of the same turn
	OverAnswer         // speech of the assistant
	OverUnheard        // a question that is being asked
	OverQuestion       // a question that was heard
	OverDecided        // a question that was decided after the onset
	NumStamps
)

var stampNames = [NumStamps]string{"nothing", "question in prose", "request", "answer", "question unheard", "question heard", "question decided"}

func (s Stamp) String() string { return stampNames[s] }

// Utterance is an utterance's id and the position of its onset in the captured audio of
// this conversation, in samples at 48 kHz.
type Utterance struct {
	ID        uint64
	Pos       int64
	Stamp     Stamp `json:",omitempty"`
	Committed bool  `json:",omitempty"` // the user committed it: its words must be sent
	Dropped   bool  `json:",omitempty"` // the user interrupted after it began: its words mean nothing
}

// State is a closed sum: Idle, UserSpeaking or EndPending.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	parts() (name, UserSpeaking)
}

// The states. Pending is never modified in place.
type (
	// Idle: silence, and no words are awaited.
	Idle struct{}
	// UserSpeaking: an utterance is open; words of earlier ones may be awaited. Silent
	// says that the voice is pausing.
	UserSpeaking struct {
		Open    Utterance
		Pending []Utterance
		Silent  bool `json:",omitempty"`
	}
	// EndPending: silence, and words are awaited.
	EndPending struct{ Pending []Utterance }
)

// name is a state without its data.
type name uint8

const (
	idle name = iota
	userSpeaking
	endPending
)

func (n name) String() string { return [...]string{"idle", "userSpeaking", "endPending"}[n] }

// state is the only function that builds a state from its name and data.
func state(n name, d UserSpeaking) State {
	switch n {
	case userSpeaking:
		return d
	case endPending:
		return EndPending{Pending: d.Pending}
	default:
		return Idle{}
	}
}

func (Idle) parts() (name, UserSpeaking)           { return idle, UserSpeaking{} }
func (s UserSpeaking) parts() (name, UserSpeaking) { return userSpeaking, s }
func (s EndPending) parts() (name, UserSpeaking)   { return endPending, UserSpeaking{Pending: s.Pending} }

func (Idle) String() string         { return idle.String() }
func (UserSpeaking) String() string { return userSpeaking.String() }
func (EndPending) String() string   { return endPending.String() }

// Input is an input of the region.
type Input uint8

// The inputs. Answered is a final transcript or a failure.
const (
	Onset Input = iota
	Silence
	Voice // the voice continues after Silence
	End
	Commit // a manual End, which also applies to awaited utterances
	Drop   // the words of all utterances mean nothing
	Decide // the question about a tool call was decided, which no utterance answers any more
	Answered
	numInputs
)

var inputNames = [numInputs]string{"onset", "silence", "voice", "end", "commit", "drop", "decide", "answered"}

func (in Input) String() string { return inputNames[in] }

// Outcome is the meaning of an input.
type Outcome uint8

// The outcomes. Stale does not change the state.
const (
	Stale Outcome = iota
	Opened
	Changed
	Closed
	Resolved
)

// Pending returns the utterances whose words are awaited; do not modify it.
func Pending(s State) []Utterance {
	_, d := s.parts()
	return d.Pending
}

// Find returns utterance id, if s knows it.
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

// Silent says whether the open utterance's voice is pausing.
func Silent(s State) bool { sp, _ := s.(UserSpeaking); return sp.Silent }

// Speaking says whether an utterance is open.
func Speaking(s State) bool { _, ok := s.(UserSpeaking); return ok }

// Next applies an input. It is total and pure. A repeated onset, pause or end is stale;
// an answer for the open utterance closes it, since a service may end and answer in one
// message.
func Next(s State, in Input, u Utterance) (State, Outcome) {
	at, d := s.parts()
	c := change{d, u}
	row := table.Choose(at, in, c)
	if row == nil {
		return s, Stale
	}
	return state(row.Next(at), row.Do(c)), row.Means
}

// change is an input, its utterance and the state's data.
type change struct {
	UserSpeaking
	u Utterance
}

type (
	// Row is one line of the region's table.
	Row = statechart.Row[name, Input, Outcome, change, func(change) UserSpeaking]
	// Guard is a condition on an input.
	Guard = statechart.Guard[change]
)

var (
	row   = statechart.NewRow[name, Input, Outcome, change, func(change) UserSpeaking]
	when  = statechart.When[change]
	table = statechart.New(Table(), nil)
)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, nil) }

// Table returns the rows in order.
func Table() []Row {
	ofOpen := when("open utterance", func(c change) bool { return c.u.ID == c.Open.ID })
	awaited := when("awaited utterance", change.awaited)
	other := awaited.Not()
	known := when("known utterance", func(c change) bool { return c.u.ID == c.Open.ID || c.awaited() })
	last := when("last awaited utterance", func(c change) bool { return len(c.without().Pending) == 0 })
	silent := when("the voice is pausing", func(c change) bool { return c.Silent })
	return []Row{
		row(idle, Onset, Guard{}, userSpeaking, Opened, change.opened),

		row(userSpeaking, Silence, ofOpen.And(silent.Not()), userSpeaking, Changed, change.turned),
		row(userSpeaking, Voice, ofOpen.And(silent), userSpeaking, Changed, change.turned),
		row(userSpeaking, End, ofOpen, endPending, Closed, change.closed),
		row(userSpeaking, Commit, known, endPending, Closed, change.committed),
		row(userSpeaking, Drop, Guard{}, userSpeaking, Changed, change.dropped),
		row(userSpeaking, Decide, Guard{}, userSpeaking, Changed, change.decided),
		row(userSpeaking, Answered, ofOpen.And(last), idle, Resolved, change.without),
		row(userSpeaking, Answered, ofOpen.And(last.Not()), endPending, Resolved, change.without),
		row(userSpeaking, Answered, awaited, userSpeaking, Resolved, change.without),

		row(endPending, Onset, other, userSpeaking, Opened, change.opened),
		row(endPending, Commit, awaited, endPending, Closed, change.committed),
		row(endPending, Drop, Guard{}, endPending, Changed, change.dropped),
		row(endPending, Decide, Guard{}, endPending, Changed, change.decided),
		row(endPending, Answered, awaited.And(last), idle, Resolved, change.without),
		row(endPending, Answered, awaited.And(last.Not()), endPending, Resolved, change.without),
	}
}

// awaited says whether the words of the utterance are awaited.
func (c change) awaited() bool {
	return slices.ContainsFunc(c.Pending, func(p Utterance) bool { return p.ID == c.u.ID })
}

func (c change) opened() UserSpeaking { return UserSpeaking{Open: c.u, Pending: c.Pending} }

// turned toggles whether the voice is pausing.
func (c change) turned() UserSpeaking {
	c.Silent = !c.Silent
	return c.UserSpeaking
}

// closed closes the open utterance, whose words are then awaited. However many are awaited, none
// is given up here: a recogniser that is behind says that it works, and one that does not is
// given up by time.
func (c change) closed() UserSpeaking {
	return UserSpeaking{Pending: append(slices.Clip(c.Pending), c.Open)}
}

// committed marks all awaited utterances and the open one to be sent.
func (c change) committed() UserSpeaking {
	d := c.UserSpeaking
	if d.Open.ID != 0 {
		d = c.closed()
	}
	return d.each(func(u *Utterance) { u.Committed = true })
}

func (c change) dropped() UserSpeaking { return c.each(func(u *Utterance) { u.Dropped = true }) }

func (c change) decided() UserSpeaking {
	return c.each(func(u *Utterance) {
		if u.Stamp >= OverUnheard {
			u.Stamp = OverDecided
		}
	})
}

// each returns the data with every utterance changed.
func (s UserSpeaking) each(do func(*Utterance)) UserSpeaking {
	if s.Open.ID != 0 {
		do(&s.Open)
	}
	s.Pending = slices.Clone(s.Pending)
	for i := range s.Pending {
		do(&s.Pending[i])
	}
	return s
}

// Committed says whether words are awaited that the user committed.
func Committed(s State) bool {
	return slices.ContainsFunc(Pending(s), func(u Utterance) bool { return u.Committed })
}

// without removes the utterance, whose words arrived or will not.
func (c change) without() UserSpeaking {
	d := c.UserSpeaking
	d.Pending = nil
	for _, p := range c.Pending {
		if p.ID != c.u.ID {
			d.Pending = append(d.Pending, p)
		}
	}
	return d
}
