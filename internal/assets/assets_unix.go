//go:build !darwin && !windows

package assets

import (
	"os"
	"path/filepath"
)

// The libraries as npm has them, and how npm names the system.
const (
	runtimeName = "libonnxruntime.so"
	sherpaName  = "libsherpa-onnx-c-api.so"
	npmSystem   = "linux"
)

// dataDir is where the data of the user's programs is (XDG Base Directory
// Specification).
func dataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}
