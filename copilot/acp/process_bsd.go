//go:build unix && !linux

package acp

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
