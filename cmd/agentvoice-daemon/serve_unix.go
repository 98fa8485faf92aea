//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe makes a write to a closed pipe return an error instead of killing the
// process, so that it shuts down cleanly when the editor exits.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
