//go:build linux || darwin

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideTyping stops the terminal from showing typed characters, which would break the status line, until
// the returned function is called. Lines and signals stay as they are.
func hideTyping(in *os.File) (show func()) {
	fd := int(in.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return func() {} // not a terminal
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, setTermios, &quiet) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) } // the terminal is gone
}
