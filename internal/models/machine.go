package models

import (
	"runtime"
	"slices"

	"github.com/pbnjay/memory"
)

// Class says how much a machine can compute.
type Class string

// The classes of machines, the slowest first.
const (
	Small    Class = "small"    // anything
	Standard Class = "standard" // 4 cores and 8 GB
	Fast     Class = "fast"     // 8 cores and 16 GB
)

var classes = []Class{Small, Standard, Fast}

// atLeast says whether a machine of class c can run what is meant for the other.
func (c Class) atLeast(other Class) bool {
	return slices.Index(classes, c) >= slices.Index(classes, other)
}

// Machine is what counts of a machine.
type Machine struct {
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memoryBytes"` // 0 where the system does not say
}

// ThisMachine is the machine that this runs on.
func ThisMachine() Machine { return Machine{runtime.NumCPU(), memory.TotalMemory()} }

// Class is the class of the machine. Some of its memory is taken by its system, so a
// machine that is sold with 8 GB shows less.
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
