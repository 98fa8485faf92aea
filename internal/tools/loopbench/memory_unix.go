//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is the largest resident size of a finished process, in bytes.
func peakMemory(s *os.ProcessState) (int64, bool) {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss, true // there in bytes, elsewhere in KiB
	}
	return u.Maxrss * 1024, true
}
