// Package miclock lets one program of the user hold the microphone at a time. Two
// windows that both listened would answer each other's user, and send each utterance
// to Copilot twice.
//
// # Model
//
// The lease is an operating-system lock on a file in the user's runtime folder, so a
// holder that crashes or is killed leaves nothing to clean up: without the lock the
// file means nothing. The file says who holds it. The holder also listens on a
// socket; a program that takes the lease over sends a request there, and waits until
// the connection is closed.
//
//	l, err := lease.Acquire(ctx, lease.Holder{Name: "VS Code: my-project"})
//	var held *lease.HeldError
//	if errors.As(err, &held) { // tell the user who has it; on request:
//		l, err = lease.TakeOver(ctx, who)
//	}
//	select {
//	case <-l.Lost(): // stop listening, then
//	}
//	l.Release()
//
// # Invariants
//
// At most one process holds the lease. It loses the lease only by TakeOver, its own
// Release, or its exit. After Lost the holder has Grace to call Release; then the
// lease is released for it, so that the new holder does not wait for a program that
// is blocked. A suspended process keeps the lock, and TakeOver fails after Limit: no
// system lets one process release another's lock.
//
// The folder has mode 0700, its files 0600. They contain the process's name, its ID
// and the start time; nothing about a conversation.
package miclock
