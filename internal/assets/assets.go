// Package assets finds the files that the program does not hold itself: models, the
// libraries that compute them, ALSA's configuration and the licences. table lists them.
//
// A file is looked for in the folder that an environment variable names, beside the
// executable, in agentvoice in the user's data folder, in agentvoice in the user's cache
// folder, where scripts/setup.sh puts it, and in the system's folders. The first one that
// this user can read counts. Whether a file is the pinned one was checked with its SHA-256
// when it was installed; here it is only found.
package assets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Env names the environment variable for a folder of one's own.
const Env = "AGENTVOICE_ASSETS"

// Silero is the path of the voice detector's model. This error and the others below say what is
// missing and what brings it; they name no folder of the user.
func Silero() (string, error) { return find(silero) }

// ONNXRuntime is the path of the ONNX Runtime library.
func ONNXRuntime() (string, error) { return find(onnxRuntime) }

// Recogniser is the folder of the default recogniser. The program does without it.
func Recogniser() (string, error) { return find(recogniser) }

// Voice is the folder of the default voice. The program does without it.
func Voice() (string, error) { return find(voice) }

// Sherpa is the path of the library of sherpa-onnx, which recognises and speaks with
// models that the user installs. The program does without it.
func Sherpa() (string, error) { return find(sherpa) }

// SherpaRuntime is the path of the ONNX Runtime library that sherpa-onnx is built for.
func SherpaRuntime() (string, error) { return find(sherpaRuntime) }

// PocketSphinx is the folder that contains en-us/, the English model of PocketSphinx.
func PocketSphinx() (string, error) { return find(pocketSphinx) }

// ALSA is the configuration that ALSA's library does not find by itself, "" if it finds one or
// there is none.
func ALSA() string {
	path := look(alsa).Path
	if os.Getenv(alsaEnv) != "" || slices.Contains(systemALSA(), path) {
		return ""
	}
	return path
}

// Folder is where the libraries are installed: the folder that Env names, or the one in
// the user's cache folder. It may not exist.
func Folder() (string, error) {
	if dir := os.Getenv(Env); dir != "" {
		return dir, nil
	}
	dir, err := cacheFolder()
	if err != nil {
		return "", fmt.Errorf("the folder for libraries is not known; name one in %s", Env)
	}
	return dir, nil
}

// VoiceSpeed is the file with how fast the default voice is on this machine. It may not exist.
func VoiceSpeed() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "agentvoice", "voice-speed.json"), err
}

func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "agentvoice", "assets"), err
}

// ModelsEnv names the environment variable for a folder of models of one's own.
const ModelsEnv = "AGENTVOICE_MODELS"

// Models is the folder of the models that the user installed: the one that ModelsEnv
// names, or agentvoice/models in the user's data folder. It may not exist.
func Models() (string, error) {
	if dir := os.Getenv(ModelsEnv); dir != "" {
		return dir, nil
	}
	data, err := dataDir()
	if err != nil {
		return "", fmt.Errorf("the folder for models is not known; name one in %s", ModelsEnv)
	}
	return filepath.Join(data, "agentvoice", "models"), nil
}

// RecordEnv names the environment variable for the folder of the record.
const RecordEnv = "AGENTVOICE_RECORD"

// Record is the file with the record of sessions: in the folder that RecordEnv names, or
// in agentvoice/record in the user's data folder. It may not exist.
func Record() (string, error) {
	const name = "sessions.db"
	if dir := os.Getenv(RecordEnv); dir != "" {
		return filepath.Join(dir, name), nil
	}
	data, err := dataDir()
	if err != nil {
		return "", fmt.Errorf("the folder for the record is not known; name one in %s", RecordEnv)
	}
	return filepath.Join(data, "agentvoice", "record", name), nil
}

// Trusted is the file with the folders in which the user lets coding agents work from a terminal:
// agentvoice/trusted.json in the user's data folder. It may not exist.
func Trusted() (string, error) {
	data, err := dataDir()
	if err != nil {
		return "", fmt.Errorf("the folder to remember trusted folders in is not known: %w", err)
	}
	return filepath.Join(data, "agentvoice", "trusted.json"), nil
}

// Runtime is the folder for the locks and the sockets of the user's running daemons:
// agentvoice in the runtime folder (XDG Base Directory Specification), or in the user's
// cache folder. It may not exist.
func Runtime() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "agentvoice"), nil
}

// WatchEnv names the environment variable for the folder of the watchers' sockets.
const WatchEnv = "AGENTVOICE_WATCH"

// Watch is the folder with the sockets on which running daemons are followed: the one
// that WatchEnv names, or watch in Runtime. It may not exist.
func Watch() (string, error) {
	if dir := os.Getenv(WatchEnv); dir != "" {
		return dir, nil
	}
	dir, err := Runtime()
	if err != nil {
		return "", fmt.Errorf("the folder for sockets is not known; name one in %s", WatchEnv)
	}
	return filepath.Join(dir, "watch"), nil
}
