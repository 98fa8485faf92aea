//go:build !linux

package roomsim

import "time"

// cpuTime is the time that this thread has used, 0 where it cannot be told.
func cpuTime() time.Duration { return 0 }
