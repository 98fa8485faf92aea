//go:build !linux

package portaudio

// overloaded is false, because there is no sound server outside of Linux.
func overloaded() bool { return false }
