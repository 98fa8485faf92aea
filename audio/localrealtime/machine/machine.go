// Package machine is what a call of the embedded realtime server decides by: five tables
// of the core's kind, and the pure function that takes an event through them.
//
// # Model
//
// A call is a link, a turn of the user, the words of utterances, the answers with their
// sound, and the memory of the conversation (M1 to M5 of the analysis). Each is a table of
// states and inputs. Step takes one event and returns the next state and the actions that
// come of it, in order. It knows numbers and no words, audio or time: a timer is an action,
// and later an event.
//
//	link      connecting, open, ending, torn
//	turn      quiet, expectant, unannounced, speaking, outdated, closed
//	words     hearing, pending, gone; of each utterance
//	answer    absent, waiting, making, speaking, stopping, over; of each response
//	sound     unsent, pending, sounding, ended; of each response
//	memory    normal, compacting, closed
//
// The link is what the others are within: where it ends, each of them does, and none
// begins again.
//
// # Invariants
//
// Check holds what is true of every state. The caller does not carry out a step that
// breaks it. What is not in the tables changes nothing: its outcome is Stale.
package machine

import (
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Settings are the parts of a session that the tables look at. What runs keeps those that
// it began with.
type Settings struct {
	Interrupt  bool // a voice stops the answers in the conversation
	Create     bool // each turn gets an answer
	Idle       bool // silence after an answer counts as a turn
	Transcribe bool // the client wants the words of the user

	// These do not change during a call.
	Model    bool // there is one that answers
	Answers  int  // that may be live at one time
	Remember int  // characters of the conversation that are not summarised; 0 for all
}

// State is a call. It is not modified in place.
type State struct {
	Settings Settings
	Link     Link
	Turn     Turn
	Words    []Words  // of utterances, oldest first
	Answers  []Answer // oldest first
	Memory   Memory
	Last     uint32 // number that was given to something
}

// New is a call that is connecting.
func New(s Settings) State { return State{Settings: s} }

// Event is what happens to a call.
type Event struct {
	Kind Kind
	ID   uint32 // the utterance, the answer or the summary that it is about; 0 for none
	// OK says of a Commit that there is enough audio, of a Stalled that the caller is not
	// only late, of a Final that something was understood, of a Generated or Summarised
	// that it is whole, of a Configure that turn detection changed, and of a Changed that
	// the item is in the summary or on its way there.
	OK       bool
	Apart    bool     // Create: the answer is not in the conversation
	Size     int      // Grown: characters that are not summarised
	Settings Settings // Configure
}

// Outcome is what an event meant for whoever gave it.
type Outcome uint8

// The outcomes. All but Taken leave the state as it was.
const (
	Stale Outcome = iota // no row: it comes too late, or twice
	Taken
	Short     // a commit of too little audio
	Busy      // the conversation has an answer already
	Full      // too many answers are live
	NotActive // there is no such answer to cancel
)

func (o Outcome) String() string {
	return [...]string{"stale", "taken", "short", "busy", "full", "notActive"}[o]
}

// tables are those of all parts.
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

// run is a step under way: a copy of the state, the event, and what came of it so far.
type run struct {
	State
	t   *tables
	e   Event
	out []Action
	at  int // the answer or the words that a row is about
	// prompted is the utterance that an answer is asked for.
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

// take gives the event to the table that it is for. But for the link, they are closed
// unless the link is open; a call is configured before.
func (r *run) take() Outcome {
	switch k := r.e.Kind; {
	case k.of() == ofLink:
		return r.link(k)
	case r.Link != Open && (r.Link != Connecting || k != Configure):
		return Stale
	case k == Configure:
		// Also where no row is: the next utterance and answer begin with it.
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

// does is what a row does: its parts, in order.
func does(parts ...func(*run)) func(*run) {
	return func(r *run) {
		for _, p := range parts {
			p(r)
		}
	}
}

// number is a number that nothing had.
func (r *run) number() uint32 {
	r.Last++
	return r.Last
}

// shut ends everything that is within the link.
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

// settle begins what does not have to wait any more: one answer at a time, and of a Model
// when the words of the user are known.
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

// Check says which promise a state breaks, nil for none.
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
