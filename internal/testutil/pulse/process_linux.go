package pulse

import (
	"os/exec"
	"syscall"
)

const (
	freezeSignal = syscall.SIGSTOP
	thawSignal   = syscall.SIGCONT
)

func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
