//go:build unix

package main

import (
	"os"
	"syscall"
)

// stopSignals end a command in order.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
