package main

import "golang.org/x/sys/unix"

// Requests for the attributes of a terminal.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
