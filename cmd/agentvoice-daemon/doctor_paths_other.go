//go:build !linux

package main

// linkedLibraries is nil: only Linux says from where it loaded them.
func linkedLibraries() []finding { return nil }
