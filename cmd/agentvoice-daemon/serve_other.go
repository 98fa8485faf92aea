//go:build !unix

package main

// ignoreBrokenPipe does nothing: writing to a closed pipe only returns an error here.
func ignoreBrokenPipe() {}
