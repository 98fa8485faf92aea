package live

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// gapLimit is how long speech is kept without a connection: 10 s without a network,
	// plus the dial after it.
	gapLimit = 15 * time.Second
	// backlogFrames is the capacity for microphone frames: 20 s, for a gap plus the
	// speech before it was noticed.
	backlogFrames = 2000
	// catchUp is how many kept frames are sent per captured frame to a service that
	// accepts audio at any pace. Other services get one, since a real-time receiver
	// drops audio that arrives faster; their backlog shrinks when nobody speaks.
	catchUp = 8
	// gapPadding is the audio sent before a voice, because detectors notice it late.
	gapPadding = 500 * time.Millisecond
)

// backlog holds the latest microphone audio and the detector's marks, in memory only.
// Frames pass through it to the call. When a call is lost, the audio that it did not
// answer goes to the next one, in order and as fast as that call accepts it. Everything
// except gap and oldest belongs to the source's goroutine.
type backlog struct {
	heard [backlogFrames]heard
	first int // index of the first frame in heard
	n     int
	sent  int // frames already sent; the others are pending
	quiet int // consecutive sent frames without a voice
	calm  int // and without the beginning of one, whoever talks in the background

	oldest atomic.Int64        // captured position of the first frame
	gap    atomic.Pointer[gap] // between a lost call and the next one
}

// heard is a frame to send, with its detector marks.
type heard struct {
	pos      int64
	frame    audio.Frame
	possible bool // it may hold a voice
	begins   bool // it may hold the beginning of the user's, or is part of it
	marks    []vad.Mark
	origin   time.Duration // see captureClock.origin
}

// gap is a period without a call.
type gap struct {
	lost  *call
	from  int64     // captured position from which nothing was answered
	until time.Time // when the kept speech is dropped
	owes  bool      // the user said something that was not answered
	// phrase is the wake phrase before the first call, or nil.
	phrase *wake.Heard
	paused bool // the voice paused after the phrase
}

// The voice may pause between phraseEarly before and phraseLate after the end of the wake phrase,
// as the spotter reports it, to have said nothing but the phrase. The detector has reported such
// a pause phraseJudged after the end.
const (
	phraseEarly  = 150 * time.Millisecond
	phraseLate   = 250 * time.Millisecond
	phraseJudged = 500 * time.Millisecond
)

// endPhrase finds where the wake phrase ends: at the pause of the voice, or else where the
// spotter says. Its audio is not sent: a recogniser writes many things for it, and for what
// follows (docs/design/measurements.md, Wake phrase). daemon.Transcript.Called takes what is left
// of it off the words.
func (g *gap) endPhrase(marks []vad.Mark) {
	for _, m := range marks {
		if late := audio.Duration(m.Pos - g.phrase.To); m.Kind == vad.Paused && late >= -phraseEarly && late <= phraseLate {
			g.from, g.paused = m.Pos, true
		}
	}
}

// waits reports whether what was captured up to pos is kept for later.
func (e *ear) waits(g *gap, c *call, pos int64) bool {
	return c == g.lost || g.phrase != nil && (!e.listens.Load() || pos < g.phrase.To+audio.Samples(phraseJudged))
}

// called begins a gap that keeps what was said from the wake phrase on until the conversation
// listens. In push-to-talk, nothing is heard without the key.
func (e *ear) called(o *overheard) {
	h, said := o.phrase()
	if !said || e.w.port.Settings().TurnDetection.Mode == protocol.TurnPushToTalk {
		return
	}
	e.phrase.Store(&h)
	e.backlog.gap.Store(&gap{from: h.To, until: time.Now().Add(gapLimit), phrase: &h})
}

// listen handles that the conversation listens: what was kept for it is sent, and lost speech is
// reported.
func (e *ear) listen() {
	if e != nil {
		e.listens.Store(true)
		e.tellLost()
	}
}

// push appends a frame and drops the oldest one if the backlog is full.
func (b *backlog) push(pos int64, f *audio.Frame, possible, begins bool, marks []vad.Mark, origin time.Duration) {
	if b.full() {
		b.first, b.n, b.sent = (b.first+1)%backlogFrames, b.n-1, max(b.sent-1, 0)
	}
	h := b.at(b.n)
	h.pos, h.frame, h.possible, h.begins, h.marks, h.origin = pos, *f, possible, begins, append(h.marks[:0], marks...), origin
	b.n++
	b.oldest.Store(b.at(0).pos)
}

func (b *backlog) full() bool { return b.n == backlogFrames }

func (b *backlog) at(i int) *heard { return &b.heard[(b.first+i)%backlogFrames] }

// rewind marks everything from a captured position on as unsent.
func (b *backlog) rewind(from int64) {
	for b.sent > 0 && b.at(b.sent-1).pos >= from {
		b.sent--
	}
	b.quiet, b.calm = 0, 0
}

// skip removes the wake phrase. A voice that goes on after it begins there.
func (b *backlog) skip(g *gap) {
	voice := false
	for ; b.sent < b.n && b.at(b.sent).pos < g.from; b.sent++ {
		h := b.at(b.sent)
		for _, m := range h.marks {
			voice = m.Kind == vad.Onset || m.Kind == vad.Resumed
		}
		h.frame, h.marks = audio.Frame{}, h.marks[:0]
	}
	if voice && !g.paused && b.sent < b.n {
		h := b.at(b.sent)
		h.marks = slices.Insert(h.marks, 0, vad.Mark{Kind: vad.Onset, Pos: h.pos, Decided: h.pos + audio.FrameSamples})
	}
}

// deliver sends up to limit pending frames to c.
func (b *backlog) deliver(c *call, limit int) {
	for ; limit > 0 && b.sent < b.n; limit-- {
		for limit == 1 && b.skippable(c) {
			b.sent++
		}
		h := b.at(b.sent)
		b.sent++
		if b.quiet++; h.possible {
			b.quiet = 0
		}
		if b.calm++; h.begins {
			b.calm = 0
		}
		for _, m := range h.marks {
			c.hearer.voice(m, h.origin+audio.Duration(m.Pos))
		}
		c.frame(h.pos, &h.frame, h.possible)
		c.hearer.delivered(h.pos+audio.FrameSamples, b)
	}
}

// between returns a copy of the whole frames between two captured positions.
func (b *backlog) between(from, to int64) []int16 {
	pcm := make([]int16, 0, max(to-from, 0))
	for i := range b.n {
		if h := b.at(i); h.pos >= from && h.pos+audio.FrameSamples <= to {
			pcm = append(pcm, h.frame[:]...)
		}
	}
	return pcm
}

// skippable reports whether the next frame may be skipped to catch up: the service has
// heard the end of the speech, and no voice starts soon.
func (b *backlog) skippable(c *call) bool {
	near := int(audio.Samples(gapPadding) / audio.FrameSamples)
	if int64(b.quiet)*audio.FrameSamples < c.gate.hold || b.n-b.sent <= near {
		return false
	}
	for i := b.sent; i <= b.sent+near; i++ {
		if h := b.at(i); h.possible || len(h.marks) > 0 {
			return false
		}
	}
	return true
}

// voiced reports whether the detector found a voice after a captured position.
func (b *backlog) voiced(from int64) bool {
	for i := range b.n {
		h := b.at(i)
		for _, m := range h.marks {
			if h.pos >= from && m.Kind == vad.Onset {
				return true
			}
		}
	}
	return false
}

// wipe overwrites everything that is kept.
func (b *backlog) wipe() {
	clear(b.heard[:])
	b.first, b.n, b.sent, b.quiet = 0, 0, 0, 0
}

// pass sends a processed frame and its marks to the call, or keeps them without a call.
// It runs on the source's goroutine.
func (e *ear) pass(pos int64, f *audio.Frame, possible, begins bool, marks []vad.Mark) {
	b, d := &e.backlog, e.w.devices
	c, g := e.w.link.live.Load(), b.gap.Load()
	if g != nil && b.full() && b.at(0).pos > g.from {
		e.giveUp(g)
		g = nil
	}
	b.push(pos, f, possible, begins, marks, e.clock.origin())
	switch {
	case g == nil || g.phrase == nil:
	case d.muted.Load(): // the user does not want to be heard
		b.gap.CompareAndSwap(g, nil)
		b.wipe()
		return
	default:
		g.endPhrase(marks)
	}
	switch {
	case d.held.Load(), g != nil && e.waits(g, c, pos): // keep it for later
		return
	case c == nil:
		b.sent = b.n
		return
	case g != nil && b.gap.CompareAndSwap(g, nil):
		b.rewind(g.from)
		if g.phrase != nil {
			b.skip(g)
		}
	}
	limit := 1
	if c.gate.used {
		limit = catchUp
	}
	b.deliver(c, limit)
}

// keeps reports whether captured audio is kept during a suspension: for a limited time,
// and only if the sole reason is a lost call. It runs on the source's goroutine.
func (e *ear) keeps() bool {
	g := e.backlog.gap.Load()
	if g != nil && (e.w.devices.paused.Load() || time.Now().After(g.until)) {
		e.giveUp(g)
		g = nil
	}
	if g == nil && e.backlog.n > 0 {
		e.backlog.wipe()
	}
	return g != nil
}

// lostCall begins a gap. It keeps what c did not answer for the next call, unless the
// conversation is suspended, and reports whether that is complete. unheard is how long
// c may not have received the user's audio.
func (e *ear) lostCall(c *call, unheard time.Duration) (kept bool) {
	if e == nil || e.w.devices.held.Load() {
		return false
	}
	from, owes, kept := c.hearer.unanswered(unheard, e.backlog.oldest.Load())
	e.backlog.gap.Store(&gap{lost: c, from: from - audio.Samples(gapPadding), until: time.Now().Add(gapLimit), owes: owes && kept})
	return kept
}

// giveUp ends a gap without a call, and tells the user if speech was lost.
func (e *ear) giveUp(g *gap) {
	if !e.backlog.gap.CompareAndSwap(g, nil) {
		return
	}
	if g.owes || e.backlog.voiced(g.from) {
		e.w.port.Warn(protocol.CodeUtteranceLost, "")
		e.untold.Store(true)
	}
	e.w.devices.nap()
}

// tellLost says aloud that speech was lost, once there is a call again.
func (e *ear) tellLost() {
	if e.w.link.live.Load() != nil && e.untold.CompareAndSwap(true, false) {
		e.w.aside.say(e.w.port.Spoken(protocol.CodeUtteranceLost))
	}
}
