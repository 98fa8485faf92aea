//go:build !linux

package main

// memory is not supported on this system.
func (b *bench) memory() (float64, error) { return 0, nil }
