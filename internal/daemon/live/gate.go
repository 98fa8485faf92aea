package live

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The gate opens with a possible voice, and what was captured in the gateFrames before
// is sent then: more than a service's padding and the time that its detector needs.
// The gate closes gateSlack after the silence that ends a turn. A packet every
// gateRefresh keeps the service's position close to that of the microphone.
const (
	gateFrames  = 80
	gateSlack   = time.Second
	gateRefresh = 5 * time.Second
	// gatePadding is the longest padding that gateFrames suffice for.
	gatePadding = 500 * time.Millisecond
	// longestSilence ends a turn where the service chooses: low eagerness.
	longestSilence = 1400 * time.Millisecond
)

// uplink is a *realtime.Client, as far as the microphone goes.
type uplink interface {
	WriteFrame(f *audio.Frame)
	SkipFrame(f *audio.Frame)
	Position() int64
}

// gate decides which captured frames a service gets. A service that takes what was not
// sent for silence needs no frames in which nobody speaks, and does no work for them.
// It belongs to the source's goroutine.
type gate struct {
	used bool  // else all frames are sent
	hold int64 // captured samples from the last possible voice to the closing

	started   bool
	next      int64 // captured position of the next frame
	closes    int64 // captured position at which it closes
	refreshed int64 // captured position at which something was sent last
	ring      [gateFrames]audio.Frame
	first, n  int // of the withheld frames in ring
}

// newGate makes the gate of a call.
func newGate(set protocol.Settings) *gate {
	row, _ := provider.Of(string(set.SessionWith()))
	detection := turnDetection(set.TurnDetection)
	return &gate{
		used: row.Session != nil && row.Session.Gaps && detection.PrefixPadding <= gatePadding,
		hold: audio.Samples(max(detection.Silence, longestSilence) + gateSlack),
	}
}

// pass takes the next frame, which was captured at pos, and sends what is to be sent.
// possible says whether it may hold a voice. It returns the captured position of the
// service's position 0.
func (g *gate) pass(pos int64, f *audio.Frame, possible bool, up uplink) (base int64) {
	if !g.started || pos != g.next {
		g.release(up.SkipFrame)
		g.started, possible = true, true // the service is to hear of the new position
	}
	base = pos - up.Position() - int64(g.n)*audio.FrameSamples
	g.next = pos + audio.FrameSamples
	if possible {
		g.closes = g.next + g.hold
	}
	if !g.used || pos < g.closes {
		g.release(up.WriteFrame)
		up.WriteFrame(f)
		g.refreshed = pos
		return base
	}
	g.withhold(pos, f, up)
	return base
}

// withhold keeps a frame, and leaves out the oldest one that is kept when there is no
// room.
func (g *gate) withhold(pos int64, f *audio.Frame, up uplink) {
	if g.n < gateFrames {
		g.ring[(g.first+g.n)%gateFrames] = *f
		g.n++
		return
	}
	oldest := &g.ring[g.first]
	if pos-g.refreshed >= audio.Samples(gateRefresh) {
		g.refreshed = pos
		up.WriteFrame(oldest)
	} else {
		up.SkipFrame(oldest)
	}
	*oldest = *f
	g.first = (g.first + 1) % gateFrames
}

// release gives all frames that are kept to to, oldest first.
func (g *gate) release(to func(*audio.Frame)) {
	for ; g.n > 0; g.n-- {
		to(&g.ring[g.first])
		g.first = (g.first + 1) % gateFrames
	}
}
