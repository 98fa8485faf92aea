package procgroup

import "syscall"

// attributes makes the command end with this process, even if this process crashes.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
