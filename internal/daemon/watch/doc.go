// Package watch lets other programs of the same user follow a running daemon,
// read-only, over a local socket.
//
// # Model
//
// A daemon listens on a Unix domain socket (also on Windows, from Windows 10) and
// writes a card next to it, with its identity and the token that a watcher must
// present. The wire is that of the editor, without everything that changes something:
//
//	watcher -> initialize {watch: {token, words, levels}}
//	watcher <- the snapshot, as the answer; then each notification, in order
//
// Without words, a notification has states, ids, codes and figures only; see redact.
// Words require both the watcher's request and the user's setting
// agentvoice.privacy.watch.
//
//	d, err := watch.List(folder)                 // the daemons that run
//	c, err := watch.Dial(ctx, folder, d[0], protocol.WatchParams{})
//	for m, err := c.Next(); err == nil; m, err = c.Next() { ... }
//
// # Slow watchers
//
// The conversation puts a notification into one queue, whatever the number of watchers.
// One goroutine encodes it once and shares the bytes. Each watcher has a bounded queue
// and a writer. While a watcher's queue is full, its further notifications are dropped.
// When it has read the rest, it gets a resync with the number of dropped messages and a
// new snapshot to continue from.
//
// # Invariants
//
// The folder has mode 0700, its files 0600. The next daemon, or any call of List,
// removes the card and socket of a crashed daemon. A daemon that ends cleanly removes
// its card, sends a notification with the code shuttingDown and hangs up. A daemon
// whose user no longer allows watchers does so with watchRefused. A watcher can
// therefore detect a crash.
package watch
