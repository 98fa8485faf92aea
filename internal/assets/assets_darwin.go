package assets

import "os"

// The libraries as npm has them, and how npm names the system.
const (
	runtimeName = "libonnxruntime.dylib"
	sherpaName  = "libsherpa-onnx-c-api.dylib"
	npmSystem   = "darwin"
)

// dataDir is where the data of the user's programs is.
func dataDir() (string, error) { return os.UserConfigDir() } // Library/Application Support
