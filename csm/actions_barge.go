package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Barge-in has two phases. An onset over the assistant pauses it (Interrupted, with
// Doubt). If the speech ends before it is confirmed, the pause is reverted. Otherwise the
// user has the floor (Listening) and the rest of the answer is paused, including what still
// arrives, until the words are known: it resumes after a cough or an "mm-hm" and is
// dropped for a message.

// pauseForBargeIn pauses the assistant, who may resume.
func (r *run) pauseForBargeIn() {
	e, _ := r.env.Event.(SpeechStarted) // the user is already speaking
	r.st.Conv = Interrupted{Doubt: true, Left: max(r.st.config().Confirm-e.Late, 1)}
	if _, words := r.env.Event.(Partial); words {
		r.st.Speech, _ = speech.Pause(r.st.Speech)
		r.st.Speech = speech.NoteWords(r.st.Speech)
	}
}

// yieldFloor gives the user the floor and holds the rest of the answer.
func (r *run) yieldFloor() {
	if _, words := r.env.Event.(Partial); words {
		r.st.Speech = speech.NoteWords(r.st.Speech)
	}
}

// stopOver handles the user's command to stop, spoken over an answer.
func (r *run) stopOver() {
	r.clearQueue()
	r.end(TurnCutOff)
}

// takeOver handles a message that the user spoke over an answer.
func (r *run) takeOver() {
	r.end(TurnCutOff)
	r.enqueueFinal()
}

// retracts says whether the event ends speech over the assistant that was too short to
// count and had no words that count, with no others awaited. The position gives its
// length, however late the event is.
func (r *run) retracts() bool {
	if !doubtful.Holds(r) && !r.st.cutIn() {
		return false
	}
	var id uint64
	var pos int64
	others := 0
	switch e := r.env.Event.(type) { //nolint:gochecksumtype // the two that have the end of speech
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

// samples returns d in samples at 48 kHz.
func samples(d time.Duration) int64 { return int64(d) * 48 / int64(time.Millisecond) }

// The guards of barge-in.
var (
	doubtful  = when("interruption is unconfirmed", func(r *run) bool { in, _ := r.st.Conv.(Interrupted); return in.Doubt })
	confirmed = when("barge-in is confirmed", func(r *run) bool {
		i := r.st.config().Interruption
		return i == Confirmed || i != Never && r.approving() || r.st.VoicePaused || r.st.voiceless() // no playback could be mistaken for the user
	})
	byWords = when("only words interrupt", func(r *run) bool { return r.st.config().Interruption == ByWords && !r.approving() })
	never   = when("nothing interrupts", func(r *run) bool { return r.st.config().Interruption == Never })
)
