package procgroup

import (
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Group is a job object. Its processes are terminated when its last handle closes.
type Group struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	job windows.Handle // 0 if it could not be created; then only the command's own process is terminated
}

func newGroup(cmd *exec.Cmd) *Group {
	g := &Group{cmd: cmd}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

// started assigns the command to the job. Its child processes inherit the job.
func (g *Group) started() {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return
	}
	_ = windows.AssignProcessToJobObject(g.job, h)
	_ = windows.CloseHandle(h)
}

// Ask is a no-op: Windows cannot ask a process without a console window to exit. Closing
// its input is the signal.
func (*Group) Ask() {}

// Kill ends every process of the job.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
	_ = g.cmd.Process.Kill()
}

func (g *Group) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}
