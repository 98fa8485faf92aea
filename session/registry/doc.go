// Package registry records sessions in a SQLite file that all daemons of a user
// share.
//
// # Model
//
// A session is a row of metadata: its provider, its state, and times. No word of a
// conversation is ever written, and there is no column that could hold one.
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
//   - The guard map of package session holds for every write: Move checks it, and a
//     trigger of the database refuses what any other statement would write.
//   - A session that is not inactive belongs to a daemon that runs. Each daemon holds a
//     lock of the operating system, which ends with its process however that ends;
//     Open resets the sessions of daemons without one, and Stale says which.
//   - A file that fails SQLite's check is set aside under another name, never deleted,
//     and a new one is begun.
//
// # Concurrency
//
// Daemons share the file in WAL mode, each write is one immediate transaction, and a
// daemon waits up to BusyTimeout for another one. Methods are safe for concurrent use
// and block for the disk: nothing that must not wait calls them.
package registry
