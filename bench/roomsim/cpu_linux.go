package roomsim

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns this thread's CPU time, or 0 if unavailable.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
