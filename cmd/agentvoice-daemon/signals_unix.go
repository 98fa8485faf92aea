//go:build unix

package main

import (
	"os"
	"syscall"
)

// resizeSignals tell that the size of the terminal changed.
var resizeSignals = []os.Signal{syscall.SIGWINCH}

// stopSignals shut a command down cleanly.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
