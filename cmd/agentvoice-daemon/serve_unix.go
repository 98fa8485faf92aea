//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe has a write to an editor that is gone fail, instead of ending
// the process before everything is closed.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
