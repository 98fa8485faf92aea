package localrealtime

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Lengths of audio that turn taking works with, in samples at listenRate.
const (
	keptSamples   = 30 * listenRate     // that a commit without an onset can reach back
	maxUtterance  = 2 * 60 * listenRate // an automatic turn is cut here
	minCommit     = listenRate / 10     // of the public API: 100 ms
	manualPadding = listenRate * 3 / 10 // before an onset in a manual turn
	manualOnset   = float32(0.5)        // probability that opens a manual turn
	stallSlack    = 2 * time.Second     // beyond the silence, before a caller who stopped sending has ended
)

// turns is the state of the input audio buffer: where the utterances begin and
// end. Only call.run touches it.
type turns struct {
	pos       int64 // samples heard since the call began
	committed int64 // end of the last commit or clear
	kept      []int16
	endpoint  *vad.Endpointer // nil when turns are manual
	judge     endturn.Judge   // of pauses, beside endpoint
	base      int64           // position at which endpoint began
	sound     soundOfPause
	stale     bool // the configuration has changed during an utterance
	open      *utterance
	stall     *time.Timer // runs while an automatic utterance is open
}

// utterance is a turn of the user that is not committed yet.
type utterance struct {
	item  string
	start int64
	// automatic utterances were announced by speech_started.
	automatic bool
	// transcribed is whether the recogniser follows it: for the client or for the Model.
	transcribed bool
}

func msOf(samples int64) int64 { return samples * 1000 / listenRate }

// configureTurns applies the session's turn detection from here on, or after
// the utterance that is open.
func (c *call) configureTurns() {
	t := &c.turns
	if t.open != nil && t.open.automatic {
		t.stale = true
		return
	}
	t.stale = false
	t.base, t.endpoint, t.sound = t.pos, nil, soundOfPause{}
	if td := c.session.Audio.Input.TurnDetection; td != nil {
		t.endpoint, t.judge = vad.NewEndpointer(td.endpointer()), td.judge()
	}
	c.armIdle()
}

// onWindow takes the next 32 ms of audio, or what is left before a commit.
func (c *call) onWindow(w window) {
	t := &c.turns
	t.pos += int64(len(w.pcm))
	t.keep(w.pcm)
	if t.open != nil && t.open.transcribed {
		c.recognition.write(t.open.item, w.pcm)
	}
	if len(w.pcm) < vad.WindowSamples {
		t.base += int64(len(w.pcm)) // the endpointer counts whole windows
		return
	}
	if t.endpoint == nil {
		if t.open == nil && w.speech >= manualOnset {
			c.openUtterance(t.pos-vad.WindowSamples-manualPadding, false)
		}
		return
	}
	if since, quiet := t.endpoint.Quiet(); quiet {
		t.endpoint.SetSilence(c.judgeOf(t.base + since).Delay(c.wordsUpTo(t.base + since)))
	}
	edge, ok := t.endpoint.Push(w.speech)
	switch {
	case ok && edge.Kind == vad.SpeechStart:
		// After a manual commit or a new configuration an utterance may be
		// open that was not announced; the onset takes it over.
		c.onSpeechStart(t.base + edge.Pos)
	case ok && edge.Kind == vad.SpeechEnd && t.open != nil:
		c.onSpeechEnd(t.base + edge.Pos)
	case t.open != nil && t.open.automatic && t.pos-t.open.start >= maxUtterance:
		c.onSpeechEnd(t.pos)
	case t.open != nil:
		c.rearmStall()
	}
}

// soundOfPause is what a Listener makes of the voice before a pause.
type soundOfPause struct {
	since    int64 // begin of the pause
	judge    endturn.Judge
	listened bool // the Listener was asked
}

// Audio that a Listener is asked about, in samples at listenRate.
const (
	soundAfter = listenRate / 10 // of a pause: a shorter one is part of a word
	soundKept  = 8 * listenRate
)

// judgeOf judges the pause that began at a position. Until the Listener has answered, and
// if it fails, the words decide alone.
func (c *call) judgeOf(since int64) endturn.Judge {
	t := &c.turns
	if t.sound.since != since || t.sound.judge == nil {
		t.sound = soundOfPause{since: since, judge: t.judge}
	}
	_, words := t.judge.(endturn.Words)
	if words && c.listener != nil && !c.listening && !t.sound.listened && t.open != nil && t.pos-since >= soundAfter {
		t.sound.listened, c.listening = true, true
		pcm, judge := t.since(max(t.open.start, t.pos-soundKept)), t.judge
		c.workers.Go(func() {
			complete, err := c.listener.Complete(c.ctx.Done(), pcm)
			c.post(func() {
				c.listening = false
				if err == nil && t.sound.since == since {
					t.sound.judge = endturn.WithSound(judge, complete)
				}
			})
		})
	}
	return t.sound.judge
}

// wordsUpTo is what was recognised of the open utterance up to a position; "" as long as
// the recogniser has not come so far.
func (c *call) wordsUpTo(pos int64) string {
	if u := c.turns.open; u != nil && u.transcribed {
		if s := c.transcripts[u.item]; s != nil && s.start+s.heard >= pos {
			return s.words
		}
	}
	return ""
}

// onSpeechStart announces a turn of the user, and interrupts answers when the
// session asks for it.
func (c *call) onSpeechStart(start int64) {
	c.stopIdle()
	if c.turns.open != nil {
		c.dropUtterance()
	}
	c.openUtterance(start, true)
	u := c.turns.open
	c.send(audioBufferEvent{Type: "input_audio_buffer.speech_started", EventID: newID("event"), ItemID: u.item, AudioStartMs: new(msOf(u.start))})
	if c.session.Audio.Input.TurnDetection.interrupts() {
		c.silence(func(r *response) bool { return r.inConversation }, reasonTurnDetected)
	}
	c.rearmStall()
}

// interrupts is also asked after turn detection was switched off during an
// utterance.
func (t *turnDetection) interrupts() bool { return t != nil && t.InterruptResponse }

// onSpeechEnd commits the turn.
func (c *call) onSpeechEnd(end int64) {
	c.send(audioBufferEvent{Type: "input_audio_buffer.speech_stopped", EventID: newID("event"), ItemID: c.turns.open.item, AudioEndMs: new(msOf(end))})
	item := c.turns.open.item
	c.commitUtterance()
	if c.session.Audio.Input.TurnDetection.creates() {
		c.answerTurn(item)
	}
}

// answerTurn makes the response of a session with create_response. With turn, the item of
// what was said, it stays empty where nothing was understood.
func (c *call) answerTurn(turn string) {
	if c.srv.cfg.Model == nil {
		c.send(errorEvent{Type: "error", EventID: newID("event"), Error: noAnswers()})
		return
	}
	r, err := c.newResponse(responseCreate{})
	if err == nil {
		r.turn = turn
		err = c.queue(r)
	}
	if err != nil {
		c.refuse(clientEvent{}, err)
	}
}

// noAnswers tells a session with create_response what it cannot have.
func noAnswers() *protocolError {
	return invalidf("response_generation_unsupported", "session.audio.input.turn_detection.create_response",
		"this server has no model and makes no answers of its own; set create_response to false and send the text to speak with response.create")
}

// openUtterance begins a turn at start, or where the last one ended, and gives
// the recogniser what was heard of it so far.
func (c *call) openUtterance(start int64, automatic bool) {
	t := &c.turns
	start = max(start, t.committed, t.pos-int64(len(t.kept)))
	u := &utterance{item: newID("item"), start: start, automatic: automatic, transcribed: c.srv.cfg.Model != nil || c.session.Audio.Input.Transcription != nil}
	t.open = u
	if u.transcribed {
		c.transcripts[u.item] = &transcriptState{start: start, asked: c.session.Audio.Input.Transcription != nil}
		c.recognition.start(u.item, t.since(start))
	}
}

// commitUtterance closes the open turn: it becomes an item, and its final
// transcript follows when the recogniser is done.
func (c *call) commitUtterance() {
	t := &c.turns
	u := t.open
	t.open, t.committed = nil, t.pos
	t.stopStall()
	previous := c.items.last()
	c.send(committedEvent{Type: "input_audio_buffer.committed", EventID: newID("event"), PreviousItemID: previous, ItemID: u.item})
	c.addItem(item{
		ID: u.item, Type: itemMessage, Status: "completed", Role: "user",
		Content: []part{{Type: "input_audio"}},
	})
	if u.transcribed {
		state := c.transcripts[u.item]
		state.announced, state.end = true, t.pos
		c.recognition.finish(u.item)
	}
	if t.stale || !u.automatic || t.pos-u.start >= maxUtterance {
		c.configureTurns()
	}
}

// dropUtterance forgets the open turn and its audio.
func (c *call) dropUtterance() {
	t := &c.turns
	if t.open == nil {
		return
	}
	// The recogniser drops it with the next start; its results find nobody.
	delete(c.transcripts, t.open.item)
	t.open = nil
	t.stopStall()
}

// onCommit is input_audio_buffer.commit: the audio since the last commit
// becomes a turn, whether or not speech was found in it.
func (c *call) onCommit(ev clientEvent) {
	t := &c.turns
	if n := t.pos - t.committed; n < minCommit {
		c.refuse(ev, invalidf("input_audio_buffer_commit_empty", "", "the input audio buffer holds %d ms; a commit needs at least 100 ms of audio", msOf(n)))
		return
	}
	if t.open == nil {
		c.openUtterance(t.committed, false)
	}
	t.open.automatic = false
	c.commitUtterance()
}

// onClear is input_audio_buffer.clear.
func (c *call) onClear() {
	c.dropUtterance()
	c.turns.committed = c.turns.pos
	c.configureTurns()
	c.send(inputClearedEvent{"input_audio_buffer.cleared", newID("event")})
}

// onStall ends an automatic turn whose caller has stopped sending: without
// audio the endpointer would never see the silence.
func (c *call) onStall() {
	if u := c.turns.open; u == nil || !u.automatic {
		return
	}
	if len(c.inbox) > 0 || c.recognition.full() {
		// What was heard is waiting: it is this side that is late.
		c.rearmStall()
		return
	}
	if c.link.away() {
		// The network is: what the caller says comes when it works again.
		c.rearmStall()
		return
	}
	c.turns.stale = true
	c.onSpeechEnd(c.turns.pos)
}

// back says that the path to the client works again: what it said meanwhile is on its
// way.
func (c *call) back() {
	if u := c.turns.open; u != nil && u.automatic {
		c.rearmStall()
	}
}

func (c *call) rearmStall() {
	silence := stallSlack
	if td := c.session.Audio.Input.TurnDetection; td != nil {
		silence += td.endpointer().Silence
	}
	c.turns.stall.Reset(c.scaled(silence))
}

func (t *turns) stopStall() { t.stall.Stop() }

// keep remembers the last 30 s or more of audio.
func (t *turns) keep(pcm []int16) {
	if len(t.kept)+len(pcm) > 2*keptSamples {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-keptSamples:]...)
	}
	t.kept = append(t.kept, pcm...)
}

// since copies the audio from position start on.
func (t *turns) since(start int64) []int16 {
	return append([]int16(nil), t.kept[int64(len(t.kept))-(t.pos-start):]...)
}

// transcriptState follows the transcript of one utterance.
type transcriptState struct {
	stable     stablePrefix
	start, end int64  // samples
	words      string // the last partial result, of the first samples of the utterance
	heard      int64
	// announced: the client has heard of the item.
	announced bool
	// asked: the client wants the transcript.
	asked bool
}

// transcribing says whether the transcript of an item is still to come.
func (c *call) transcribing() bool {
	for _, s := range c.transcripts {
		if s.announced {
			return true
		}
	}
	return false
}

// onTranscript takes news from the recogniser.
func (c *call) onTranscript(n transcript) {
	state := c.transcripts[n.item]
	if state == nil {
		return
	}
	if !n.final {
		state.words, state.heard = n.text, n.heard
	}
	known := state.announced || (c.turns.open != nil && c.turns.open.item == n.item && c.turns.open.automatic)
	switch {
	case !state.asked && !n.final:
	case !n.final && known:
		// After the end the client waits: also a delta that adds nothing shows that
		// the recogniser is at work.
		if delta := state.stable.grow(n.text); delta != "" || state.announced {
			c.sendDelta(n.item, delta)
		}
	case !n.final:
	case n.err != nil:
		delete(c.transcripts, n.item)
		c.log.Warn().Err(n.err).Msg("transcription failed")
		defer c.pump()
		if !state.asked {
			return
		}
		c.send(transcriptionFailedEvent{
			Type: "conversation.item.input_audio_transcription.failed", EventID: newID("event"), ItemID: n.item,
			Error: &protocolError{Type: "server_error", Code: "transcription_failed", Message: fmt.Sprintf("the recogniser failed: %v", n.err)},
		})
	default:
		delete(c.transcripts, n.item)
		c.items.transcribe(n.item, n.text)
		defer c.pump()
		if !state.asked {
			return
		}
		if delta := state.stable.extend(n.text); delta != "" {
			c.sendDelta(n.item, delta)
		}
		done := transcribedEvent{Type: "conversation.item.input_audio_transcription.completed", EventID: newID("event"), ItemID: n.item, Transcript: n.text}
		if n.confidence > 0 && slices.Contains(c.session.Include, includeLogprobs) {
			done.Logprobs = []logprob{{Token: n.text, Logprob: math.Log(n.confidence)}}
		}
		done.Usage.Type, done.Usage.Seconds = "duration", float64(state.end-state.start)/listenRate
		c.send(done)
	}
}

// includeLogprobs is the member of session.include that asks for probabilities.
const includeLogprobs = "item.input_audio_transcription.logprobs"

func (c *call) sendDelta(item, delta string) {
	c.send(transcriptDeltaEvent{"conversation.item.input_audio_transcription.delta", newID("event"), item, 0, delta})
}

// armIdle starts the idle timeout, which runs after an answer was played.
func (c *call) armIdle() {
	c.stopIdle()
	d := c.session.Audio.Input.TurnDetection.idleTimeout()
	if d > 0 && c.answered && len(c.responses) == 0 && c.turns.open == nil {
		c.idleFrom = c.turns.pos
		c.idle.Reset(c.scaled(d))
	}
}

func (c *call) stopIdle() { c.idle.Stop() }

// onIdle commits the silence since the last answer.
func (c *call) onIdle() {
	t := &c.turns
	if t.open != nil || len(c.responses) > 0 {
		return
	}
	c.answered = false
	c.openUtterance(c.idleFrom, false)
	u := t.open
	u.automatic = true // the endpointer continues counting
	c.send(audioBufferEvent{
		Type: "input_audio_buffer.timeout_triggered", EventID: newID("event"), ItemID: u.item,
		AudioStartMs: new(msOf(c.idleFrom)), AudioEndMs: new(msOf(t.pos)),
	})
	c.commitUtterance()
	if c.session.Audio.Input.TurnDetection.creates() {
		c.answerTurn("")
	}
}
