//go:build !darwin && !windows

package assets

import (
	"os"
	"path/filepath"
)

// The names of the libraries.
const (
	runtimeName       = "libonnxruntime.so.1.32.0"
	sherpaRuntimeName = "libonnxruntime.so"
	sherpaName        = "libsherpa-onnx-c-api.so"
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
