package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// Recorder stores the metadata of sessions beyond the life of the process. Its methods
// do not block, except for Close, which waits for pending writes.
type Recorder interface {
	// Open starts the recorder. warn tells the user about a problem that does not
	// affect the conversation. stop ends the conversation when it has used up the
	// user's budget.
	Open(s protocol.Settings, warn func(code protocol.ErrorCode, detail string), stop func())
	// Configure applies changed settings.
	Configure(s protocol.Settings)
	// Session records a change of state of a session, which costs something if a service or model that it
	// needs is not known to be free. Calls are in order.
	Session(p protocol.SessionParams, costs bool, at time.Time)
	// Used records the use of a service by the session that was reported last.
	Used(u usage.Use, at time.Time)
	// Reserve sets what the time of open sessions is expected to cost until it is recorded.
	Reserve(cost usage.Nano, at time.Time)
	// Spent reports whether a budget was used up when the recorder last compared it.
	Spent() bool
	Close() error
}

// used records the use of a service.
func (d *Daemon) used(u usage.Use) {
	if d.cfg.Record != nil {
		d.cfg.Record.Used(Priced(d.settings(), u), d.wall(d.cfg.Clock.Now()).Time)
	}
}

// answered records the usage of an answer.
func (d *Daemon) answered(u copilot.Usage) {
	d.used(usage.Use{Provider: u.Provider, Model: u.Model, Tokens: usage.Tokens{TextIn: u.Input, TextCached: u.Cached, TextOut: u.Output}})
}
