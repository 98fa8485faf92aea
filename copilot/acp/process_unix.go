//go:build unix

package acp

import (
	"os/exec"
	"syscall"
)

// group is a process group.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) group {
	cmd.SysProcAttr = attributes()
	cmd.SysProcAttr.Setpgid = true
	return group{cmd}
}

func (group) started() {}
func (group) close()   {}

func (g group) ask()  { g.signal(syscall.SIGTERM) }
func (g group) kill() { g.signal(syscall.SIGKILL) }

// signal signals every process of the group, even after its leader has ended.
func (g group) signal(s syscall.Signal) { _ = syscall.Kill(-g.cmd.Process.Pid, s) }
