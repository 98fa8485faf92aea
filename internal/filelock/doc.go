// Package filelock locks a file of this user for one process, with a lock of the
// operating system: it ends with the process, so a crash leaves nothing to clean up.
//
//	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
//	if ok, err := filelock.Try(f); err == nil && !ok {
//		// another process, or another handle of this one, has it
//	}
//	f.Close() // unlocks
package filelock
