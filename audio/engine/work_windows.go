package engine

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// workOf returns how long all threads of a process have computed.
func workOf(p *os.Process) (work time.Duration, known bool) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.Pid))
	if err != nil {
		return 0, false
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var began, ended, kernel, program windows.Filetime
	if err := windows.GetProcessTimes(handle, &began, &ended, &kernel, &program); err != nil {
		return 0, false
	}
	// These two are durations, in units of 100 ns.
	units := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(units(kernel)+units(program)) * 100, true
}
