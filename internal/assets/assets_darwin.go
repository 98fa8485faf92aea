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

// systemFolders are the folders of assets that an administrator installs.
func systemFolders() []string {
	return []string{"/Library/Application Support/agentvoice/assets"}
}

// There is no system package of PocketSphinx's models, and no ALSA.
const systemSphinx, alsaPath, alsaEnv = "", "", ""

func systemALSA() []string { return nil }
