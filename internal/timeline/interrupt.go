package timeline

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
)

// An onset over the assistant pauses it. The outcome is known later: the answer
// resumes, or the turn ends when the transcript arrives, seconds after Listening. So
// an interruption starts with the pause and is followed from there.

// interrupt records that the current event pauses or flushes an answer.
func (r *reader) interrupt(turn uint64) *interrupted {
	i := &interrupted{turn: turn, at: r.now, Interruption: r.meter.Decide(r.now)}
	switch e := r.event.(type) { //nolint:gochecksumtype // those that identify the utterance
	case csm.SpeechStarted:
		i.utterance = r.record.utterance(e.Utterance)
	case csm.SpeechResumed:
		i.utterance, i.resumed = r.record.utterance(e.Utterance), r.captured(e.Pos).or(at(r.now))
	case csm.Partial:
		i.utterance = r.record.utterance(e.Utterance)
	case csm.Final:
		i.utterance = r.record.utterance(e.Utterance)
	}
	r.interruptions = append(r.interruptions, i)
	r.floor = i
	return i
}

// decide records the outcome, once.
func (i *interrupted) decide(d decision, now time.Duration) {
	if i.decision == undecided {
		i.decision = d
		if d == retracted {
			i.Resumed = figures.At(now)
		}
	}
}

// suspicion returns the last interruption if it is undecided, otherwise nil.
func (r *reader) suspicion() *interrupted {
	if n := len(r.interruptions); n > 0 && r.interruptions[n-1].decision == undecided {
		return r.interruptions[n-1]
	}
	return nil
}

// count returns how many interruptions had an outcome.
func (r *record) count(d decision) (n int) {
	for _, i := range r.interruptions {
		if i.decision == d {
			n++
		}
	}
	return n
}

// followInterruption handles a new phase. The first Listening belongs to the
// interruption, unless the conversation moved on before.
func (r *reader) followInterruption(phase string) {
	switch phase {
	case csm.PhaseInterrupted.String():
		if r.floor == nil || r.floor.at != r.now { // the same step may have ended the turn
			r.interrupt(r.answering())
		}
		return
	case csm.PhaseListening.String():
		if r.floor != nil && r.floor.decision != moot {
			r.floor.listen(r.now)
		}
		return
	case csm.PhaseSuspended.String(): // the answer is still paused
	default:
		if i := r.suspicion(); i != nil && r.change.Cause == string(csm.CauseInterruptRetract) {
			i.decide(retracted, r.now)
		} else if i != nil {
			i.decide(moot, r.now)
		}
	}
	r.floor = nil
}

// answering returns the turn that is being answered: the last one.
func (r *reader) answering() uint64 {
	if r.change.Turn != 0 || len(r.exchanges) == 0 {
		return r.change.Turn
	}
	return r.exchanges[len(r.exchanges)-1].ID
}

// listen records the first Listening.
func (i *interrupted) listen(now time.Duration) {
	if !i.Listening.Known {
		i.Listening = figures.At(now)
	}
}

// output handles an event about the output.
func (r *reader) output(o journal.Sound) {
	since := time.Duration(o.Since) * time.Microsecond
	if o.Silent {
		r.meter.Silenced(since)
	} else {
		r.meter.Sounded(since)
	}
}
