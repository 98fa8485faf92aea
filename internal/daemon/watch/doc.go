// Package watch has other programs of the same user follow a running daemon, read-only,
// over a local socket.
//
// # Model
//
// A daemon listens on a Unix domain socket (on Windows too, from Windows 10 on) and
// writes a card beside it: who it is, and the token that a watcher must show. The wire is
// the editor's, without what changes anything:
//
//	watcher -> initialize {watch: {token, words, levels}}
//	watcher <- the snapshot, as the answer; then each notification, in order
//
// Without words, a notification has states, ids, codes and figures only; redact says
// what that is. Words take both the watcher's request and the user's setting
// agentvoice.privacy.watch.
//
//	d, err := watch.List(folder)                 // the daemons that run
//	c, err := watch.Dial(ctx, folder, d[0], protocol.WatchParams{})
//	for m, err := c.Next(); err == nil; m, err = c.Next() { ... }
//
// # Slow watchers
//
// The conversation hands a notification to one queue, whatever the number of watchers.
// One goroutine encodes it once and shares the bytes; each watcher has a bounded queue and
// a writer. A watcher whose queue is full is spared what follows. When it has read the
// rest it gets a resync with the number of messages that it was spared and a new
// snapshot, from which it continues.
//
// # Invariants
//
// The folder has mode 0700, its files 0600. A card and a socket whose daemon crashed are
// removed by the next daemon and by whoever lists. A daemon that ends in order removes its
// card, sends a notification with the code shuttingDown and hangs up; one that may not be
// followed any more does so with watchRefused. So a watcher can tell a crash.
package watch
