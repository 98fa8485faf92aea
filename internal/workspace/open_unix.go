//go:build unix

package workspace

import "syscall"

// nonBlocking opens a named pipe without waiting for its other end, and a terminal without
// making it this process's own.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
