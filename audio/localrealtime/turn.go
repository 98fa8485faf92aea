package localrealtime

import (
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/endturn"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
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

// turns is the input audio buffer, and where the utterances in it begin and end. Only
// call.run touches it; call.state says what the turn is at.
type turns struct {
	pos       int64 // samples heard since the call began
	committed int64 // end of the last commit or clear
	kept      []int16
	endpoint  *vad.Endpointer // nil when turns are manual
	judge     endturn.Judge   // of pauses, beside endpoint
	base      int64           // position at which endpoint began
	sound     soundOfPause
	open      *utterance  // nil for none
	stall     *time.Timer // runs while an utterance is open that the client was told of
}

// utterance is a turn of the user that is not committed yet.
type utterance struct {
	item  string
	start int64
	// words is what the recogniser says of it; nil where it does not follow.
	words *transcriptState
}

func msOf(samples int64) int64 { return samples * 1000 / listenRate }

// reconfigure applies the session's turn detection from here on.
func (c *call) reconfigure() {
	t := &c.turns
	t.base, t.endpoint, t.sound = t.pos, nil, soundOfPause{}
	if td := c.session.Audio.Input.TurnDetection; td != nil {
		t.endpoint, t.judge = vad.NewEndpointer(td.endpointer()), td.judge()
	}
}

// onWindow takes the next 32 ms of audio, or what is left before a commit.
func (c *call) onWindow(w window) {
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
		t.endpoint.SetSilence(c.judgeOf(t.base + since).Delay(c.wordsUpTo(t.base + since)))
	}
	switch edge, ok := t.endpoint.Push(w.speech); {
	case ok && edge.Kind == vad.SpeechStart:
		c.hearAt(machine.Onset, t.base+edge.Pos)
	case ok && edge.Kind == vad.SpeechEnd:
		c.hearAt(machine.Pause, t.base+edge.Pos)
	case t.open != nil && t.pos-t.open.start >= maxUtterance:
		c.hearAt(machine.TooLong, t.pos)
	default:
		c.hearAt(machine.Heard, t.pos)
	}
}

// hearAt takes what was heard at a position.
func (c *call) hearAt(k machine.Kind, pos int64) { c.take(machine.Event{Kind: k}, news{pos: pos}) }

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
	if u := c.turns.open; u != nil && u.words != nil && u.words.start+u.words.heard >= pos {
		return u.words.words
	}
	return ""
}

// noAnswers tells a session with create_response what it cannot have.
func noAnswers() *protocolError {
	return invalidf("response_generation_unsupported", "session.audio.input.turn_detection.create_response",
		"this server has no model and makes no answers of its own; set create_response to false and send the text to speak with response.create")
}

// onCommit is input_audio_buffer.commit: the audio since the last commit
// becomes a turn, whether or not speech was found in it.
func (c *call) onCommit(ev clientEvent) {
	t := &c.turns
	n := t.pos - t.committed
	if c.take(machine.Event{Kind: machine.Commit, OK: n >= minCommit}, news{pos: t.committed}) == machine.Short {
		c.refuse(ev, invalidf("input_audio_buffer_commit_empty", "", "the input audio buffer holds %d ms; a commit needs at least 100 ms of audio", msOf(n)))
	}
}

// onStall: no audio came for so long that the endpointer would never see the silence. The
// caller has stopped, unless what was heard is waiting, for this side is late, or the
// network is: what the caller says comes when it works again.
func (c *call) onStall() {
	late := len(c.inbox) > 0 || c.recognition.full() || c.link.away()
	c.take(machine.Event{Kind: machine.Stalled, OK: !late}, news{pos: c.turns.pos})
}

func (c *call) rearmStall() {
	silence := stallSlack
	if td := c.session.Audio.Input.TurnDetection; td != nil {
		silence += td.endpointer().Silence
	}
	c.turns.stall.Reset(c.scaled(silence))
}

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
	id         uint32 // of the utterance
	stable     stablePrefix
	start, end int64  // samples
	words      string // the last partial result, of the first samples of the utterance
	heard      int64
}

// onTranscript takes news from the recogniser.
func (c *call) onTranscript(n transcript) {
	state := c.transcripts[n.item]
	if state == nil {
		return
	}
	e := machine.Event{Kind: machine.Final, ID: state.id, OK: strings.TrimSpace(n.text) != ""}
	switch {
	case n.err != nil:
		e.Kind = machine.WordsFailed
	case !n.final:
		e.Kind = machine.Partial
		state.words, state.heard = n.text, n.heard
	}
	c.take(e, news{words: state, transcript: n})
}

// includeLogprobs is the member of session.include that asks for probabilities.
const includeLogprobs = "item.input_audio_transcription.logprobs"

func (c *call) sendDelta(item, delta string) {
	c.send(transcriptDeltaEvent{"conversation.item.input_audio_transcription.delta", newID("event"), item, 0, delta})
}
