//go:build unix

package acp

import "syscall"

// runs reports whether a process is running; zombies do not count.
func runs(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }
