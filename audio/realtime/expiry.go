package realtime

import (
	"sync/atomic"
	"time"
)

// longestSession is beyond any limit of a service; an expires_at later than that
// is in another unit or of another clock.
const longestSession = 48 * time.Hour

// expiry is when the service ends the session. The loop writes it after begin.
type expiry struct {
	at    atomic.Int64  // UnixNano by the local clock; 0 while unknown
	ahead time.Duration // of the service's clock
}

// begin notes when the call was answered, how far the service's clock is ahead
// of the local one, and how long its sessions last; 0 is unknown.
func (x *expiry) begin(now time.Time, ahead, limit time.Duration) {
	x.ahead = ahead
	if limit > 0 {
		x.at.Store(now.Add(limit).UnixNano())
	}
}

// announced takes the expires_at of a session. A value that cannot be the end of
// the live session is ignored.
func (x *expiry) announced(unix int64, now time.Time) {
	at := time.Unix(unix, 0).Add(-x.ahead)
	if at.After(now) && at.Sub(now) < longestSession {
		x.at.Store(at.UnixNano())
	}
}

// onSession takes the session as the service has it.
func (l *loop) onSession(e serverEvent, now time.Time) {
	l.expiry.announced(e.Session.ExpiresAt, now)
	if e.Type != "session.updated" {
		return
	}
	if l.updates--; l.updates <= 0 {
		l.settle()
	}
}
