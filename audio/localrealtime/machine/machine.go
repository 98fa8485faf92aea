// Package machine makes the decisions of a call of the embedded realtime server. It
// consists of five tables, in the same form as the core's, and a pure function that
// runs an event through them.
//
// # Model
//
// A call consists of a link, the user's turn, the words of utterances, the answers with
// their sound, and the memory of the conversation (M1 to M5 of the analysis). Each is a
// table of states and inputs. Step takes one event and returns the next state and the
// resulting actions, in order. It handles ids only, not words, audio or time: starting
// a timer is an action, and its expiry is an event.
//
//	link      connecting, open, ending, torn
//	turn      quiet, expectant, unannounced, speaking, outdated, closed
//	words     hearing, pending, gone; of each utterance
//	answer    absent, waiting, making, speaking, stopping, over; of each response
//	sound     unsent, pending, sounding, ended; of each response
//	memory    normal, compacting, closed
//
// The link contains the other parts: when it ends, all of them end, and none can start
// again.
//
// # Invariants
//
// Check verifies the invariants of every state. The caller does not run the actions of
// a step that violates one. An event without a matching row changes nothing: its
// outcome is Stale.
package machine

import (
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Settings are the session settings that the tables use. Running parts keep the
// settings that they started with.
type Settings struct {
	Interrupt  bool // voice interrupts the answers in the conversation
	Create     bool // each turn gets an answer
	Idle       bool // a long silence after an answer counts as a turn
	Transcribe bool // the client wants transcripts

	// These do not change during a call.
	Model    bool // a Model answers
	Answers  int  // maximum number of live answers
	Remember int  // maximum unsummarised characters of the conversation; 0 for no limit
}

// State is the state of a call. It is not modified in place.
type State struct {
	Settings Settings
	Link     Link
	Turn     Turn
	Words    []Words  // per utterance, oldest first
	Answers  []Answer // oldest first
	Memory   Memory
	Last     uint32 // last allocated id
}

// New returns the state of a connecting call.
func New(s Settings) State { return State{Settings: s} }

// Event is an event of a call.
type Event struct {
	Kind Kind
	ID   uint32 // the utterance, answer or summary that it concerns; 0 if not applicable
	// OK means, by kind: Commit, there is enough audio; Stalled, the caller has stopped
	// and is not merely late; Final, words were recognised; Generated and Summarised,
	// the result is complete; Configure, turn detection changed; Changed, the item is
	// in the summary or in the one being made.
	OK       bool
	Apart    bool     // Create: the answer is not part of the conversation
	Size     int      // Grown: unsummarised characters
	Settings Settings // Configure
}

// Outcome tells the sender of an event how it was handled.
type Outcome uint8

// The outcomes. All but Taken leave the state unchanged.
const (
	Stale Outcome = iota // no row: too late, or a duplicate
	Taken
	Short     // commit with too little audio
	Busy      // the conversation already has an answer
	Full      // too many live answers
	NotActive // no such answer to cancel
)

func (o Outcome) String() string {
	return [...]string{"stale", "taken", "short", "busy", "full", "notActive"}[o]
}

// tables holds the tables of all parts.
type tables struct {
	link   *table[Link]
	turn   *table[TurnState]
	words  *table[WordsState]
	answer *table[AnswerState]
	sound  *table[Sound]
	memory *table[MemoryState]
}

var all = &tables{
	link: statechart.New(linkRows(), linkParents), turn: statechart.New(turnRows(), turnParents), words: statechart.New(wordsRows(), wordsParents),
	answer: statechart.New(answerRows(), answerParents), sound: statechart.New(soundRows(), soundParents), memory: statechart.New(memoryRows(), memoryParents),
}

type (
	always                   = statechart.Guard[*run]
	line[S statechart.Name]  = statechart.Row[S, Kind, Outcome, *run, func(*run)]
	table[S statechart.Name] = statechart.Table[S, Kind, Outcome, *run, func(*run)]
)

func row[S statechart.Name](from S, on Kind, g always, to S, means Outcome, do func(*run)) line[S] {
	return statechart.NewRow(from, on, g, to, means, do)
}

// run is a step in progress: a copy of the state, the event, and the results so far.
type run struct {
	State
	t   *tables
	e   Event
	out []Action
	at  int // index of the answer or words that a row concerns
	// prompted is the utterance for which an answer is requested.
	prompted uint32
}

// Step is total and pure.
func Step(s State, e Event) (State, []Action, Outcome) {
	r := run{State: s, t: all, e: e}
	r.Words, r.Answers = slices.Clone(s.Words), slices.Clone(s.Answers)
	if out := r.take(); out != Taken {
		return s, nil, out
	}
	r.settle()
	return r.State, r.out, Taken
}

// take gives the event to its table. All tables except the link's are closed unless the
// link is open, but a call can be configured before.
func (r *run) take() Outcome {
	switch k := r.e.Kind; {
	case k.of() == ofLink:
		return r.link(k)
	case r.Link != Open && (r.Link != Connecting || k != Configure):
		return Stale
	case k == Configure:
		// Set these even if no row matches: they apply to the next utterance and
		// answer.
		r.Settings.Interrupt, r.Settings.Create = r.e.Settings.Interrupt, r.e.Settings.Create
		r.Settings.Idle, r.Settings.Transcribe = r.e.Settings.Idle, r.e.Settings.Transcribe
		_ = r.turn(k)
		return Taken
	case k.of() == ofTurn:
		return r.turn(k)
	case k.of() == ofWords:
		return r.wordsOf(r.e.ID, k)
	case k.of() == ofMemory:
		return r.memory(k)
	default:
		return r.answers(k)
	}
}

func (r *run) emit(do Do, id uint32) { r.out = append(r.out, Action{Do: do, ID: id}) }

// does combines the parts of a row's action, in order.
func does(parts ...func(*run)) func(*run) {
	return func(r *run) {
		for _, p := range parts {
			p(r)
		}
	}
}

// number allocates an unused id.
func (r *run) number() uint32 {
	r.Last++
	return r.Last
}

// shut ends everything within the link.
func (r *run) shut() {
	_ = r.turn(shut)
	r.Turn.Utterance = 0
	for len(r.Words) > 0 {
		_ = r.wordsOf(r.Words[0].ID, shut)
	}
	for i := range r.Answers {
		_ = r.answer(i, shut)
	}
	r.Answers = nil
	_ = r.memory(shut)
}

// settle starts the answers that no longer need to wait: one at a time, and a Model's
// only when the user's words are known.
func (r *run) settle() {
	for {
		i := slices.IndexFunc(r.Answers, func(a Answer) bool { return a.At == waiting })
		if i < 0 || !r.mayBegin() {
			return
		}
		_ = r.answer(i, begin)
		r.retire()
	}
}

func (r *run) mayBegin() bool {
	pending := slices.ContainsFunc(r.Words, func(w Words) bool { return w.At == pendingWords })
	return !slices.ContainsFunc(r.Answers, Answer.made) && !(r.Settings.Model && pending)
}

// Check returns an error for the first invariant that a state violates, or nil.
func Check(s State) error {
	open := s.Turn.At == unannounced || s.Turn.Announced()
	var made, hearing int
	ids := map[uint32]bool{0: true}
	fresh := func(id uint32) bool {
		had := ids[id]
		ids[id] = true
		return !had && id <= s.Last
	}
	for _, w := range s.Words {
		if !fresh(w.ID) || w.At == gone || w.At == hearingWords && w.ID != s.Turn.Utterance {
			return fmt.Errorf("the words of utterance %d are %v, and %d is open", w.ID, w.At, s.Turn.Utterance)
		}
		if w.At == hearingWords {
			hearing++
		}
	}
	for _, a := range s.Answers {
		if !fresh(a.ID) || a.over() || (a.At == waiting) != (a.Sound == unsent) {
			return fmt.Errorf("answer %d is %v and its sound %v", a.ID, a.At, a.Sound)
		}
		if a.made() {
			made++
		}
	}
	r := run{State: s}
	switch waits := slices.ContainsFunc(s.Answers, func(a Answer) bool { return a.At == waiting }); {
	case made > 1:
		return fmt.Errorf("%d answers are being made", made)
	case hearing > 1 || open != (s.Turn.Utterance != 0):
		return fmt.Errorf("the turn is %v with utterance %d", s.Turn.At, s.Turn.Utterance)
	case waits && r.mayBegin():
		return fmt.Errorf("an answer waits for nothing")
	case s.Turn.At == expectant && len(s.Answers) > 0:
		return fmt.Errorf("the user is waited for while there are answers")
	case len(s.Answers) > s.Settings.Answers:
		return fmt.Errorf("there are %d answers", len(s.Answers))
	case (s.Memory.At == compacting) != (s.Memory.Job != 0):
		return fmt.Errorf("the memory is %v with job %d", s.Memory.At, s.Memory.Job)
	case s.Link.Over() != (s.Turn.At == closedTurn) || s.Link.Over() != (s.Memory.At == closedMemory),
		s.Link.Over() && len(s.Words)+len(s.Answers) > 0:
		return fmt.Errorf("the link is %v, the turn %v, the memory %v", s.Link, s.Turn.At, s.Memory.At)
	}
	return nil
}
