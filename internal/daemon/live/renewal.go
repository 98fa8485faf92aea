package live

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Services end a session after a fixed time. Its successor is dialled early enough that
// the longest usual answer ends before the old session does: the core switches over as
// soon as nothing is in flight on the old one.
const (
	maxRenewalMargin = 3 * time.Minute
	// successorTimeout limits the dial of a successor. It is shorter than the core's
	// RenewalTimeout, after which a late successor pauses the conversation, so that a
	// failed dial is retried while the old session still works.
	successorTimeout = 15 * time.Second
)

// renewalMargin returns how long before its end a session with lifetime life is
// replaced.
func renewalMargin(life time.Duration) time.Duration {
	return max(min(maxRenewalMargin, life/4), 0)
}

// renew asks the core for a successor of c before the service ends it, and repeats that
// until there is one. Jitter spreads the dials of daemons that started together.
func (l *link) renew(ctx context.Context, c *call) {
	expires, known := c.client.Expires()
	if !known {
		return
	}
	margin := renewalMargin(time.Until(expires))
	for wait := time.Until(expires) - margin - rand.N(margin/5+1); pause(ctx, wait); wait = margin / 4 {
		if l.wantsSuccessor(c) {
			l.w.port.Post(csm.SessionExpiring{Instance: c.instance})
		}
	}
}

// wantsSuccessor reports whether c is live and has no successor, neither established
// nor being dialled.
func (l *link) wantsSuccessor(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live.Load() == c && l.next == nil && l.dialling <= c.epoch.Load()
}

// lost reports a broken call. If the service ended it because the session reached its
// limit before the successor took over, it is a forced renewal, and the conversation
// pauses until the next call is established. unheard is how long the service may not
// have received the user's audio.
func (l *link) lost(c *call, code string, unheard time.Duration) {
	l.mu.Lock()
	c.lost = true
	live := l.live.Load() == c
	epoch, forced := c.epoch.Load(), code == realtime.CodeSessionExpired && live
	l.forced = l.forced || forced
	l.mu.Unlock()
	kept := live && l.w.devices.ear.Load().lostCall(c, unheard)
	if forced {
		l.w.port.Post(csm.SessionRenewal{Instance: c.instance, Epoch: epoch})
	}
	l.w.port.Post(csm.ConnLost{Epoch: epoch, Code: csm.Code(code), Kept: kept})
}

// renewed ends the pause of a forced renewal.
func (l *link) renewed(instance uint32) {
	l.mu.Lock()
	forced := l.forced
	l.forced = false
	l.mu.Unlock()
	if forced {
		l.w.port.Post(csm.SessionRenewed{Instance: instance})
	}
}

// prerollFrames is how much audio from just before a call is sent to it first: 300 ms.
// A word that starts during the switch between sessions is detected a moment later and
// still heard in full.
const prerollFrames = 30

// preroll holds the most recently sent frames. It belongs to the source's goroutine.
type preroll struct {
	frames [prerollFrames]audio.Frame
	n      int   // consecutive frames
	end    int64 // captured position after the last frame
	of     *call // that they were sent to
}

// push records a frame that was captured at pos and sent to c. A frame that does not
// continue the last one clears the others.
func (p *preroll) push(c *call, pos int64, f *audio.Frame) {
	if pos != p.end {
		p.n = 0
	}
	p.frames[p.n%prerollFrames] = *f
	p.n++
	p.end, p.of = pos+audio.FrameSamples, c
}

// replay passes to send the audio captured right before pos and sent to a call other
// than c, oldest first.
func (p *preroll) replay(c *call, pos int64, send func(*audio.Frame)) {
	if p.of == c || p.of == nil || p.end != pos {
		return
	}
	for i := max(p.n-prerollFrames, 0); i < p.n; i++ {
		send(&p.frames[i%prerollFrames])
	}
}
