//go:build !darwin && !windows

package assets

// The library as npm has it, and how npm names the system.
const (
	runtimeName = "libonnxruntime.so"
	npmSystem   = "linux"
)
