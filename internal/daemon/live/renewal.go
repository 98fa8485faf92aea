package live

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Services end a session after a fixed time. Its successor is dialled so long
// before that the longest usual answer is over when the old session ends: the core
// changes over at the first moment at which nothing is on its way over the old one.
const (
	maxRenewalMargin = 3 * time.Minute
	// successorTimeout ends the dial of a successor. It is shorter than the core's
	// RenewalTimeout, after which a late successor pauses the conversation: a failed
	// dial is retried while the old session still works.
	successorTimeout = 15 * time.Second
)

// renewalMargin is how long before its end a session that lives for life is
// replaced.
func renewalMargin(life time.Duration) time.Duration {
	return max(min(maxRenewalMargin, life/4), 0)
}

// renew asks the core for a successor of c before the service ends it, and again
// for as long as there is none. The jitter spreads the dials of daemons that
// started together.
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

// wantsSuccessor says whether c is live and no successor of it stands or is being
// dialled.
func (l *link) wantsSuccessor(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live.Load() == c && l.next == nil && l.dialling <= c.epoch.Load()
}

// lost reports that a call broke. Where the service forced that, because the
// session reached its limit before the successor took over, it is a renewal for
// which the conversation pauses, until the next call stands. unheard is for how long
// the service may not have heard the user.
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

// prerollFrames is how much of what was captured just before a call is sent to it
// first: 300 ms. A word that begins as one session takes over from another is
// noticed a moment later, and is heard whole.
const prerollFrames = 30

// preroll is the latest frames that were sent, of the source's goroutine.
type preroll struct {
	frames [prerollFrames]audio.Frame
	n      int   // frames in a row
	end    int64 // captured position after the last one
	of     *call // that they were sent to
}

// push notes a frame that was captured at pos and sent to c. A frame that does
// not follow the last one clears the others.
func (p *preroll) push(c *call, pos int64, f *audio.Frame) {
	if pos != p.end {
		p.n = 0
	}
	p.frames[p.n%prerollFrames] = *f
	p.n++
	p.end, p.of = pos+audio.FrameSamples, c
}

// replay calls send with what was captured right before pos and sent to another
// call than c, oldest first.
func (p *preroll) replay(c *call, pos int64, send func(*audio.Frame)) {
	if p.of == c || p.of == nil || p.end != pos {
		return
	}
	for i := max(p.n-prerollFrames, 0); i < p.n; i++ {
		send(&p.frames[i%prerollFrames])
	}
}
