// Package filelock locks a file of this user for one process, with a lock of the
// operating system: it ends with the process, so a crash leaves nothing to clean up.
//
//	f, ok, err := filelock.Acquire(path)
//	if err == nil && !ok {
//		// another process, or another handle of this one, has it
//	}
//	filelock.Remove(f) // unlocks
package filelock
