// Package registry records sessions in a SQLite file that all daemons of a user
// share.
//
// # Model
//
// A session is a row of metadata: provider, state and times. There is no column for
// conversation content.
//
//	r, err := registry.Open(ctx, registry.Options{Path: path, Daemon: registry.NewID()})
//	id, err := r.Begin(ctx, "openai", now)        // inactive
//	err = r.Move(ctx, id, session.Activating, now) // as the guard map allows
//	list, err := r.Sessions(ctx, 20)
//
// An empty path keeps the record in memory. A reader has no Daemon.
//
// # Invariants
//
//   - Every write respects the guard map of package session: Move checks it, and a
//     database trigger rejects any other statement.
//   - A session that is not inactive belongs to a running daemon. Each daemon holds a
//     file lock, which the operating system releases when the process exits; Open resets
//     the sessions of daemons without one, and Stale lists them.
//   - A file that fails SQLite's check is renamed, never deleted, and replaced by a new
//     one.
//
// # Concurrency
//
// Daemons share the file in WAL mode. Each write is one immediate transaction, and a
// daemon waits up to BusyTimeout for another. Methods are safe for concurrent use and
// block on disk I/O, so latency-sensitive code must not call them.
package registry
