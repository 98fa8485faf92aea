//go:build !unix

package main

import (
	"os"
	"syscall"
)

// resizeSignals is empty: nothing tells that the size of the terminal changed.
var resizeSignals []os.Signal

// stopSignals shut a command down cleanly. On Windows, SIGTERM is sent when the console
// closes, the user logs off or the machine shuts down.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
