//go:build !unix

package main

import (
	"os"
	"syscall"
)

// stopSignals shut a command down cleanly. On Windows, SIGTERM is sent when the console
// closes, the user logs off or the machine shuts down.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
