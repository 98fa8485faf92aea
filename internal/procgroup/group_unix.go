//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Group is a command's process group.
type Group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) *Group {
	cmd.SysProcAttr = attributes()
	cmd.SysProcAttr.Setpgid = true
	return &Group{cmd}
}

func (*Group) started() {}
func (*Group) free()    {}

// Ask asks every process of the group to end.
func (g *Group) Ask() { g.signal(syscall.SIGTERM) }

// Kill ends every process of the group, even after its leader has ended.
func (g *Group) Kill() { g.signal(syscall.SIGKILL) }

func (g *Group) signal(s syscall.Signal) { _ = syscall.Kill(-g.cmd.Process.Pid, s) }
