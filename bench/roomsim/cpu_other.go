//go:build !linux

package roomsim

import "time"

// cpuTime returns this thread's CPU time, or 0 if unavailable.
func cpuTime() time.Duration { return 0 }
