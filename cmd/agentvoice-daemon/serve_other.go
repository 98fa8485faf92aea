//go:build !unix

package main

// ignoreBrokenPipe does nothing: a write to a closed pipe is an error here.
func ignoreBrokenPipe() {}
