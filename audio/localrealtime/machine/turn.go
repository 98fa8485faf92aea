package machine

import "github.com/agentvoice/agentvoice-daemon/csm/statechart"

// Turn is the user's turn as determined from audio.
type Turn struct {
	At        TurnState
	Utterance uint32 // the open one; 0 if none is open
}

// TurnState is a state of the turn, or a superstate.
type TurnState uint8

const (
	quiet       TurnState = iota
	expectant             // after an answer: waiting for the user
	unannounced           // an utterance is open; a commit ends it
	speaking              // an announced utterance is open; a pause ends it
	outdated              // like speaking, but under settings that have since changed
	closedTurn
	silent    // quiet, expectant
	announced // speaking, outdated
	liveTurn
)

func (s TurnState) String() string {
	return [...]string{"quiet", "expectant", "unannounced", "speaking", "outdated", "closed", "silent", "announced", "live"}[s]
}

// Announced reports whether the client was notified that the user is speaking.
func (t Turn) Announced() bool { return t.At == speaking || t.At == outdated }

var turnParents = map[TurnState]TurnState{
	quiet: silent, expectant: silent, speaking: announced, outdated: announced, silent: liveTurn, unannounced: liveTurn, announced: liveTurn,
}

func turnRows() []line[TurnState] {
	enough := statechart.When("enough audio", func(r *run) bool { return r.e.OK })
	gone := statechart.When("the caller is not only late", func(r *run) bool { return r.e.OK })
	detection := statechart.When("of turn detection", func(r *run) bool { return r.e.OK })
	begins := does((*run).open, ofUtterance(TellSpeechStarted), (*run).bargeIn)
	ends := does(ofUtterance(TellSpeechStopped), (*run).commit)
	return []line[TurnState]{
		row(silent, Onset, always{}, speaking, Taken, begins),
		row(silent, Voice, always{}, unannounced, Taken, (*run).open),
		row(silent, Commit, enough, quiet, Taken, does((*run).open, (*run).commit, (*run).reconfigure)),
		row(silent, Clear, always{}, silent, Taken, does(act(ForgetAudio), (*run).reconfigure)),
		row(silent, Configure, detection, silent, Taken, (*run).reconfigure),
		row(quiet, answered, always{}, expectant, Taken, nil),
		row(expectant, answering, always{}, quiet, Taken, nil),
		row(expectant, IdleTimeout, always{}, quiet, Taken, does((*run).open, ofUtterance(TellTimeout), (*run).commit, (*run).askUnprompted)),

		row(unannounced, Onset, always{}, speaking, Taken, does((*run).drop, begins)),
		row(unannounced, Commit, enough, quiet, Taken, does((*run).commit, (*run).reconfigure)),
		row(unannounced, Clear, always{}, quiet, Taken, does((*run).drop, act(ForgetAudio), (*run).reconfigure)),
		row(unannounced, Configure, detection, unannounced, Taken, (*run).reconfigure),

		row(announced, Heard, always{}, announced, Taken, act(ArmStall)),
		row(speaking, Pause, always{}, quiet, Taken, does(ends, (*run).askForIt)),
		row(outdated, Pause, always{}, quiet, Taken, does(ends, (*run).reconfigure, (*run).askForIt)),
		row(announced, TooLong, always{}, quiet, Taken, does(ends, (*run).reconfigure, (*run).askForIt)),
		row(announced, Stalled, gone, quiet, Taken, does(ends, (*run).reconfigure, (*run).askForIt)),
		row(announced, Stalled, gone.Not(), announced, Taken, act(ArmStall)),
		row(announced, Commit, enough, quiet, Taken, does((*run).commit, (*run).reconfigure)),
		row(announced, Clear, always{}, quiet, Taken, does((*run).drop, act(ForgetAudio), (*run).reconfigure)),
		row(speaking, Configure, detection, outdated, Taken, nil),

		row(liveTurn, Commit, enough.Not(), liveTurn, Short, nil),
		row(liveTurn, shut, always{}, closedTurn, Taken, nil),
	}
}

// ofUtterance returns an action on the open utterance.
func ofUtterance(d Do) func(*run) { return func(r *run) { r.emit(d, r.Turn.Utterance) } }

// turn gives an input to the turn. Timers follow the state.
func (r *run) turn(on Kind) Outcome {
	row := r.t.turn.Choose(r.Turn.At, on, r)
	if row == nil {
		return Stale
	}
	was := r.Turn
	r.Turn.At = row.Next(was.At)
	if was.At == expectant && r.Turn.At != expectant {
		r.emit(StopIdle, 0)
	}
	if was.Announced() && !r.Turn.Announced() {
		r.emit(StopStall, 0)
	}
	if row.Do != nil {
		row.Do(r)
	}
	if was.At != expectant && r.Turn.At == expectant {
		r.armIdle()
	}
	if !was.Announced() && r.Turn.Announced() {
		r.emit(ArmStall, 0)
	}
	return row.Means
}

func (r *run) armIdle() {
	if r.Settings.Idle {
		r.emit(ArmIdle, 0)
	}
}

// open starts an utterance, and its recognition if the words are needed.
func (r *run) open() {
	id := r.number()
	r.Turn.Utterance = id
	r.emit(OpenUtterance, id)
	if r.Settings.Model || r.Settings.Transcribe {
		r.Words = append(r.Words, Words{ID: id, Asked: r.Settings.Transcribe})
		r.emit(Listen, id)
	}
}

// commit closes the utterance and adds it to the conversation.
func (r *run) commit() {
	id := r.Turn.Utterance
	r.Turn.Utterance = 0
	r.emit(CommitUtterance, id)
	_ = r.wordsOf(id, committed)
	r.prompted = id
}

// drop discards the open utterance.
func (r *run) drop() {
	id := r.Turn.Utterance
	r.Turn.Utterance = 0
	r.emit(DropUtterance, id)
	_ = r.wordsOf(id, dropped)
}

// reconfigure applies the current settings to turn detection.
func (r *run) reconfigure() {
	r.emit(Reconfigure, 0)
	if r.Turn.At == expectant {
		r.emit(StopIdle, 0)
		r.armIdle()
	}
}

// bargeIn ends the answers that the user interrupts.
func (r *run) bargeIn() {
	if !r.Settings.Interrupt {
		return
	}
	r.silence(interrupt, func(a Answer) bool { return !a.Apart })
}

// askForIt requests an answer to the committed utterance.
func (r *run) askForIt() {
	switch {
	case !r.Settings.Create:
	case !r.Settings.Model:
		r.emit(TellNoModel, 0)
	default:
		_ = r.create(ask)
	}
}

// askUnprompted requests an answer to silence.
func (r *run) askUnprompted() {
	r.prompted = 0
	r.askForIt()
}
