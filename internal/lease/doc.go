// Package lease lets one program of this user hold the microphone at a time. Two
// windows that both listen would answer each other's user, and send each word to
// Copilot twice.
//
// # Model
//
// The lease is a lock of the operating system on a file in the user's runtime
// folder, so that a holder that crashes, or is killed, leaves nothing to clean up:
// the file stays and means nothing without its lock. The file says who holds it.
// Beside it the holder listens on a socket; who takes the lease over says so
// there, and waits for the end of that connection.
//
//	l, err := lease.Acquire(ctx, lease.Holder{Name: "VS Code: my-project"})
//	var held *lease.HeldError
//	if errors.As(err, &held) { // tell the user who has it; if they want to:
//		l, err = lease.TakeOver(ctx, who)
//	}
//	select {
//	case <-l.Lost(): // stop listening, then
//	}
//	l.Release()
//
// # Invariants
//
// At most one process holds the lease. Nobody loses it but by TakeOver, its own
// Release or its end. After Lost the holder has Grace to Release; then the lease is
// released for it, so that the other one need not wait for a program that hangs in
// something else. A process that does not run at all keeps the lock, and TakeOver
// fails after Limit: no system lets one process take another one's lock away.
//
// The folder has mode 0700, its files 0600. They hold the name and number of the
// process and since when; nothing of a conversation.
package lease
