package live

import (
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// gapLimit is for how long speech is kept without a connection: 10 s without a
	// network, and the dial behind it.
	gapLimit = 15 * time.Second
	// backlogFrames is what is kept of the microphone: 20 s, a gap and what was said
	// before it was noticed.
	backlogFrames = 2000
	// catchUp is how many kept frames a service that takes them at any pace gets for each
	// captured one. Others get one, since a real-time receiver drops what comes faster;
	// the backlog shrinks where nobody speaks.
	catchUp = 8
	// gapPadding is what is sent before a voice: detectors notice it late.
	gapPadding = 500 * time.Millisecond
)

// backlog is the latest audio of the microphone with what the detector found in it, in
// memory only. Frames go through it to the call. When a call is lost, what it did not
// answer goes to the next one, in order and then as fast as that takes it. All but gap
// and oldest belongs to the source's goroutine.
type backlog struct {
	heard [backlogFrames]heard
	first int // of the frames in heard
	n     int
	sent  int // of them; the others are to be sent
	quiet int // frames in a row that were sent and hold no voice

	oldest atomic.Int64        // captured position of the first frame
	gap    atomic.Pointer[gap] // between a call that was lost and the next one
}

// heard is a frame as it is to be sent, and the facts that came with it.
type heard struct {
	pos      int64
	frame    audio.Frame
	possible bool // it may hold a voice
	marks    []vad.Mark
}

// gap is the time without a call.
type gap struct {
	lost  *call
	from  int64     // captured position from which on nothing was answered
	until time.Time // when what was said is given up
	owes  bool      // the user said something that was not answered
}

// push takes the next frame, which may push out the oldest one.
func (b *backlog) push(pos int64, f *audio.Frame, possible bool, marks []vad.Mark) {
	if b.full() {
		b.first, b.n, b.sent = (b.first+1)%backlogFrames, b.n-1, max(b.sent-1, 0)
	}
	h := b.at(b.n)
	h.pos, h.frame, h.possible, h.marks = pos, *f, possible, append(h.marks[:0], marks...)
	b.n++
	b.oldest.Store(b.at(0).pos)
}

func (b *backlog) full() bool { return b.n == backlogFrames }

func (b *backlog) at(i int) *heard { return &b.heard[(b.first+i)%backlogFrames] }

// rewind has everything from a captured position on sent again.
func (b *backlog) rewind(from int64) {
	for b.sent > 0 && b.at(b.sent-1).pos >= from {
		b.sent--
	}
	b.quiet = 0
}

// deliver sends what is to be sent to c, up to limit frames.
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
		for _, m := range h.marks {
			c.hearer.voice(m)
		}
		c.frame(h.pos, &h.frame, h.possible)
	}
}

// skippable says whether the next frame may be left out to catch up: the service has
// heard the end of what was said, and no voice begins soon.
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

// voiced says whether the detector found a voice after a captured position.
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

// wipe overwrites everything that was kept.
func (b *backlog) wipe() {
	clear(b.heard[:])
	b.first, b.n, b.sent, b.quiet = 0, 0, 0, 0
}

// pass takes a processed frame and what was found in it to the call, or keeps both
// while there is none. It runs on the source's goroutine.
func (e *ear) pass(pos int64, f *audio.Frame, possible bool, marks []vad.Mark) {
	b, d := &e.backlog, e.w.devices
	c, g := e.w.link.live.Load(), b.gap.Load()
	if g != nil && b.full() && b.at(0).pos > g.from {
		e.giveUp(g)
		g = nil
	}
	b.push(pos, f, possible, marks)
	switch {
	case d.held.Load(), g != nil && c == g.lost: // it waits
		return
	case c == nil:
		b.sent = b.n
		return
	case g != nil && b.gap.CompareAndSwap(g, nil):
		b.rewind(g.from)
	}
	limit := 1
	if c.gate.used {
		limit = catchUp
	}
	b.deliver(c, limit)
}

// keeps says whether what is captured is kept although the conversation is held: for a
// limited time, and for no other reason than a call that was lost. It runs on the
// source's goroutine.
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

// lostCall begins a gap: what c did not answer is kept for the next call, unless the
// conversation is held. It says whether all of it is kept. unheard is for how long c
// may not have heard the user.
func (e *ear) lostCall(c *call, unheard time.Duration) (kept bool) {
	if e == nil || e.w.devices.held.Load() {
		return false
	}
	from, owes, kept := c.hearer.unanswered(unheard, e.backlog.oldest.Load())
	e.backlog.gap.Store(&gap{lost: c, from: from - audio.Samples(gapPadding), until: time.Now().Add(gapLimit), owes: owes && kept})
	return kept
}

// giveUp ends a gap without a call, and tells the user where something was said.
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

// tellLost says aloud that words were lost, as soon as there is a call again.
func (e *ear) tellLost() {
	if e != nil && e.w.link.live.Load() != nil && e.untold.CompareAndSwap(true, false) {
		e.w.aside.say(e.w.port.Spoken(protocol.CodeUtteranceLost))
	}
}
