package assets

import "os"

// The names of the libraries.
const (
	runtimeName       = "libonnxruntime.1.32.0.dylib"
	sherpaRuntimeName = "libonnxruntime.dylib"
	sherpaName        = "libsherpa-onnx-c-api.dylib"
)

// dataDir is where the data of the user's programs is.
func dataDir() (string, error) { return os.UserConfigDir() } // Library/Application Support
