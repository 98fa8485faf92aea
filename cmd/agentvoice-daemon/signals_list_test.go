package main

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

// On Windows, SIGTERM is sent when the console closes or the user logs off.
func TestCommandsShutDownOnSignal(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !slices.Contains(stopSignals, s) {
			t.Errorf("%v ends a command at once", s)
		}
	}
}
