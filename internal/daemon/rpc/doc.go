// Package rpc serves a daemon to an editor: JSON-RPC over a pair of byte streams, as
// defined by the protocol (section 2).
//
// # Model
//
// Serve owns one connection and the daemon behind it, which is created when the client
// sends initialize. The table handlers lists what a client may send; each feature has
// its own file.
//
//	client -> jsonrpc.Stream -> Handle -> Daemon.Call, Post -> the loop
//	client <- outbox <- answers and notifications, in the order of the steps
//
// # Order
//
// Messages are handled one by one on the reader's goroutine. Handlers never block: slow
// work is answered from a separate goroutine. All output passes through one outbox,
// which never blocks the sender. A client that does not read misses notifications that
// it can do without, and gets a new snapshot (resync) when it has caught up.
//
// With a Stage, which drives a daemon on virtual time, everything happens on the
// reader's goroutine: the stage settles before each message is read, so that the same
// messages always meet the same state.
//
// # End
//
// Serve ends when the input ends, exit arrives, the watched process ends, or its
// context is done, each within two seconds. It leaves no goroutine and no open
// resource.
package rpc
