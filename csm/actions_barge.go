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
// rest continues after a cough or an "mm-hm", and is dropped for anything real.

// pauseForBargeIn pauses the assistant, who may go on.
func (r *run) pauseForBargeIn() {
	e, _ := r.env.Event.(SpeechStarted) // a continuing voice is reported at once
	r.st.Conv = Interrupted{Doubt: true, Left: max(r.st.config().Confirm-e.Late, 1)}
}

// yieldFloor leaves the floor to the user, and keeps the rest of the answer.
func (r *run) yieldFloor() {
	if _, words := r.env.Event.(Partial); words {
		r.st.Speech = speech.NoteWords(r.st.Speech)
	}
}

// commitInterruption ends the turn of an answer that the user spoke over: how much of it was
// heard is what the cursor said when it stood still.
func (r *run) commitInterruption() {
	r.cut()
	r.cutOff()
	r.st.Current = Turn{}
}

// stopOver is the user's word to stop, spoken over an answer.
func (r *run) stopOver() {
	r.clearQueue()
	r.commitInterruption()
}

// takeOver is what the user said instead of listening on.
func (r *run) takeOver() {
	r.commitInterruption()
	r.enqueueFinal()
}

// retracts says whether the event ends speech over the assistant that was too short
// to count, without words that do and with no others awaited. A position says how
// long it was, however late it comes.
func (r *run) retracts() bool {
	if !doubtful.Holds(r) && !r.st.cutIn() {
		return false
	}
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
	if p, _ := r.st.Speech.(speech.Paused); p.HasWords {
		return false
	}
	return pos-u.Pos < samples(r.st.config().Confirm) && len(turn.Pending(r.st.Turn)) == others
}

// samples is d in samples at 48 kHz.
func samples(d time.Duration) int64 { return int64(d) * 48 / int64(time.Millisecond) }

// The guards of barge-in.
var (
	doubtful  = when("in doubt", func(r *run) bool { in, _ := r.st.Conv.(Interrupted); return in.Doubt })
	confirmed = when("barge-in is confirmed", func(r *run) bool {
		i := r.st.config().Interruption
		return i == Confirmed || i != Never && r.approving() || r.st.VoicePaused // nothing sounds that a voice could be taken for
	})
	deaf    = when("no onset interrupts", func(r *run) bool { i := r.st.config().Interruption; return i == ByWords || i == Never })
	byWords = when("words interrupt", func(r *run) bool { return r.st.config().Interruption == ByWords && !r.approving() })
	never   = when("nothing interrupts", func(r *run) bool { return r.st.config().Interruption == Never })
)
