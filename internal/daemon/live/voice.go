package live

import (
	"errors"
	"sync"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// slowestSpeech is where the estimate of a segment's length begins, in samples
// per character: nine characters a second, slower than any voice.
const slowestSpeech = audio.SampleRate / 9

// voice is the assistant's: segments go to the service, and their audio from
// there to the player.
type voice struct {
	w      *World
	player *audio.Player

	mu      sync.Mutex
	chars   map[audio.SegmentID]int64 // of the segments that were not heard to their end
	pace    int64                     // the slowest segment so far, in samples per character
	learned bool
}

func newVoice(w *World) *voice {
	v := &voice{w: w, chars: map[audio.SegmentID]int64{}, pace: slowestSpeech}
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
		v.mu.Lock()
		v.chars[seg] = int64(utf8.RuneCountInString(text))
		v.mu.Unlock()
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
		v.learn(e)
		v.w.port.Post(csm.SpeechPlayed{Gen: gen, Seq: seq})
	case audio.Drained:
		v.w.port.Post(csm.SpeechDrained{Gen: gen, Seq: seq})
	case audio.Flushed:
		v.w.port.Post(csm.SpeechFlushed{Gen: gen, Seq: seq, Played: e.Samples, Of: v.length(e)})
	}
}

// learn notes how slowly a segment was spoken that was heard to its end.
func (v *voice) learn(e audio.PlayerEvent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	chars := v.chars[e.Seg]
	delete(v.chars, e.Seg)
	if chars < 8 { // too short to tell a pace by
		return
	}
	if pace := (e.Of + chars - 1) / chars; !v.learned || pace > v.pace {
		v.pace, v.learned = pace, true
	}
}

// length is how long the segment is that a flush cut, in samples. While its end
// has not arrived, it is taken to be as slow as the slowest one so far, so that
// what counts as heard is rounded down.
func (v *voice) length(e audio.PlayerEvent) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	chars := v.chars[e.Seg]
	for seg := range v.chars {
		if seg.Gen <= e.Seg.Gen {
			delete(v.chars, seg)
		}
	}
	if e.Of > 0 || chars == 0 {
		return e.Of
	}
	return max(chars*v.pace, e.Samples)
}

func (v *voice) shut() error { return v.player.Close() }
