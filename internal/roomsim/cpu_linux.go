package roomsim

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time that this thread has used, 0 where it cannot be told.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
