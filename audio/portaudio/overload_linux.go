package portaudio

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// overloaded reports whether far more threads are ready to run than the machine has
// processors. A sound server that does not answer then may only be waiting for one,
// even if this process runs on time.
func overloaded() bool {
	b, err := os.ReadFile("/proc/loadavg")
	return err == nil && runnable(string(b)) > 2*runtime.NumCPU()
}

// runnable returns the number of threads that are ready to run, from /proc/loadavg, or 0.
func runnable(loadavg string) (n int) {
	if fields := strings.Fields(loadavg); len(fields) > 3 {
		ready, _, _ := strings.Cut(fields[3], "/")
		n, _ = strconv.Atoi(ready) // 0 for another format
	}
	return n
}
