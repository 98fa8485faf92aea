//go:build !unix

package main

import (
	"os"
	"syscall"
)

// stopSignals end a command in order. On Windows, SIGTERM is a console that closes, a
// user who logs off, and a machine that shuts down.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
