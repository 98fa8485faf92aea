//go:build unix

package acp

import "syscall"

// runs says whether a process runs; one that ended and was not waited for does not.
func runs(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }
