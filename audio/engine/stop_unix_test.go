//go:build unix

package engine_test

import (
	"os"
	"syscall"
)

// stop makes a process hang.
func stop(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// resume lets it go on.
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
