//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the peak resident size of a finished process, in bytes.
func peakMemory(s *os.ProcessState) (int64, bool) {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss, true // macOS reports bytes, other systems KiB
	}
	return u.Maxrss * 1024, true
}
