package engine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit of the kernel's times, USER_HZ, the same on every architecture of Go.
const tick = time.Second / 100

// workOf returns how long all threads of a process have computed.
func workOf(p *os.Process) (time.Duration, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
	if err != nil {
		return 0, false
	}
	// The name of the program, in parentheses, may contain spaces. After it, field 12 is the
	// time in the program and field 13 the time in the kernel.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, false
	}
	program, err := strconv.ParseInt(string(fields[11]), 10, 64)
	kernel, also := strconv.ParseInt(string(fields[12]), 10, 64)
	if err != nil || also != nil {
		return 0, false
	}
	return time.Duration(program+kernel) * tick, true
}
