package live

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The gate opens with a possible voice and then sends the preceding gateFrames, which
// exceed a service's padding plus its detector's delay. It closes gateSlack after the
// silence that ends a turn. A packet every gateRefresh keeps the service's position
// close to that of the microphone.
const (
	gateFrames  = 80
	gateSlack   = time.Second
	gateRefresh = 5 * time.Second
	// gatePadding is the longest padding that gateFrames can cover.
	gatePadding = 500 * time.Millisecond
	// longestSilence is the silence that ends a turn at low eagerness if its words are unclear.
	longestSilence = 1400 * time.Millisecond
)

// uplink is the microphone side of a *realtime.Client.
type uplink interface {
	WriteFrame(f *audio.Frame)
	SkipFrame(f *audio.Frame)
	Position() int64
}

// gate decides which captured frames are sent to a service. A service that treats
// unsent audio as silence needs no frames while nobody speaks, and saves the work for
// them. It belongs to the source's goroutine.
type gate struct {
	used bool  // false sends all frames
	hold int64 // captured samples from the last possible voice until it closes

	started   bool
	next      int64 // captured position of the next frame
	closes    int64 // captured position at which the gate closes
	refreshed int64 // captured position of the last sent frame
	ring      [gateFrames]audio.Frame
	first, n  int // withheld frames in ring
}

// newGate returns the gate of a call.
func newGate(set protocol.Settings) *gate {
	row, _ := provider.Of(string(set.SessionWith()))
	return &gate{
		used: row.Session != nil && row.Session.Gaps && set.TurnDetection.PrefixPadding <= gatePadding,
		hold: audio.Samples(max(set.TurnDetection.Silence, longestSilence) + gateSlack),
	}
}

// pass takes the next frame, captured at pos, and sends the frames that are due.
// possible says whether it may contain a voice. It returns the captured position of the
// service's position 0.
func (g *gate) pass(pos int64, f *audio.Frame, possible bool, up uplink) (base int64) {
	if !g.started || pos != g.next {
		g.release(up.SkipFrame)
		g.started, possible = true, true // tells the service the new position
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

// withhold keeps a frame, and skips the oldest kept one if there is no room.
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

// release passes all kept frames to to, oldest first.
func (g *gate) release(to func(*audio.Frame)) {
	for ; g.n > 0; g.n-- {
		to(&g.ring[g.first])
		g.first = (g.first + 1) % gateFrames
	}
}
