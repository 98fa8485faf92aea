package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Barge-in in two phases. An onset over the assistant pauses what is being said
// (Interrupted, in doubt). Speech that ends before it counts takes the pause back.
// Otherwise the user has the floor (Listening), and the rest of the answer is
// held, with whatever is still to come of it, until it is known what was said: the
// rest goes on after a cough or an "mm-hm", and is dropped for anything real.

// doubt pauses the assistant, who may go on.
func (r *run) doubt() {
	e, _ := r.env.Event.(SpeechStarted) // a voice that goes on is told of at once
	in := Interrupted{Doubt: true, Left: max(r.st.config().Confirm-e.Late, 1)}
	var out speech.Outcome
	if r.st.Speech, out = speech.Pause(r.st.Speech); out == speech.Stopped {
		r.emit(PausePlayback{Gen: r.st.Speech.Generation()})
	}
	r.st.Conv = in
}

// yieldFloor leaves the floor to the user, and keeps the rest of the answer.
func (r *run) yieldFloor() {
	_, words := r.env.Event.(Partial)
	r.st.Speech, _ = speech.Hold(r.st.Speech, words)
}

// cutOver ends the turn of an answer that the user spoke over: how much of it was
// heard is what the cursor said when it stood still.
func (r *run) cutOver() {
	r.cut()
	r.cutOff()
	r.st.Current = Turn{}
}

// stopOver is the user's word to stop, spoken over an answer.
func (r *run) stopOver() {
	r.clearQueue()
	r.cutOver()
	r.listen()
}

// takeOver is what the user said instead of listening on.
func (r *run) takeOver() {
	r.cutOver()
	r.enqueueFinal()
	r.listen()
}

// blip says whether the event ends speech that was too short to count, without
// words that do and with no others awaited. A position says how long it was, however late it comes.
func (r *run) blip() bool {
	var id uint64
	var pos int64
	others := 0
	switch e := r.env.Event.(type) { //nolint:gochecksumtype // the two that say where speech ended
	case SpeechPaused:
		id, pos = e.Utterance, e.Pos
	case SpeechStopped:
		id, pos, others = e.Utterance, e.Pos, 1
	}
	u, _ := turn.Find(r.st.Turn, id)
	if h, _ := r.st.Speech.(speech.Held); h.Meant {
		return false
	}
	return pos-u.Pos < samples(r.st.config().Confirm) && len(turn.Pending(r.st.Turn)) == others
}

// samples is d in samples at 48 kHz.
func samples(d time.Duration) int64 { return int64(d) * 48 / int64(time.Millisecond) }

// bargeRows are Interrupted while it is in doubt whether the user means it. What
// comes of the answer meanwhile is kept.
func bargeRows() []Row {
	const p = PhaseInterrupted
	return []Row{
		{p, KindSpeechPaused, and(doubtful, short), PhaseSpeaking, CauseInterruptRetract, nil},
		{p, KindSpeechStopped, and(doubtful, short), PhaseSpeaking, CauseInterruptRetract, nil},
		{p, KindSpeechStopped, doubtful, PhaseListening, CauseInterruptCleared, (*run).yieldFloor},
		{p, KindPartial, and(doubtful, counts), PhaseListening, CauseInterruptCleared, (*run).yieldFloor},
		{p, KindTimerFired, timer(TimerConfirm), PhaseListening, CauseInterruptCleared, (*run).yieldFloor},
		{p, KindFinal, and(doubtful, stopWord), PhaseListening, CauseInterruptCleared, (*run).stopOver},
		{p, KindFinal, and(doubtful, and(not(asked), content)), PhaseListening, CauseInterruptCleared, (*run).takeOver},
		{p, KindSpeechDrained, and(asked, allHeard), PhaseListening, CauseToolApproval, (*run).listen},
		{p, KindSpeechDrained, allHeard, PhaseListening, CauseTTSComplete, func(r *run) { r.finish(r.endOf()); r.listen() }},
		{p, KindSpeechDrained, Guard{}, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
		keep(p, KindSpeechPlayed, Guard{}, nil),
		{p, KindSpeechFailed, asked, PhaseListening, CauseError, (*run).questionBroke},
		{p, KindSpeechFailed, Guard{}, PhaseListening, CauseError, (*run).speechBroke},
		keep(p, KindUserInterrupt, doubtful, func(r *run) { r.clearQueue(); r.interrupt() }),
		keep(p, KindCopilotDelta, Guard{}, (*run).progress),
		keep(p, KindCopilotSegment, Guard{}, (*run).segment),
		keep(p, KindCopilotToolCall, Guard{}, (*run).wants),
		keep(p, KindCopilotDone, asks, (*run).ask),
		keep(p, KindCopilotDone, wholeAnswer, (*run).endLine),
		keep(p, KindCopilotDone, live, func(r *run) { r.explainAfter(doneCode(r)) }),
		keep(p, KindTimerFired, timer(TimerStall), func(r *run) { r.cancel(); r.explainAfter(CodeCopilotStalled) }),
	}
}

// heldRows are Listening while the rest of an answer waits for what the user said
// over it.
func heldRows() []Row {
	const p = PhaseListening
	return []Row{
		keep(p, KindSpeechStarted, cutIn, nil),
		{p, KindSpeechPaused, and(cutIn, short), PhaseSpeaking, CauseInterruptRetract, (*run).release},
		{p, KindSpeechStopped, and(cutIn, short), PhaseSpeaking, CauseInterruptRetract, (*run).release},
		keep(p, KindFinal, and(cutIn, nothingSaid), nil),
		keep(p, KindFinal, and(cutIn, and(not(asked), stopWord)), (*run).stopOver),
		keep(p, KindFinal, and(cutIn, and(not(asked), and(draft, content))), func(r *run) { r.cutOver(); r.gatherFinal() }),
		{p, KindFinal, and(cutIn, and(not(asked), content)), PhaseAnalysing, CauseSTTFinal, func(r *run) { r.cutOver(); r.takeFinal() }},
		{p, KindUserCommit, and(cutIn, not(asked)), PhaseAnalysing, CauseUserCommit, func(r *run) { r.cutOver(); r.commit() }},
		{p, KindUserText, and(cutIn, not(asked)), PhaseAnalysing, CauseUserCommit, func(r *run) { r.cutOver(); r.takeText() }},
		keep(p, KindUserInterrupt, and(cutIn, not(asked)), (*run).stopOver),
		// No other answer is under way in Listening.
		keep(p, KindCopilotDelta, Guard{}, (*run).progress),
		keep(p, KindCopilotSegment, Guard{}, (*run).segment),
		keep(p, KindCopilotToolCall, Guard{}, (*run).wants),
		keep(p, KindCopilotDone, asks, (*run).ask),
		keep(p, KindCopilotDone, wholeAnswer, (*run).endLine),
		keep(p, KindCopilotDone, live, func(r *run) { r.explainAfter(doneCode(r)) }),
		keep(p, KindTimerFired, timer(TimerStall), func(r *run) { r.cancel(); r.explainAfter(CodeCopilotStalled) }),
		keep(p, KindSpeechPlayed, Guard{}, nil),
		keep(p, KindSpeechDrained, and(asked, allHeard), nil),
		keep(p, KindSpeechDrained, allHeard, func(r *run) { r.finish(r.endOf()); r.listen() }),
		{p, KindSpeechDrained, Guard{}, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
	}
}

// The guards of barge-in.
var (
	doubtful = Guard{"in doubt", func(r *run) bool { in, _ := r.st.Conv.(Interrupted); return in.Doubt }}
	cutIn    = Guard{"an answer is held", func(r *run) bool { return speech.WasCut(r.st.Speech) }}
	short    = Guard{"too short to count", (*run).blip}
	counts   = Guard{"words that count", func(r *run) bool {
		e := r.env.Event.(Partial)
		return e.Words > 0 && e.Class != Backchannel
	}}
	nothingSaid = Guard{"nothing that counts", func(r *run) bool {
		f := r.env.Event.(Final)
		return !r.hasWords(f) && f.Class != Stop
	}}
	allHeard  = Guard{"all of it heard", func(r *run) bool { return r.speechOut == speech.Done }}
	confirmed = Guard{"barge-in is confirmed", func(r *run) bool {
		i := r.st.config().Interruption
		return i == Confirmed || i == ByWords && r.approving() || r.st.VoicePaused // nothing sounds that a voice could be taken for
	}}
	deaf    = Guard{"no onset interrupts", func(r *run) bool { i := r.st.config().Interruption; return i == ByWords || i == Never }}
	byWords = Guard{"words interrupt", func(r *run) bool { return r.st.config().Interruption == ByWords && !r.approving() }}
	never   = Guard{"nothing interrupts", func(r *run) bool { return r.st.config().Interruption == Never }}
)
