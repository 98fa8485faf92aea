package live

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// slowestSpeech is where the estimate of a segment's length begins, in samples
// per character at rate 1: nine characters a second, slower than any voice.
const slowestSpeech = audio.SampleRate / 9

// cursorFrames is how many rendered frames a cursor stands for: 100 ms.
const cursorFrames = 10

// voice is the assistant's: segments go to the service, and their audio from
// there to the player.
type voice struct {
	w      *World
	player *audio.Player

	frames   int // rendered since the last cursor; of the sink's goroutine
	rate     rate
	warned   atomic.Bool // the user was told that the service paraphrases
	replaced atomic.Bool // the user was told that another engine speaks
	// underruns counts the holes in answers that came too late.
	underruns atomic.Int64
	// paraphrased is the call whose session did, until another voice reads.
	paraphrased atomic.Pointer[call]
	due         chan struct{} // holds one: a cursor is to be posted
	quit        chan struct{}
	stopped     chan struct{}

	mu      sync.Mutex
	pieces  map[audio.SegmentID]*piece // that were not heard to their end
	pace    float64                    // the slowest segment so far at rate 1, in samples per character
	learned bool
}

// piece is a segment on its way to the user's ear.
type piece struct {
	chars   int64
	rate    float64
	said    realtime.Segment
	written int64 // samples that the player took
	ended   bool  // they are all
}

func newVoice(w *World) *voice {
	v := &voice{
		w: w, pieces: map[audio.SegmentID]*piece{}, pace: slowestSpeech,
		due: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	v.player = audio.NewPlayer(audio.PlayerConfig{}, v.played)
	go v.follow()
	return v
}

// rendered counts a frame that the sink took. It runs on the sink's goroutine,
// takes no lock and never waits: a cursor that comes too fast is left out.
func (v *voice) rendered() {
	if v.frames++; v.frames < cursorFrames {
		return
	}
	v.frames = 0
	select {
	case v.due <- struct{}{}:
	default:
	}
}

// follow posts where playback is, whenever that has changed.
func (v *voice) follow() {
	defer close(v.stopped)
	for last := (csm.SpeechCursor{}); ; {
		select {
		case <-v.quit:
			return
		case <-v.due:
		}
		if now := v.cursor(); now.Seq != 0 && now != last {
			last = now
			v.w.port.Post(now)
		}
	}
}

// cursor is where playback is, and how much more there is to be heard.
func (v *voice) cursor() csm.SpeechCursor {
	seg, played := v.player.Cursor()
	now := csm.SpeechCursor{Gen: seg.Gen, Seq: seg.Seq, Played: played}
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[seg]
	if p == nil { // heard to its end, which was said
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
		v.readAloud(c)
		slowest, fastest := c.voice.Speeds()
		rate := v.rate.of(v.w, slowest, fastest)
		said := realtime.Segment{ID: seg, Turn: e.Turn, Text: text, Speed: rate}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.pieces[seg] = &piece{chars: int64(utf8.RuneCountInString(text)), rate: rate, said: said}
		c.voice.Speak(said)
	}
}

// readAloud has the own voice of a call read, where the session paraphrased: as soon as
// nothing of the session is left to be heard.
func (v *voice) readAloud(c *call) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.pieces) == 0 && v.paraphrased.CompareAndSwap(c, nil) {
		c.voice.use(true)
	}
}

// takeOver has the session speak a segment that the own voice of a call failed at, and
// those behind it, and tells the user. It says no where something of the segment was
// heard, which would be heard twice.
func (v *voice) takeOver(c *call, failed audio.SegmentID, code string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.pieces[failed]; p != nil && p.written > 0 || !c.voice.use(false) {
		return false
	}
	v.w.cfg.Log.Warn().Str("reason", code).Msg("the voice failed; the session speaks from now on")
	v.w.port.Warn(protocol.CodeVoiceReplaced, v.w.because(&realtime.Error{Code: code}))
	c.voice.own.CancelSpeech(failed.Gen) // what waits behind it is spoken here, too
	slowest, fastest := c.voice.Speeds()
	rest := slices.SortedFunc(maps.Keys(v.pieces), func(a, b audio.SegmentID) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, seg := range rest {
		if seg.Gen != failed.Gen || seg.Seq < failed.Seq {
			continue
		}
		p := v.pieces[seg]
		p.rate = min(max(p.rate, slowest), fastest)
		p.said.Speed = p.rate
		c.voice.Speak(p.said)
	}
	return true
}

// flush silences every generation before gen: here at once, then at the service.
func (v *voice) flush(gen uint32) {
	v.player.Flush(gen)
	if c := v.w.link.live.Load(); c != nil {
		c.voice.CancelSpeech(gen - 1)
	}
}

// audio takes what was decoded. What does not fit, or is not wanted any more, is
// dropped.
func (v *voice) audio(seg audio.SegmentID, pcm []int16) {
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

func (v *voice) ended(seg audio.SegmentID) {
	if err := v.player.EndSegment(seg); err != nil {
		v.w.cfg.Log.Debug().Stringer("segment", seg).Err(err).Msg("the end of a segment came late")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.pieces[seg]; p != nil {
		p.ended = true
	}
}

func (v *voice) failed(seg audio.SegmentID, code string) {
	v.w.cfg.Log.Warn().Stringer("segment", seg).Str("reason", code).Msg("a segment cannot be spoken")
	v.w.port.Post(csm.SpeechFailed{Gen: seg.Gen, Seq: seg.Seq, Code: csm.CodeSpeechFailed})
}

// mismatched reports a segment that the service spoke in other words than those
// of the text, and tells the user once a conversation. From then on a voice that reads
// word for word speaks, where there is one.
func (v *voice) mismatched(c *call, seg audio.SegmentID) {
	v.paraphrased.Store(c)
	v.w.cfg.Log.Warn().Stringer("segment", seg).Msg("the service did not read the text as it is written")
	if v.warned.CompareAndSwap(false, true) {
		v.w.port.Warn(protocol.CodeSpeechMismatch, "")
	}
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
	case audio.Paused: // from here it continues, or this is what was heard of it
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

// output reports where the player's output fell silent, or sounds again. A frame
// is in the output from when it is rendered.
func (v *voice) output(e audio.PlayerEvent) {
	ago := audio.Duration(v.player.Rendered() - audio.FrameSamples - e.At)
	v.w.port.Output(daemon.Output{Silent: e.Kind == audio.Silenced, Pos: e.At, Ago: ago})
}

// learn notes how slowly a segment was spoken that was heard to its end.
func (v *voice) learn(e audio.PlayerEvent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[e.Seg]
	delete(v.pieces, e.Seg)
	if p == nil || p.chars < 8 { // too short to tell a pace by
		return
	}
	if pace := float64(e.Of) / float64(p.chars) * p.rate; !v.learned || pace > v.pace {
		v.pace, v.learned = pace, true
	}
}

// length is how long the segment is that a pause or a flush cut, in samples.
// While its end has not arrived, it is taken to be as slow as the slowest one so
// far, so that what counts as heard is rounded down.
func (v *voice) length(e audio.PlayerEvent) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pieces[e.Seg]
	if e.Of > 0 || p == nil {
		return e.Of
	}
	return max(int64(math.Ceil(float64(p.chars)*v.pace/p.rate)), e.Samples)
}

// forget drops what was flushed with generation gen.
func (v *voice) forget(gen uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.pieces, func(seg audio.SegmentID, _ *piece) bool { return seg.Gen <= gen })
}

func (v *voice) shut() error {
	close(v.quit)
	<-v.stopped
	return v.player.Close()
}
