package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// Recorder keeps the metadata of sessions beyond the life of the process. Its methods
// do not block; only Close waits, for what is written still.
type Recorder interface {
	// Open begins. warn tells the user of something that no conversation needs.
	// stop ends the conversation, which has spent what the user allowed.
	Open(s protocol.Settings, warn func(code protocol.ErrorCode, detail string), stop func())
	// Configure takes settings that changed.
	Configure(s protocol.Settings)
	// Session takes a change of state of a session, in their order.
	Session(p protocol.SessionParams, at time.Time)
	// Used takes what a service was used for, by the session that was told last.
	Used(u usage.Use, at time.Time)
	Close() error
}

// used records what a service was used for.
func (d *Daemon) used(u usage.Use) {
	if d.cfg.Record != nil {
		d.cfg.Record.Used(u, d.wall(d.cfg.Clock.Now()).Time)
	}
}

// answered records what an answer used.
func (d *Daemon) answered(u copilot.Usage) {
	d.used(usage.Use{Provider: u.Provider, Model: u.Model, Tokens: usage.Tokens{TextIn: u.Input, TextCached: u.Cached, TextOut: u.Output}})
}
