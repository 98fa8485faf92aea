//go:build !unix

package main

import "os"

// stopSignals end a command in order.
var stopSignals = []os.Signal{os.Interrupt}
