package daemon

import "github.com/agentvoice/agentvoice-daemon/protocol"

// Watchers are local clients that follow the daemon's notifications and cannot change
// anything.
type Watchers interface {
	// Open starts serving. It uses only the reading methods of d.
	Open(d *Daemon)
	// Configure applies changed settings: whether watchers are allowed, and whether
	// they receive words.
	Configure(s protocol.Settings)
	// Publish forwards a notification. It does not block, and its cost does not depend
	// on the number of watchers. The caller must not change params afterwards.
	Publish(method string, params any)
	// Close disconnects the watchers after all that was published has been sent.
	Close() error
}
