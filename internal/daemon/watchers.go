package daemon

import "github.com/agentvoice/agentvoice-daemon/protocol"

// Watchers are local clients that follow what the daemon publishes and change nothing.
type Watchers interface {
	// Open begins. Of d it uses what only reads.
	Open(d *Daemon)
	// Configure takes settings that changed: whether there are watchers at all, and
	// whether they get words.
	Configure(s protocol.Settings)
	// Publish hands a notification on. It does not block, and costs the same however
	// many watchers there are. Nobody changes params afterwards.
	Publish(method string, params any)
	// Close hangs up on them, after what was published.
	Close() error
}
