//go:build !unix

package main

import "os"

// peakMemory is not supported on this system.
func peakMemory(*os.ProcessState) (int64, bool) { return 0, false }
