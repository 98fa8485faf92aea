//go:build unix && !linux

package engine

import "syscall"

// yield lowers the priority of this process, so that whoever listens to the microphone
// comes first.
func yield() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 3) } // a system may refuse it
