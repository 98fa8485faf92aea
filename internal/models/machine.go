package models

import (
	"runtime"
	"slices"

	"github.com/pbnjay/memory"
)

// Class is a class of machines by computing power.
type Class string

// The classes, slowest first.
const (
	Small    Class = "small"    // anything
	Standard Class = "standard" // 4 cores and 8 GB
	Fast     Class = "fast"     // 8 cores and 16 GB
)

var classes = []Class{Small, Standard, Fast}

// Needs returns the cores and the memory of the smallest machine of the class, or "" if any will do.
func (c Class) Needs() string {
	return map[Class]string{Standard: "4 cores and 8 GB", Fast: "8 cores and 16 GB"}[c]
}

// atLeast reports whether a machine of class c can run models for the other class.
func (c Class) atLeast(other Class) bool {
	return slices.Index(classes, c) >= slices.Index(classes, other)
}

// Machine describes a machine's resources.
type Machine struct {
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memoryBytes"` // 0 if unknown
}

// ThisMachine returns the current machine.
func ThisMachine() Machine { return Machine{runtime.NumCPU(), memory.TotalMemory()} }

// Class returns the class of the machine. The system reserves some memory, so a
// machine sold with 8 GB reports less.
func (m Machine) Class() Class {
	const gb = 1 << 30
	switch {
	case m.Cores >= 8 && m.Memory >= 15*gb:
		return Fast
	case m.Cores >= 4 && m.Memory >= 7*gb:
		return Standard
	}
	return Small
}
