// Package heap gives memory back to the system.
package heap

import "runtime/debug"

// Return gives what Go and the C library keep of freed memory back to the system. It
// collects garbage, so it is for after something large was freed.
func Return() {
	debug.FreeOSMemory()
	trim()
}
