package realtime

import (
	"sync/atomic"
	"time"
)

// longestSession exceeds the limit of every service; a later expires_at is in another
// unit or based on another clock.
const longestSession = 48 * time.Hour

// expiry is when the service ends the session. Only the loop writes it after begin.
type expiry struct {
	at    atomic.Int64  // UnixNano by the local clock; 0 if unknown
	ahead time.Duration // lead of the service's clock
}

// begin records when the service accepted the call, how far its clock is ahead of the
// local one, and how long its sessions last (0 if unknown).
func (x *expiry) begin(now time.Time, ahead, limit time.Duration) {
	x.ahead = ahead
	if limit > 0 {
		x.at.Store(now.Add(limit).UnixNano())
	}
}

// announced handles the expires_at of a session. It ignores values that cannot be the
// end of the live session.
func (x *expiry) announced(unix int64, now time.Time) {
	at := time.Unix(unix, 0).Add(-x.ahead)
	if at.After(now) && at.Sub(now) < longestSession {
		x.at.Store(at.UnixNano())
	}
}

// onSession handles the session as reported by the service.
func (l *loop) onSession(e serverEvent, now time.Time) {
	l.expiry.announced(e.Session.ExpiresAt, now)
	if e.Type != "session.updated" {
		return
	}
	if l.updates--; l.updates <= 0 {
		l.settle()
	}
}
