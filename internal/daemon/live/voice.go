package live

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// slowestSpeech is the initial estimate of a segment's length, in samples per character
// at rate 1: nine characters a second, slower than any voice.
const slowestSpeech = audio.SampleRate / 9

// cursorFrames is how many frames are rendered per cursor: 100 ms.
const cursorFrames = 10

// assistant is the assistant's voice: segments go to the service, and their audio goes from
// there to the player.
type assistant struct {
	w      *World
	player *audio.Player
	wake   func() // wakes the speaker

	frames   int // rendered since the last cursor; used by rendered only
	rate     rate
	speakers speakers
	warned   atomic.Bool // the user was told that the service paraphrases
	replaced atomic.Bool // the user was told that another engine speaks
	late     atomic.Bool // the engine is too slow, so its fallback speaks
	slow     atomic.Bool // the user was told that the engine is too slow for this machine
	// underruns counts gaps in answers whose audio arrived too late.
	underruns atomic.Int64
	// paraphrased is the call whose session paraphrased, until another voice reads.
	paraphrased atomic.Pointer[call]
	due         chan struct{} // capacity 1; a cursor is due
	quit        chan struct{}
	stopped     chan struct{}

	// proof is held while audio goes to the player, so that it does so in order. It comes before mu.
	proof  sync.Mutex
	behind []unproven

	mu      sync.Mutex
	pieces  map[audio.SegmentID]*piece // not yet heard to the end
	pace    float64                    // slowest segment so far at rate 1, in samples per character
	learned bool
}

// piece is a segment that has not been fully heard.
type piece struct {
	chars   int64
	rate    float64
	answers bool // it is a part of an answer, or asks about a call
	said    realtime.Segment
	written int64 // samples accepted by the player
	ended   bool  // written is final
	again   bool  // another voice says the rest, and some words twice
}

func newVoice(w *World) *assistant {
	v := &assistant{
		w: w, wake: func() {}, pieces: map[audio.SegmentID]*piece{}, pace: slowestSpeech,
		due: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	v.player = audio.NewPlayer(audio.PlayerConfig{}, v.played)
	go v.follow()
	return v
}

// rendered counts a frame that the sink took. It runs where playback.render does, takes no
// lock and never blocks: if cursors are due too fast, one is skipped.
func (v *assistant) rendered() {
	if v.frames++; v.frames < cursorFrames {
		return
	}
	v.frames = 0
	select {
	case v.due <- struct{}{}:
	default:
	}
}

// follow posts the playback position whenever it changed.
func (v *assistant) follow() {
	defer close(v.stopped)
	for last := (csm.SpeechCursor{}); ; {
		select {
		case <-v.quit:
			return
		case <-v.due:
		}
		v.feed()
		if now := v.cursor(); now.Seq != 0 && now != last {
			last = now
			v.w.port.Post(now)
		}
	}
}

// cursor returns the playback position and how much is left to play.
func (v *assistant) cursor() csm.SpeechCursor {
	seg, played := v.player.Cursor()
	now := csm.SpeechCursor{Gen: seg.Gen, Seq: seg.Seq, Played: played}
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[seg]
	if p == nil { // it was heard to the end, which has been reported
		return csm.SpeechCursor{}
	}
	if p.ended {
		now.Of = p.written
	}
	for id, p := range v.pieces {
		if id.Gen == seg.Gen {
			now.Buffered += p.written
		}
	}
	now.Buffered = max(now.Buffered-played, 0)
	return now
}

// speak has a segment synthesised.
func (v *assistant) speak(e csm.Speak) {
	seg := audio.SegmentID{Gen: e.Gen, Seq: e.Segment.Seq}
	c := v.w.link.live.Load()
	text := v.w.port.Words(e.Segment)
	switch {
	case c == nil:
		v.failed(seg, string(csm.CodeConnectionLost))
	case text == "":
		v.failed(seg, string(csm.CodeSpeechFailed))
	default:
		v.readAloud(c)
		slowest, fastest := c.voice.Speeds()
		rate := v.rate.of(v.w, slowest, fastest)
		said := realtime.Segment{ID: seg, Turn: e.Turn, Text: text, Speed: rate}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.pieces[seg] = &piece{chars: int64(utf8.RuneCountInString(text)), rate: rate, said: said, answers: e.Segment.Request != 0 || e.Segment.Ask != 0}
		c.voice.Speak(said)
	}
}

// readAloud switches a call whose session paraphrased to its separate voice, as soon as
// the session's audio has been played.
func (v *assistant) readAloud(c *call) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.pieces) == 0 && v.paraphrased.CompareAndSwap(c, nil) {
		c.voice.read()
	}
}

// say has a call's voice say what is not yet heard of a generation, from a segment on. The caller holds mu.
func (v *assistant) say(c *call, from audio.SegmentID) {
	slowest, fastest := c.voice.Speeds()
	rest := slices.SortedFunc(maps.Keys(v.pieces), func(a, b audio.SegmentID) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, seg := range rest {
		if seg.Gen != from.Gen || seg.Seq < from.Seq {
			continue
		}
		p := v.pieces[seg]
		p.rate = min(max(p.rate, slowest), fastest)
		p.said.Speed = p.rate
		c.voice.Speak(p.said)
	}
}

// takeOver lets the session speak a segment that a call's separate voice failed on, and
// the segments after it, and tells the user. It returns false if part of the segment
// was heard, which would then be repeated.
func (v *assistant) takeOver(c *call, failed audio.SegmentID, code string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.pieces[failed]; p != nil && p.written > 0 || !c.voice.back(failed.Gen) {
		return false
	}
	v.w.cfg.Log.Warn().Str("reason", code).Msg("the voice failed; the session speaks from now on")
	v.w.port.Warn(protocol.CodeVoiceReplaced, v.w.because(&realtime.Error{Code: code}))
	c.voice.own.CancelSpeech(failed.Gen) // the segments queued after it are also spoken here
	v.say(c, failed)
	return true
}

// flush silences every generation before gen: locally at once, then at the service.
func (v *assistant) flush(gen uint32) {
	v.player.Flush(gen)
	v.drop(gen - 1)
	if c := v.w.link.live.Load(); c != nil {
		c.voice.CancelSpeech(gen - 1)
	}
}

// audio takes decoded audio. It drops what does not fit or is no longer wanted.
func (v *assistant) audio(seg audio.SegmentID, pcm []int16) {
	v.wake()
	err := v.player.Write(seg, pcm)
	if errors.Is(err, audio.ErrFull) {
		v.w.cfg.Log.Warn().Stringer("segment", seg).Msg("more speech than the player holds; dropped")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.pieces[seg]; p != nil && err == nil {
		p.written += int64(len(pcm))
	}
}

func (v *assistant) ended(seg audio.SegmentID) {
	if err := v.player.EndSegment(seg); err != nil {
		v.w.cfg.Log.Debug().Stringer("segment", seg).Err(err).Msg("the end of a segment came late")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.pieces[seg]; p != nil {
		p.ended = true
	}
}

func (v *assistant) failed(seg audio.SegmentID, code string) {
	v.w.cfg.Log.Warn().Stringer("segment", seg).Str("reason", code).Msg("a segment cannot be spoken")
	v.w.port.Post(csm.SpeechFailed{Gen: seg.Gen, Seq: seg.Seq, Code: csm.CodeSpeechFailed})
}

// played turns the player's reports into events. It runs on the player's goroutine.
func (v *assistant) played(e audio.PlayerEvent) {
	gen, seq := e.Seg.Gen, e.Seg.Seq
	switch e.Kind {
	case audio.Buffered:
		if ready := (csm.SpeechBuffered{Gen: gen, Seq: seq}); v.answers(e.Seg) {
			v.w.grace.buffered(ready)
		} else {
			v.w.port.Post(ready)
		}
	case audio.SegmentPlayed:
		v.learn(e)
		v.w.port.Post(csm.SpeechPlayed{Gen: gen, Seq: seq})
	case audio.Paused: // playback continues here, or this much was heard
		v.w.port.Post(csm.SpeechCursor{Gen: gen, Seq: seq, Played: e.Samples, Of: v.length(e)})
	case audio.Drained:
		v.w.port.Post(csm.SpeechDrained{Gen: gen, Seq: seq})
	case audio.Underrun:
		v.underruns.Add(1)
	case audio.Sounded, audio.Silenced:
		v.output(e)
	case audio.Flushed:
		v.w.port.Post(csm.SpeechFlushed{Gen: gen, Seq: seq, Played: e.Samples, Of: v.length(e)})
		v.forget(gen)
	}
}

// answers says whether a segment is a part of an answer, or asks about one of its calls. Others, such
// as a notice, follow nothing that the user may still be saying.
func (v *assistant) answers(seg audio.SegmentID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[seg]
	return p != nil && p.answers
}

// output reports where the player's output fell silent or has audio again. A frame is
// in the output from the moment it is rendered.
func (v *assistant) output(e audio.PlayerEvent) {
	ago := time.Duration(float64(time.Since(e.Rendered))*v.w.cfg.Speed) - audio.Duration(e.At%audio.FrameSamples)
	v.w.port.Output(daemon.Output{Silent: e.Kind == audio.Silenced, Pos: e.At, Ago: ago})
}

// learn records the pace of a segment that was heard to the end.
func (v *assistant) learn(e audio.PlayerEvent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[e.Seg]
	delete(v.pieces, e.Seg)
	if p == nil || p.chars < 8 || p.again { // too short to measure a pace, or longer than its text
		return
	}
	if pace := float64(e.Of) / float64(p.chars) * p.rate; !v.learned || pace > v.pace {
		v.pace, v.learned = pace, true
	}
}

// length returns the length, in samples, of a segment that a pause or flush cut. Until
// its end has arrived, it is estimated at the slowest pace so far, so that the heard
// portion is rounded down.
func (v *assistant) length(e audio.PlayerEvent) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[e.Seg]
	if e.Of > 0 || p == nil {
		return e.Of
	}
	return max(int64(math.Ceil(float64(p.chars)*v.pace/p.rate)), e.Samples)
}

// forget drops what was flushed with generation gen.
func (v *assistant) forget(gen uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.pieces, func(seg audio.SegmentID, _ *piece) bool { return seg.Gen <= gen })
}

func (v *assistant) shut() error {
	close(v.quit)
	<-v.stopped
	return v.player.Close()
}
