//go:build unix

package sherpa

import (
	"os"
	"syscall"
)

// stop has a process hang.
func stop(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
