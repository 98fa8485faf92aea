// Package rpc serves a daemon to an editor: JSON-RPC over a pair of byte streams,
// as the protocol (section 2) has it.
//
// # Model
//
// Serve owns one connection and the daemon behind it, which is made when the
// client sent initialize. handlers is the table of what a client may send; there
// is one file a feature.
//
//	client -> jsonrpc.Stream -> Handle -> Daemon.Call, Post -> the loop
//	client <- outbox <- answers and notifications, in the order of the steps
//
// # Order
//
// Messages are handled on the reader's goroutine, one after another. Handlers
// never wait: what takes time answers from a goroutine of its own. Everything
// that is sent passes through one outbox, which never holds up who sends: a
// client that does not read is spared what it can do without, and gets a new
// snapshot (resync) when it has caught up.
//
// With a Stage, which drives a daemon on virtual time, everything happens on the
// reader's goroutine: the stage settles before each message is read, so that the
// same messages always meet the same state.
//
// # End
//
// Serve ends when the input ends, when exit comes, when the process that is
// watched is gone, or when its context is done, each within two seconds, and
// leaves no goroutine and no open resource.
package rpc
