package assets

import "os"

// The names of the libraries.
const (
	runtimeName       = "onnxruntime-1.32.0.dll"
	sherpaRuntimeName = "onnxruntime.dll"
	sherpaName        = "sherpa-onnx-c-api.dll"
)

// dataDir is where the data of the user's programs is that stays on this machine.
func dataDir() (string, error) { return os.UserCacheDir() } // %LocalAppData%
