//go:build unix

package main

import (
	"os"
	"syscall"
)

// stopSignals shut a command down cleanly.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
