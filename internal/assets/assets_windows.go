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

// systemFolders is empty: every user may create a folder in %ProgramData%, and libraries are
// loaded from here.
func systemFolders() []string { return nil }

// There is no system package of PocketSphinx's models, and no ALSA.
const systemSphinx, alsaPath, alsaEnv = "", "", ""

func systemALSA() []string { return nil }
