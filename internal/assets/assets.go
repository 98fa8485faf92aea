// Package assets finds the files that a build does not hold: the Silero voice
// detector, the ONNX Runtime library that runs it, and the library and the models of
// the speech engine that a user may install.
//
// A file is looked for in the folder that the environment variable
// AGENTVOICE_ASSETS names, in the folder assets beside the executable, and in
// agentvoice/assets in the user's cache folder, where scripts/setup.sh puts
// it. The first hit counts. Whether a file is the pinned one was checked with
// its SHA-256 when it was installed; here it is only found.
package assets

import (
	"fmt"
	"os"
	"path/filepath"
)

// Env names the environment variable for a folder of one's own.
const Env = "AGENTVOICE_ASSETS"

// sileroName is the name of the model, the same on every system; the name of
// the library, runtimeName, is not.
const sileroName = "silero_vad_v6.onnx"

// Silero is the path of the voice detector's model. The error says what is
// missing and what brings it; it names no folder of the user.
func Silero() (string, error) {
	return find(sileroName, "voice detector model", "npm package @ricky0123/vad-web")
}

// ONNXRuntime is the path of the ONNX Runtime library. The error says what is
// missing and what brings it; it names no folder of the user.
func ONNXRuntime() (string, error) {
	return find(runtimeName, "ONNX Runtime library", "PyPI package onnxruntime")
}

// Recogniser is the folder of the default recogniser. The program does without it.
func Recogniser() (string, error) { return findModel("moonshine-tiny-en", "recogniser") }

// Voice is the folder of the default voice. The program does without it.
func Voice() (string, error) { return findModel("kokoro-82m-int8", "voice") }

func findModel(name, what string) (string, error) {
	for _, dir := range dirs() {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(filepath.Join(path, "model.json")); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("the %s %s is missing; install it with `agentvoice-daemon models install %s`", what, name, name)
}

// Sherpa is the path of the library of sherpa-onnx, which recognises and speaks with
// models that the user installs. The program does without it.
func Sherpa() (string, error) {
	return findEngine(sherpaName)
}

// SherpaRuntime is the path of the ONNX Runtime library that sherpa-onnx is built for.
func SherpaRuntime() (string, error) { return findEngine(sherpaRuntimeName) }

func findEngine(name string) (string, error) {
	path, err := find(name, "speech engine library", "")
	if err != nil {
		return "", fmt.Errorf("speech engine library %s is missing; install it with `agentvoice-daemon models install engine`", name)
	}
	return path, nil
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

func find(name, what, pkg string) (string, error) {
	for _, dir := range dirs() {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s %s is missing; install it with `make deps`, or take it from the %s and put it in the folder that %s names",
		what, name, pkg, Env)
}

// dirs lists the folders to look in, the first choice first. One that the
// system cannot name is left out.
func dirs() []string {
	var list []string
	if dir := os.Getenv(Env); dir != "" {
		list = append(list, dir)
	}
	if exe, err := os.Executable(); err == nil {
		// The folder is beside the program, not beside a link to it.
		if target, err := filepath.EvalSymlinks(exe); err == nil {
			exe = target
		}
		list = append(list, filepath.Join(filepath.Dir(exe), "assets"))
	}
	if dir, err := cacheFolder(); err == nil {
		list = append(list, dir)
	}
	return list
}
