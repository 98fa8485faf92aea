package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
)

// Caller is a World with a session over a network. Its methods do not block.
type Caller interface {
	// SessionExpires returns when the service ends the live session, if known.
	SessionExpires() (at time.Time, known bool)
	// SessionPath returns the transport of the live session, such as udp, or "" if
	// unknown.
	SessionPath() string
}

// sessionLife is the expiry and transport of the live session, and whether it is being
// replaced.
type sessionLife struct {
	expires  int64 // Unix time, or 0 if unknown
	path     string
	renewing bool
}

func (d *Daemon) sessionLife(st csm.State) (l sessionLife) {
	open, ok := st.Conn.(connection.Open)
	if st.Hold&csm.SuspendRenewal != 0 {
		l.renewing = true
	}
	if !ok {
		return l
	}
	l.renewing = l.renewing || open.Successor != 0
	if c, ok := d.world.(Caller); ok {
		if at, known := c.SessionExpires(); known {
			l.expires = at.Unix()
		}
		l.path = c.SessionPath()
	}
	return l
}
