//go:build !darwin && !windows

package assets

import (
	"cmp"
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

// systemFolders are the folders of assets that an administrator or a package installs.
func systemFolders() []string {
	list := []string{"/usr/local/lib/agentvoice/assets", "/usr/lib/agentvoice/assets"}
	for _, dir := range filepath.SplitList(cmp.Or(os.Getenv("XDG_DATA_DIRS"), "/usr/local/share:/usr/share")) {
		if filepath.IsAbs(dir) {
			list = append(list, filepath.Join(dir, "agentvoice", "assets"))
		}
	}
	return list
}

// systemSphinx is where the Debian and Ubuntu packages install the models.
const systemSphinx = "/usr/share/pocketsphinx/model"

// The configuration of ALSA, and the environment variable of its library for it.
const alsaPath, alsaEnv = "alsa/alsa.conf", "ALSA_CONFIG_PATH"

// systemALSA is where ALSA's library looks for its configuration.
func systemALSA() []string {
	if dir := os.Getenv("ALSA_CONFIG_DIR"); filepath.IsAbs(dir) {
		return []string{filepath.Join(dir, "alsa.conf")}
	}
	return []string{"/usr/share/alsa/alsa.conf"}
}
