//go:build unix && !linux

package procgroup

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
