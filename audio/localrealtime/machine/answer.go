package machine

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// Answer is one response and its audio.
type Answer struct {
	ID    uint32
	At    AnswerState
	Sound Sound
	Turn  uint32 // the utterance that it answers, or 0
	Apart bool   // not part of the conversation
	Empty bool   // the utterance had no recognised words
}

// AnswerState is a state of an answer, or a superstate.
type AnswerState uint8

const (
	absent   AnswerState = iota
	waiting              // response.created was sent
	making               // the speaker has it, but no text yet
	talking              // its item was announced
	stopping             // response.done was sent, but the speaker is not finished
	over
	told // making, speaking: response.done is pending, and the speaker has the answer
	liveAnswer
)

func (s AnswerState) String() string {
	return [...]string{"absent", "waiting", "making", "speaking", "stopping", "over", "told", "live"}[s]
}

// Sound is a state of an answer's audio, or a superstate.
type Sound uint8

const (
	unsent   Sound = iota // the speaker does not have the answer
	pending               // no audio was sent
	sounding              // the client was notified that it plays
	ended
	sent // pending, sounding
)

func (s Sound) String() string {
	return [...]string{"unsent", "pending", "sounding", "ended", "sent"}[s]
}

// made reports whether the speaker has the answer.
func (a Answer) made() bool { return a.At == making || a.At == talking || a.At == stopping }

// over reports whether the answer has nothing pending.
func (a Answer) over() bool { return a.At == over && (a.Sound == unsent || a.Sound == ended) }

var (
	answerParents = map[AnswerState]AnswerState{making: told, talking: told, waiting: liveAnswer, told: liveAnswer, stopping: liveAnswer}
	soundParents  = map[Sound]Sound{pending: sent, sounding: sent}
)

func answerRows() []line[AnswerState] {
	full := statechart.When("as many are live as may be", func(r *run) bool { return len(r.Answers) >= r.Settings.Answers })
	// As in the public API, a Model generates at most one answer in the conversation at
	// a time.
	busy := statechart.When("the conversation has one", func(r *run) bool {
		return r.Settings.Model && !r.e.Apart && slices.ContainsFunc(r.Answers, func(a Answer) bool {
			return !a.Apart && a.At != stopping && a.At != over
		})
	})
	empty := statechart.When("nothing was understood", func(r *run) bool { return r.Answers[r.at].Empty })
	whole := statechart.When("it is whole", func(r *run) bool { return r.e.OK })
	done, failed := finish(Completed), finish(Failed)
	return []line[AnswerState]{
		row(absent, Create, busy, absent, Busy, nil),
		row(absent, Create, busy.Not().And(full), absent, Full, nil),
		row(absent, Create, busy.Not().And(full.Not()), waiting, Taken, (*run).created),
		row(absent, ask, full, absent, Full, act(TellFull)),
		row(absent, ask, full.Not(), waiting, Taken, (*run).created),

		row(waiting, begin, empty, over, Taken, done),
		row(waiting, begin, empty.Not(), making, Taken, does((*run).handOver, ofAnswer(Generate))),
		row(waiting, Cancel, always{}, over, Taken, finish(Cancelled)),
		row(waiting, interrupt, always{}, over, Taken, finish(Interrupted)),

		row(making, Segment, always{}, talking, Taken, does(ofAnswer(Announce), ofAnswer(Say))),
		row(making, Generated, whole, over, Taken, does(ofAnswer(Keep), done)),
		row(making, Generated, whole.Not(), over, Taken, failed),
		row(making, Cancel, always{}, stopping, Taken, finish(Cancelled)),
		row(making, interrupt, always{}, stopping, Taken, finish(Interrupted)),

		row(talking, Segment, always{}, talking, Taken, ofAnswer(Say)),
		row(talking, Delta, always{}, talking, Taken, ofAnswer(TellAudio)),
		row(talking, Spoken, always{}, talking, Taken, ofAnswer(Mark)),
		row(talking, Generated, whole, over, Taken, does(ofAnswer(Keep), closeItem(Completed), done)),
		row(talking, Generated, whole.Not(), over, Taken, does(closeItem(Failed), failed)),
		row(talking, Cancel, always{}, stopping, Taken, does(closeItem(Cancelled), finish(Cancelled))),
		row(talking, interrupt, always{}, stopping, Taken, does(closeItem(Interrupted), finish(Interrupted))),

		row(stopping, Generated, always{}, over, Taken, nil),

		row(liveAnswer, shut, always{}, over, Taken, ofAnswer(Stop)),
	}
}

func soundRows() []line[Sound] {
	return []line[Sound]{
		row(unsent, begin, always{}, pending, Taken, nil),
		row(pending, AudioStarted, always{}, sounding, Taken, ofAnswer(TellAudioStarted)),
		row(pending, AudioStopped, always{}, ended, Taken, nil),
		row(pending, unplay, always{}, ended, Taken, nil),
		row(sounding, AudioStopped, always{}, ended, Taken, ofAnswer(TellAudioStopped)),
		row(sounding, unplay, always{}, ended, Taken, ofAnswer(TellAudioCleared)),
		row(sent, mute, always{}, sent, Taken, ofAnswer(Kill)),
	}
}

func ofAnswer(d Do) func(*run) { return func(r *run) { r.emit(d, r.Answers[r.at].ID) } }

func closeItem(e End) func(*run) { return ending(CloseItem, e) }
func finish(e End) func(*run)    { return ending(Finish, e) }

func ending(d Do, e End) func(*run) {
	return func(r *run) { r.out = append(r.out, Action{Do: d, ID: r.Answers[r.at].ID, End: e}) }
}

// answer gives an input to an answer.
func (r *run) answer(i int, on Kind) Outcome {
	r.at = i
	return r.follow(r.t.answer.Choose(r.Answers[i].At, on, r))
}

// create requests an answer, on behalf of the client or of a turn.
func (r *run) create(on Kind) Outcome { return r.follow(r.t.answer.Choose(absent, on, r)) }

func (r *run) follow(row *line[AnswerState]) Outcome {
	if row == nil {
		return Stale
	}
	if row.From != absent {
		r.Answers[r.at].At = row.Next(r.Answers[r.at].At)
	}
	if row.Do != nil {
		row.Do(r)
	}
	return row.Means
}

// created appends an answer to the queue.
func (r *run) created() {
	_ = r.turn(answering)
	a := Answer{ID: r.number(), At: waiting, Turn: r.prompted, Apart: r.e.Kind == Create && r.e.Apart}
	r.Answers = append(r.Answers, a)
	r.emit(TellCreated, a.ID)
}

// handOver passes the answer to the speaker.
func (r *run) handOver() { _ = r.sound(r.at, begin) }

// sound gives an input to the audio of an answer.
func (r *run) sound(i int, on Kind) Outcome {
	r.at = i
	a := &r.Answers[i]
	row := r.t.sound.Choose(a.Sound, on, r)
	if row == nil {
		return Stale
	}
	a.Sound = row.Next(a.Sound)
	if row.Do != nil {
		row.Do(r)
	}
	return row.Means
}

// answers gives an event to the answer that it concerns.
func (r *run) answers(on Kind) (out Outcome) {
	switch on {
	case Create:
		return r.create(on)
	case Cancel:
		return r.cancel()
	case ClearOutput:
		if !r.silence(Cancel, func(Answer) bool { return true }) {
			r.emit(TellAudioCleared, 0)
		}
		return Taken
	}
	i := slices.IndexFunc(r.Answers, func(a Answer) bool { return a.ID == r.e.ID })
	switch {
	case i < 0:
		return Stale
	case on == AudioStarted || on == AudioStopped:
		out = r.sound(i, on)
	default:
		out = r.answer(i, on)
	}
	r.retire()
	return out
}

// cancel stops generating the answer that the client names, or the oldest. Audio
// already generated still plays.
func (r *run) cancel() Outcome {
	for i, a := range r.Answers {
		if (r.e.ID == 0 || r.e.ID == a.ID) && r.answer(i, Cancel) == Taken {
			r.retire()
			return Taken
		}
	}
	return NotActive
}

// silence ends the matching answers and their audio, and reports whether any was
// audible. Answers still in progress also end, because the rest makes no sense without
// the beginning.
func (r *run) silence(why Kind, match func(Answer) bool) (heard bool) {
	for i := range r.Answers {
		if !match(r.Answers[i]) {
			continue
		}
		_ = r.sound(i, mute)
		_ = r.answer(i, why)
		heard = heard || r.Answers[i].Sound == sounding
		_ = r.sound(i, unplay)
		if why == interrupt && r.Settings.Model {
			r.emit(Truncate, r.Answers[i].ID)
		}
	}
	r.retire()
	return heard
}

// retire drops answers that have nothing pending.
func (r *run) retire() {
	had := len(r.Answers)
	r.Answers = slices.DeleteFunc(r.Answers, func(a Answer) bool {
		if a.over() {
			r.emit(Forget, a.ID)
		}
		return a.over()
	})
	if had > 0 && len(r.Answers) == 0 {
		_ = r.turn(answered)
	}
}
