package engine

import (
	"os"
	"strconv"
	"syscall"
)

// niceness is how much this process gives way to others.
const niceness = 3

// yield lowers the priority of this process, so that whoever listens to the microphone
// comes first. On Linux each thread has its own, which new threads inherit.
func yield() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	const base = 20 // the system call returns 20 less the niceness
	inherited, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, base-inherited+niceness) // it may have ended
		}
	}
}
