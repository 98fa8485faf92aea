package assets

import "os"

// The libraries as npm has them, and how npm names the system.
const (
	runtimeName = "onnxruntime.dll"
	sherpaName  = "sherpa-onnx-c-api.dll"
	npmSystem   = "win"
)

// dataDir is where the data of the user's programs is that stays on this machine.
func dataDir() (string, error) { return os.UserCacheDir() } // %LocalAppData%
