package localrealtime

import (
	"fmt"
	"math"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// news is the data of an event that the tables do not look at.
type news struct {
	pos        int64 // position in the received audio
	words      *transcriptState
	transcript transcript
	response   *response
	text       string // a piece of an answer, base64 audio of an answer, or a summary
	endMs      int64  // of the piece
	generated  generated
	why        *protocolError // why the call ends
}

// happening is an event with its news.
type happening struct {
	machine.Event
	news
}

// take is the only way to change the state of a call: the tables map an event to
// actions, and take runs the actions in order. Only call.run uses it; actions use raise
// instead.
func (c *call) take(e machine.Event, n news) machine.Outcome {
	out := c.step(happening{e, n})
	c.settle()
	return out
}

// settle processes the raised events.
func (c *call) settle() {
	for len(c.raised) > 0 {
		next := c.raised[0]
		c.raised = c.raised[1:]
		c.step(next)
	}
}

// raise queues an event to be processed after the current one.
func (c *call) raise(e machine.Event, n news) { c.raised = append(c.raised, happening{e, n}) }

// step processes one event. If the step would violate an invariant of the tables, step
// ends the call instead of running the actions.
func (c *call) step(h happening) machine.Outcome {
	next, actions, out := machine.Step(c.state, h.Event)
	if err := machine.Check(next); err != nil {
		c.log.Error().Err(err).Stringer("event", h.Kind).Msg("the call is in a state that cannot be; hanging up")
		c.state.Link = machine.Torn
		c.hangUp()
		return machine.Stale
	}
	c.state = next
	for _, a := range actions {
		c.executors[a.Do](c, a, &h.news)
	}
	return out
}

// executors maps each action, by number, to the function that runs it.
func executors() [machine.NumActions]func(*call, machine.Action, *news) {
	return [machine.NumActions]func(*call, machine.Action, *news){
		machine.Greet:          func(c *call, _ machine.Action, _ *news) { c.greet() },
		machine.TellExpired:    func(c *call, _ machine.Action, n *news) { c.tellError(n.why) },
		machine.TellFault:      func(c *call, _ machine.Action, n *news) { c.tellError(n.why) },
		machine.HangUpWhenSent: func(c *call, _ machine.Action, _ *news) { c.hangUpWhenSent() },
		machine.HangUp:         func(c *call, _ machine.Action, _ *news) { c.hangUp() },

		machine.OpenUtterance:     func(c *call, _ machine.Action, n *news) { c.openUtterance(n.pos) },
		machine.TellSpeechStarted: func(c *call, _ machine.Action, _ *news) { c.tellSpeechStarted() },
		machine.TellSpeechStopped: (*call).tellSpeechStopped,
		machine.TellTimeout:       (*call).tellTimeout,
		machine.CommitUtterance:   func(c *call, _ machine.Action, _ *news) { c.commitUtterance() },
		machine.DropUtterance:     func(c *call, _ machine.Action, _ *news) { c.dropUtterance() },
		machine.ForgetAudio:       func(c *call, _ machine.Action, _ *news) { c.forgetAudio() },
		machine.Reconfigure:       func(c *call, _ machine.Action, _ *news) { c.reconfigure() },
		machine.ArmStall:          func(c *call, _ machine.Action, _ *news) { c.rearmStall() },
		machine.StopStall:         func(c *call, _ machine.Action, _ *news) { c.turns.stall.Stop() },
		machine.ArmIdle:           func(c *call, _ machine.Action, _ *news) { c.armIdle() },
		machine.StopIdle:          func(c *call, _ machine.Action, _ *news) { c.idle.Stop() },
		machine.TellNoModel:       func(c *call, _ machine.Action, _ *news) { c.tellError(noAnswers()) },
		machine.TellFull:          func(c *call, _ machine.Action, _ *news) { c.tellError(tooManyResponses()) },

		machine.Listen:          (*call).listenTo,
		machine.EndListening:    (*call).endListening,
		machine.TellWords:       (*call).tellWords,
		machine.TellProgress:    func(c *call, _ machine.Action, n *news) { c.tellProgress(n) },
		machine.KeepWords:       (*call).keepWords,
		machine.TellTranscript:  func(c *call, _ machine.Action, n *news) { c.tellTranscript(n) },
		machine.LoseWords:       (*call).loseWords,
		machine.TellWordsFailed: func(c *call, _ machine.Action, n *news) { c.tellWordsFailed(n) },

		machine.TellCreated:      (*call).tellCreated,
		machine.Generate:         func(c *call, a machine.Action, _ *news) { c.generate(c.responses[a.ID]) },
		machine.Announce:         func(c *call, a machine.Action, _ *news) { c.announce(c.responses[a.ID]) },
		machine.Say:              func(c *call, a machine.Action, n *news) { c.say(c.responses[a.ID], n.text) },
		machine.TellAudio:        func(c *call, a machine.Action, n *news) { c.tellAudio(c.responses[a.ID], n.text) },
		machine.Mark:             func(c *call, a machine.Action, n *news) { c.responses[a.ID].mark(n.text, n.endMs) },
		machine.Keep:             func(c *call, a machine.Action, n *news) { c.keep(c.responses[a.ID], n.generated) },
		machine.CloseItem:        func(c *call, a machine.Action, _ *news) { c.closeItem(c.responses[a.ID], a.End) },
		machine.Finish:           func(c *call, a machine.Action, n *news) { c.finish(c.responses[a.ID], a.End, n.generated) },
		machine.Stop:             func(c *call, a machine.Action, _ *news) { c.responses[a.ID].cancel() },
		machine.Forget:           func(c *call, a machine.Action, _ *news) { delete(c.responses, a.ID) },
		machine.TellAudioStarted: func(c *call, a machine.Action, _ *news) { c.tellBuffer("started", c.responses[a.ID].id) },
		machine.TellAudioStopped: func(c *call, a machine.Action, _ *news) { c.tellBuffer("stopped", c.responses[a.ID].id) },
		machine.TellAudioCleared: (*call).tellCleared,
		machine.Kill:             func(c *call, a machine.Action, _ *news) { c.link.kill(c.responses[a.ID]) },
		machine.Truncate:         func(c *call, a machine.Action, _ *news) { c.truncateToHeard(c.responses[a.ID]) },

		machine.Summarise:     func(c *call, a machine.Action, _ *news) { c.summarise(a.ID) },
		machine.KeepSummary:   func(c *call, a machine.Action, n *news) { c.keepSummary(a.ID, n.text) },
		machine.ForgetSummary: func(c *call, _ machine.Action, _ *news) { c.forgetSummary() },
		machine.StopSummary:   func(c *call, _ machine.Action, _ *news) { c.stopSummary() },
	}
}

// tellError sends the client an error that is not caused by one of its events.
func (c *call) tellError(e *protocolError) {
	c.send(errorEvent{Type: "error", EventID: newID("event"), Error: e})
}

// ---- the turn

// openUtterance begins a turn at start, or where the last one ended.
func (c *call) openUtterance(start int64) {
	t := &c.turns
	t.open = &utterance{item: newID("item"), start: max(start, t.committed, t.pos-int64(len(t.kept)))}
}

func (c *call) tellSpeechStarted() {
	u := c.turns.open
	c.send(audioBufferEvent{Type: "input_audio_buffer.speech_started", EventID: newID("event"), ItemID: u.item, AudioStartMs: new(msOf(u.start))})
}

func (c *call) tellSpeechStopped(_ machine.Action, n *news) {
	c.send(audioBufferEvent{Type: "input_audio_buffer.speech_stopped", EventID: newID("event"), ItemID: c.turns.open.item, AudioEndMs: new(msOf(n.pos))})
}

// tellTimeout reports the silence since the last answer as a turn.
func (c *call) tellTimeout(_ machine.Action, n *news) {
	c.send(audioBufferEvent{
		Type: "input_audio_buffer.timeout_triggered", EventID: newID("event"), ItemID: c.turns.open.item,
		AudioStartMs: new(msOf(n.pos)), AudioEndMs: new(msOf(c.turns.pos)),
	})
}

// commitUtterance turns the open utterance into an item.
func (c *call) commitUtterance() {
	t := &c.turns
	u := t.open
	t.open, t.committed = nil, t.pos
	c.send(committedEvent{Type: "input_audio_buffer.committed", EventID: newID("event"), PreviousItemID: c.items.last(), ItemID: u.item})
	c.addItem(item{
		ID: u.item, Type: itemMessage, Status: "completed", Role: "user",
		Content: []part{{Type: "input_audio"}},
	})
	c.said = u.item
}

// dropUtterance discards the open utterance. The recogniser discards it at the next
// start, and results that arrive before then are ignored.
func (c *call) dropUtterance() {
	delete(c.transcripts, c.turns.open.item)
	c.turns.open = nil
	c.restRecognizer()
}

// forgetAudio implements input_audio_buffer.clear.
func (c *call) forgetAudio() {
	c.turns.committed = c.turns.pos
	c.send(inputClearedEvent{"input_audio_buffer.cleared", newID("event")})
}

func (c *call) armIdle() {
	c.idleFrom = c.turns.pos
	c.idle.Reset(c.scaled(c.session.Audio.Input.TurnDetection.idleTimeout()))
}

// ---- the words

// listenTo passes the audio of the open utterance so far to the recogniser.
func (c *call) listenTo(a machine.Action, _ *news) {
	u := c.turns.open
	u.words = &transcriptState{id: a.ID, start: u.start}
	c.transcripts[u.item] = u.words
	c.recognition.start(u.item, c.turns.since(u.start), c.pauseBefore(u.start))
}

// pauseBefore returns the silence between the last utterance and one from a position on, in
// samples, if it may continue that one; else -1.
func (c *call) pauseBefore(start int64) int64 {
	pause := start - c.turns.said
	if c.said == "" || pause > joinedWithin || c.srv.cfg.GoesOn == nil || !c.srv.cfg.GoesOn() {
		return -1
	}
	return max(pause, 0)
}

// endListening requests the final transcript of the committed utterance.
func (c *call) endListening(machine.Action, *news) {
	c.turns.said = c.turns.pos
	c.transcripts[c.said].end = c.turns.pos
	c.recognition.finish(c.said)
	c.restRecognizer()
}

// tellWords sends the words that have become stable, if there are new ones.
func (c *call) tellWords(_ machine.Action, n *news) {
	if delta := n.words.stable.grow(n.transcript.text); delta != "" {
		c.sendDelta(n.transcript.item, delta)
	}
}

// tellProgress sends the new stable words even if there are none, so that a waiting
// client sees that the recogniser is working.
func (c *call) tellProgress(n *news) {
	c.sendDelta(n.transcript.item, n.words.stable.grow(n.transcript.text))
}

func (c *call) keepWords(_ machine.Action, n *news) {
	delete(c.transcripts, n.transcript.item)
	c.items.transcribe(n.transcript.item, n.transcript.text)
	c.grown()
}

func (c *call) tellTranscript(n *news) {
	w, state := n.transcript, n.words
	if delta := state.stable.extend(w.text); delta != "" {
		c.sendDelta(w.item, delta)
	}
	done := transcribedEvent{Type: "conversation.item.input_audio_transcription.completed", EventID: newID("event"), ItemID: w.item, Transcript: w.text}
	if c.tells(includeLogprobs) {
		done.Logprobs = logprobs(w.text, w.probs)
	}
	if c.tells(includeAnswer) {
		done.Answer = w.answer
	}
	if c.tells(includeJoined) {
		done.Joined = w.joined
	}
	done.Usage.Type, done.Usage.Seconds = "duration", float64(state.end-state.start)/listenRate
	c.send(done)
}

// logprobs returns a token for each word of a text, or none if there are no probabilities.
func logprobs(text string, probs []float64) (tokens []logprob) {
	for i, word := range strings.Fields(text) {
		if i >= len(probs) {
			return nil
		}
		if i > 0 {
			word = " " + word
		}
		tokens = append(tokens, logprob{Token: word, Logprob: math.Log(max(probs[i], 1e-9))})
	}
	return tokens
}

func (c *call) loseWords(_ machine.Action, n *news) {
	delete(c.transcripts, n.transcript.item)
	c.log.Warn().Err(n.transcript.err).Msg("transcription failed")
}

func (c *call) tellWordsFailed(n *news) {
	c.send(transcriptionFailedEvent{
		Type: "conversation.item.input_audio_transcription.failed", EventID: newID("event"), ItemID: n.transcript.item,
		Error: &protocolError{Type: "server_error", Code: "transcription_failed", Message: fmt.Sprintf("the recogniser failed: %v", n.transcript.err)},
	})
}

// ---- the sound of answers

func (c *call) tellBuffer(what, response string) {
	if was := c.turns.answering; was || what == "started" {
		c.turns.answering, c.turns.answered = what == "started", c.turns.pos
	}
	c.send(outputBufferEvent{Type: "output_audio_buffer." + what, EventID: newID("event"), ResponseID: response})
}

func (c *call) tellCleared(a machine.Action, _ *news) {
	if r := c.responses[a.ID]; r != nil {
		c.tellBuffer("cleared", r.id)
		return
	}
	c.tellBuffer("cleared", "") // nothing is playing
}
