package live

import (
	"errors"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// voice is the assistant's: segments go to the service, and their audio from
// there to the player.
type voice struct {
	w      *World
	player *audio.Player
}

func newVoice(w *World) *voice {
	v := &voice{w: w}
	v.player = audio.NewPlayer(audio.PlayerConfig{}, v.played)
	return v
}

// speak has a segment synthesised.
func (v *voice) speak(e csm.Speak) {
	seg := audio.SegmentID{Gen: e.Gen, Seq: e.Segment.Seq}
	c := v.w.link.live.Load()
	text := v.w.port.Words(e.Segment)
	switch {
	case c == nil:
		v.failed(seg, string(csm.CodeConnectionLost))
	case text == "":
		v.failed(seg, string(csm.CodeSpeechFailed))
	default:
		c.client.Speak(realtime.Segment{ID: seg, Turn: e.Turn, Text: text})
	}
}

// flush silences every generation before gen: here at once, then at the service.
func (v *voice) flush(gen uint32) {
	v.player.Flush(gen)
	if c := v.w.link.live.Load(); c != nil {
		c.client.CancelSpeech(gen - 1)
	}
}

// audio takes what was decoded. What does not fit, or is not wanted any more, is
// dropped.
func (v *voice) audio(seg audio.SegmentID, pcm []int16) {
	if err := v.player.Write(seg, pcm); errors.Is(err, audio.ErrFull) {
		v.w.cfg.Log.Warn().Stringer("segment", seg).Msg("more speech than the player holds; dropped")
	}
}

func (v *voice) ended(seg audio.SegmentID) {
	if err := v.player.EndSegment(seg); err != nil {
		v.w.cfg.Log.Debug().Stringer("segment", seg).Err(err).Msg("the end of a segment came late")
	}
}

func (v *voice) failed(seg audio.SegmentID, code string) {
	known := csm.CodeSpeechFailed
	if csm.Code(code) == csm.CodeSpeechMismatch {
		known = csm.CodeSpeechMismatch
	}
	v.w.cfg.Log.Warn().Stringer("segment", seg).Str("reason", code).Msg("a segment cannot be spoken")
	v.w.port.Post(csm.SpeechFailed{Gen: seg.Gen, Seq: seg.Seq, Code: known})
}

// played turns what the player says into events. It runs on the player's
// goroutine.
func (v *voice) played(e audio.PlayerEvent) {
	gen, seq := e.Seg.Gen, e.Seg.Seq
	switch e.Kind {
	case audio.Buffered:
		v.w.port.Post(csm.SpeechBuffered{Gen: gen, Seq: seq})
	case audio.SegmentPlayed:
		v.w.port.Post(csm.SpeechPlayed{Gen: gen, Seq: seq})
	case audio.Drained:
		v.w.port.Post(csm.SpeechDrained{Gen: gen, Seq: seq})
	case audio.Flushed:
		v.w.port.Post(csm.SpeechFlushed{Gen: gen, Seq: seq, Played: e.Samples, Of: e.Of})
	}
}

func (v *voice) shut() error { return v.player.Close() }
