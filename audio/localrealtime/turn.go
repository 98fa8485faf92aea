package localrealtime

import (
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// Audio durations for turn taking, in samples at listenRate.
const (
	keptSamples   = 30 * listenRate     // how far back a commit without an onset can reach
	minCommit     = listenRate / 10     // minimum of the public API: 100 ms
	manualPadding = listenRate * 3 / 10 // before an onset in a manual turn
	manualOnset   = float32(0.5)        // speech probability that opens a manual turn
	joinedWithin  = 2 * listenRate      // after an utterance that the next one may continue
	stallSlack    = 2 * time.Second     // in addition to the silence, before a caller that stopped sending has ended its turn
	maxAheadMs    = 60_000              // of a commit before its audio
	maxAwaited    = 16                  // commits
	heldFor       = 5 * time.Second     // after a pause, before an utterance that the client holds ends all the same
)

// turnState is the input audio buffer and the boundaries of its utterances. Only call.run
// uses it; call.state holds the state of the turn.
type turnState struct {
	pos       int64 // samples received since the call began
	committed int64 // end of the last commit or clear
	said      int64 // end of the last utterance that was recognised
	kept      []int16
	endpoint  *vad.Endpointer // nil when turns are manual
	delays    turns.Delays    // of pauses that end a turn
	why       turns.Judgement // of the last window of a pause
	loudness  turns.Loudness  // tells the user's voice from one in the background
	answering bool            // the voice of an answer is on its way to the caller
	answered  int64           // where it ended
	base      int64           // position at which endpoint started
	sound     soundOfPause
	open      *utterance    // may be nil
	stall     audio.Timeout // runs while an announced utterance is open
	awaited   []clientEvent // commits whose audio has not arrived, in order
}

// utterance is a turn of the user that is not yet committed.
type utterance struct {
	item  string
	start int64
	// words is the state of its transcript; nil if it is not recognised live.
	words *transcriptState
	// settled: the recogniser was told that the voice has paused, and said told.
	settled bool
	told    *transcript
	// held: the client ends it.
	held bool
}

func msOf(samples int64) int64 { return samples * 1000 / listenRate }

// reconfigure applies the session's turn detection from the current position.
func (c *call) reconfigure() {
	t := &c.turns
	t.base, t.endpoint, t.sound = t.pos, nil, soundOfPause{}
	if td := c.session.Audio.Input.TurnDetection; td != nil {
		t.endpoint, t.delays = vad.NewEndpointer(td.endpointer()), td.delays()
	}
}

// onWindow processes the next 32 ms of audio, or the rest before a commit.
func (c *call) onWindow(w window) {
	c.hearWindow(w)
	c.commitAwaited(false)
}

func (c *call) hearWindow(w window) {
	t := &c.turns
	t.pos += int64(len(w.pcm))
	t.keep(w.pcm)
	if t.open != nil && t.open.words != nil {
		c.recognition.write(t.open.item, w.pcm)
	}
	if len(w.pcm) < vad.WindowSamples {
		t.base += int64(len(w.pcm)) // the endpointer counts whole windows
		return
	}
	if t.endpoint == nil {
		if w.speech >= manualOnset {
			c.hearAt(machine.Voice, t.pos-vad.WindowSamples-manualPadding)
		}
		return
	}
	if since, quiet := t.endpoint.Quiet(); quiet {
		t.why = c.judge(t.base + since)
		t.endpoint.SetSilence(t.why.Delay)
	}
	edge, ok := c.pushVoice(w)
	if u := t.open; u != nil && u.words != nil {
		switch since, quiet := t.endpoint.Quiet(); {
		case quiet && t.pos-t.base-since == settledAfter:
			u.settled, u.told = true, nil
			c.recognition.settle(u.item)
		case !quiet && u.settled && (!ok || edge.Kind != vad.SpeechEnd): // at the end it stays settled
			u.settled, u.told = false, nil
			c.recognition.resume(u.item)
		}
	}
	switch {
	case ok && edge.Kind == vad.SpeechStart:
		c.hearAt(machine.Onset, t.base+edge.Pos)
	case ok && edge.Kind == vad.SpeechEnd:
		c.log.Debug().Stringer("because", t.why.Reason).Dur("delay", t.why.Delay).Msg("a pause ends the turn")
		c.hearAt(machine.Pause, t.base+edge.Pos)
	case t.open != nil && t.pos-t.open.start >= hearing.LongestUtterance:
		c.hearAt(machine.TooLong, t.pos)
	default:
		c.hearAt(machine.Heard, t.pos)
	}
}

// pushVoice passes the next window to the endpointer. A voice in the background does not hold the
// turn open, but it may be the user, who speaks more softly: while it is heard, the turn ends no
// sooner than with words that say nothing.
func (c *call) pushVoice(w window) (vad.Edge, bool) {
	t := &c.turns
	if t.mayEcho() {
		return t.endpoint.Push(w.speech)
	}
	level, voice := audio.LevelOf(w.pcm).RMS, t.endpoint.MayBeVoice(w.speech)
	t.loudness.Hear(level, voice, t.endpoint.Speaking())
	switch {
	case t.loudness.Counts(level):
		return t.endpoint.Push(w.speech)
	case !voice || !t.loudness.Faint(level):
		return t.endpoint.Push(0)
	}
	e := c.wordsUpTo(t.base + t.endpoint.Voiced())
	e.Faint = true
	t.why = t.judge(e)
	return t.endpoint.PushFaint(w.speech, t.why.Delay)
}

// echoTail is how long the end of an answer may be in the caller's audio: it is played, captured and
// sent back.
const echoTail = listenRate

// mayEcho reports whether an answer may be in the caller's audio. Then its level says little of who
// speaks: it may be the echo, and the caller's canceller attenuates the user.
func (t *turnState) mayEcho() bool {
	return t.answering || t.answered > 0 && t.pos < t.answered+echoTail
}

// hearAt processes an input event at a position.
func (c *call) hearAt(k machine.Kind, pos int64) { c.take(machine.Event{Kind: k}, news{pos: pos}) }

// soundOfPause is a Listener's judgement of the voice before a pause.
type soundOfPause struct {
	since    int64    // start of the pause
	complete *float64 // nil until the Listener has answered
	listened bool     // the Listener has been called
}

// Audio passed to a Listener, in samples at listenRate.
const (
	soundAfter = listenRate / 10 // of a pause: shorter ones occur within words
	soundKept  = 8 * listenRate
)

// settledAfter is the pause after which PocketSphinx seldom changes its text unless the
// voice continues (docs/design/measurements.md, With the default voice). It is a multiple of a window.
const settledAfter = 5 * vad.WindowSamples

// soundOf returns the Listener's probability that the turn was complete at the pause that began at
// since. It is nil until the Listener has answered, and if it fails.
func (c *call) soundOf(since int64) *float64 {
	t := &c.turns
	if t.sound.since != since {
		t.sound = soundOfPause{since: since}
	}
	if t.delays.Listens() && c.listener != nil && !c.listening && !t.sound.listened && t.open != nil && t.pos-since >= soundAfter {
		t.sound.listened, c.listening = true, true
		pcm, listener := t.since(max(t.open.start, t.pos-soundKept)), c.listener
		c.workers.Go(func() {
			complete, err := listener.Complete(c.ctx.Done(), pcm)
			c.post(func() {
				c.listening = false
				c.restListener()
				if err == nil && t.sound.since == since {
					t.sound.complete = &complete
					if u := t.open; u != nil && u.told != nil {
						c.tellSettled(*u.told)
					}
				}
			})
		})
	}
	return t.sound.complete
}

// judge returns how long the pause that began at since must last to end the turn. Until
// the recogniser reaches the pause, its words may turn out to be unfinished. Waiting for
// them costs nothing, because the transcript is not complete before that.
func (c *call) judge(since int64) turns.Judgement {
	e := c.wordsUpTo(since)
	e.Sound = c.soundOf(since)
	return c.turns.judge(e)
}

// judge judges a pause, unless the client ends the utterance.
func (t *turnState) judge(e turns.Evidence) turns.Judgement {
	if t.open != nil && t.open.held {
		return turns.Judgement{Delay: heldFor, Reason: turns.OfSilence}
	}
	return t.delays.Judge(e)
}

// onHold handles input_audio_buffer.hold, an extension of this server: the client ends the utterance of
// an item by a commit.
func (c *call) onHold(ev clientEvent) {
	if u := c.turns.open; u != nil && u.item == ev.ItemID {
		u.held = true
	}
}

// wordsUpTo returns the recognised words of the open utterance up to a position as evidence.
func (c *call) wordsUpTo(pos int64) turns.Evidence {
	u := c.turns.open
	switch {
	case u == nil || u.words == nil:
		return turns.Evidence{}
	case u.words.start+u.words.heard < pos:
		return turns.Evidence{Behind: true}
	default:
		words := u.words.words
		return turns.Evidence{Words: words, Stop: u.words.stop, Unfinished: words != "" && c.srv.cfg.Unfinished != nil && c.srv.cfg.Unfinished(words)}
	}
}

// noAnswers tells a session with create_response that this server cannot answer.
func noAnswers() *protocolError {
	return invalidf("response_generation_unsupported", "session.audio.input.turn_detection.create_response",
		"this server has no model and makes no answers of its own; set create_response to false and send the text to speak with response.create")
}

// onCommit handles input_audio_buffer.commit: the audio since the last commit becomes a
// turn, even if no speech was detected in it. With audio_end_ms, an extension of this server, it
// waits until the audio up to there has arrived.
func (c *call) onCommit(ev clientEvent) {
	switch t := &c.turns; {
	case ev.AudioEndMs < 0 || ev.AudioEndMs > msOf(t.pos)+maxAheadMs || len(t.awaited) == maxAwaited:
		c.refuse(ev, invalidf("invalid_value", "audio_end_ms", "audio_end_ms must be at most a minute ahead, of at most %d commits", maxAwaited))
	case ev.AudioEndMs > msOf(t.pos):
		t.awaited = append(t.awaited, ev)
		c.awaitAudio()
	default:
		c.commit(ev)
	}
}

// commit ends the turn. With found, an extension of this server, that is only a turn that turn detection
// has found before audio_end_ms.
func (c *call) commit(ev clientEvent) {
	t := &c.turns
	n := t.pos - t.committed
	if ev.Found && t.endpoint != nil && (t.open == nil || msOf(t.open.start) >= ev.AudioEndMs) {
		n = 0
	}
	if c.take(machine.Event{Kind: machine.Commit, OK: n >= minCommit}, news{pos: t.committed}) == machine.Short {
		c.refuse(ev, invalidf("input_audio_buffer_commit_empty", "", "the input audio buffer holds %d ms; a commit needs at least 100 ms of audio", msOf(n)))
	}
}

// commitAwaited commits what has arrived, or everything.
func (c *call) commitAwaited(everything bool) {
	t := &c.turns
	for len(t.awaited) > 0 && (everything || t.awaited[0].AudioEndMs <= msOf(t.pos)) {
		ev := t.awaited[0]
		t.awaited = t.awaited[1:]
		c.commit(ev)
	}
}

// awaitAudio commits without audio that does not arrive, unless the network is down.
func (c *call) awaitAudio() {
	before := c.turns.pos
	time.AfterFunc(c.scaled(c.srv.stallSlack), func() {
		c.post(func() {
			switch {
			case len(c.turns.awaited) == 0:
			case c.turns.pos > before || c.link.away():
				c.awaitAudio()
			default:
				c.commitAwaited(true)
			}
		})
	})
}

// onStall runs when no audio has arrived for so long that the endpointer would never
// see the silence. It ends the turn, because the caller has stopped sending.
// Exceptions: received audio is still queued, so this side is late; or the network is
// down, and the caller's audio arrives when it recovers.
func (c *call) onStall() {
	late := len(c.inbox) > 0 || c.recognition.full() || c.link.away()
	c.take(machine.Event{Kind: machine.Stalled, OK: !late}, news{pos: c.turns.pos})
}

func (c *call) rearmStall() {
	silence := c.srv.stallSlack
	if td := c.session.Audio.Input.TurnDetection; td != nil {
		silence += td.endpointer().Silence
	}
	limit := c.scaled(silence)
	c.turns.stall.Start(limit*3/4, limit) // audio arrives before that, so it costs no wake-up
}

// keep stores at least the last 30 s of audio.
func (t *turnState) keep(pcm []int16) {
	if len(t.kept)+len(pcm) > 2*keptSamples {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-keptSamples:]...)
	}
	t.kept = append(t.kept, pcm...)
}

// since copies the audio from position start on.
func (t *turnState) since(start int64) []int16 {
	return append([]int16(nil), t.kept[int64(len(t.kept))-(t.pos-start):]...)
}

// transcriptState is the state of one utterance's transcript.
type transcriptState struct {
	id         uint32 // utterance id
	stable     stablePrefix
	start, end int64  // samples
	words      string // the last partial result, and how many samples of the utterance it covers
	stop       *float64
	heard      int64
}

// onTranscript processes a result of the recogniser.
func (c *call) onTranscript(n transcript) {
	state := c.transcripts[n.item]
	if state == nil {
		return
	}
	if n.settled {
		c.tellSettled(n)
		return
	}
	e := machine.Event{Kind: machine.Final, ID: state.id, OK: strings.TrimSpace(n.text) != ""}
	switch {
	case n.err != nil:
		e.Kind = machine.WordsFailed
	case !n.final:
		e.Kind = machine.Partial
		state.words, state.stop, state.heard = n.text, n.stop, n.heard
	}
	c.take(e, news{words: state, transcript: n})
}

// includeLogprobs is the member of session.include that requests probabilities.
const includeLogprobs = "item.input_audio_transcription.logprobs"

// includeSettled is the member of session.include that requests the text so far whenever
// the voice pauses, how far it reaches, and how likely a full stop is there. It is an extension of
// this server: deltas only append, so they hold back the words that the recogniser may still change.
const (
	includeSettled = "item.input_audio_transcription.settled"
	settledType    = "conversation." + includeSettled
)

// includeAnswer is the member of session.include that requests how well a short sound fits the
// expected answers. It is an extension of this server.
const includeAnswer = "item.input_audio_transcription.answer"

// includeJoined is the member of session.include that requests the text of utterances that were
// recognised as one. It is an extension of this server.
const includeJoined = "item.input_audio_transcription.joined"

// tells reports whether the client wants an extension.
func (c *call) tells(include string) bool { return slices.Contains(c.session.Include, include) }

// tellSettled tells what was said of an utterance up to a pause, and how it sounds if that is known.
func (c *call) tellSettled(n transcript) {
	state := c.transcripts[n.item]
	if state == nil || !c.tells(includeSettled) {
		return
	}
	e := settledEvent{Type: settledType, EventID: newID("event"), ItemID: n.item, Transcript: n.text, AudioEndMs: msOf(state.start + n.heard), Stop: n.stop}
	if u := c.turns.open; u != nil && u.item == n.item && u.settled {
		u.told, e.Complete = &n, c.turns.sound.complete
	}
	if c.tells(includeAnswer) {
		e.Answer = n.answer
	}
	c.send(e)
}

func (c *call) sendDelta(item, delta string) {
	c.send(transcriptDeltaEvent{"conversation.item.input_audio_transcription.delta", newID("event"), item, 0, delta})
}
