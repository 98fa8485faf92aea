package localrealtime

import (
	"fmt"
	"math"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// news is what comes with an event and the tables do not look at.
type news struct {
	pos        int64 // in the audio that was heard
	words      *transcriptState
	transcript transcript
	response   *response
	text       string // a piece of an answer, its audio in base64, or a summary
	endMs      int64  // of the piece
	generated  generated
	why        *protocolError // of the end of the call
}

// happening is an event with its news.
type happening struct {
	machine.Event
	news
}

// take is the one way that the state of a call changes: the tables say what an event comes
// to, and each action is carried out in order. Only call.run uses it, and no action.
func (c *call) take(e machine.Event, n news) machine.Outcome {
	out := c.step(happening{e, n})
	c.settle()
	return out
}

// settle takes what was raised.
func (c *call) settle() {
	for len(c.raised) > 0 {
		next := c.raised[0]
		c.raised = c.raised[1:]
		c.step(next)
	}
}

// raise has an event taken after the present one.
func (c *call) raise(e machine.Event, n news) { c.raised = append(c.raised, happening{e, n}) }

// step takes one event. A step that would break a promise of the tables is not carried
// out: it ends the call.
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

// executors carry out the actions, by their number.
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

// tellError tells the client what went wrong, of no event of its own.
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

// tellTimeout: the silence since the last answer is a turn.
func (c *call) tellTimeout(_ machine.Action, n *news) {
	c.send(audioBufferEvent{
		Type: "input_audio_buffer.timeout_triggered", EventID: newID("event"), ItemID: c.turns.open.item,
		AudioStartMs: new(msOf(n.pos)), AudioEndMs: new(msOf(c.turns.pos)),
	})
}

// commitUtterance makes an item of the open turn.
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

// dropUtterance forgets the open turn. The recogniser drops it with the next start; its
// results find nobody.
func (c *call) dropUtterance() {
	delete(c.transcripts, c.turns.open.item)
	c.turns.open = nil
}

// forgetAudio is what input_audio_buffer.clear does.
func (c *call) forgetAudio() {
	c.turns.committed = c.turns.pos
	c.send(inputClearedEvent{"input_audio_buffer.cleared", newID("event")})
}

func (c *call) armIdle() {
	c.idleFrom = c.turns.pos
	c.idle.Reset(c.scaled(c.session.Audio.Input.TurnDetection.idleTimeout()))
}

// ---- the words

// listenTo gives the recogniser what was heard of the open turn so far.
func (c *call) listenTo(a machine.Action, _ *news) {
	u := c.turns.open
	u.words = &transcriptState{id: a.ID, start: u.start}
	c.transcripts[u.item] = u.words
	c.recognition.start(u.item, c.turns.since(u.start))
}

// endListening asks for the final words of the turn that was committed.
func (c *call) endListening(machine.Action, *news) {
	c.transcripts[c.said].end = c.turns.pos
	c.recognition.finish(c.said)
}

// tellWords tells those that will stay, if there are more.
func (c *call) tellWords(_ machine.Action, n *news) {
	if delta := n.words.stable.grow(n.transcript.text); delta != "" {
		c.sendDelta(n.transcript.item, delta)
	}
}

// tellProgress also tells a client that waits that the recogniser is at work.
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
	if w.confidence > 0 && slices.Contains(c.session.Include, includeLogprobs) {
		done.Logprobs = []logprob{{Token: w.text, Logprob: math.Log(w.confidence)}}
	}
	done.Usage.Type, done.Usage.Seconds = "duration", float64(state.end-state.start)/listenRate
	c.send(done)
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
	c.send(outputBufferEvent{Type: "output_audio_buffer." + what, EventID: newID("event"), ResponseID: response})
}

func (c *call) tellCleared(a machine.Action, _ *news) {
	if r := c.responses[a.ID]; r != nil {
		c.tellBuffer("cleared", r.id)
		return
	}
	c.tellBuffer("cleared", "") // nothing plays
}
