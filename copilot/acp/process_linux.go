package acp

import "syscall"

// attributes makes the agent end with this process, even if this process crashes.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
