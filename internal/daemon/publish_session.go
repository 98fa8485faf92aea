package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
)

// Expirer is a World whose service ends a session after some time.
type Expirer interface {
	// SessionExpires is when that is for the live session; false when that is not
	// known. It does not block.
	SessionExpires() (at time.Time, known bool)
}

// sessionLife is how long the live session lasts, and whether it is being
// replaced.
type sessionLife struct {
	expires  int64 // Unix time, 0 where it is not known
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
	if e, ok := d.world.(Expirer); ok {
		if at, known := e.SessionExpires(); known {
			l.expires = at.Unix()
		}
	}
	return l
}
