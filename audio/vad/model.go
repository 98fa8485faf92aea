//go:build cgo

package vad

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// model is an ONNX Runtime session. It is stateless between windows: each detector
// keeps its state in its own tensors, so any number of them can share it
// concurrently.
type model struct {
	path    string
	session *ort.DynamicAdvancedSession
	users   int
}

// runtime is the process's ONNX Runtime, of which there can be only one, and the models
// that it has loaded.
var runtime struct {
	sync.Mutex
	path   string // of the library
	models map[string]*model
	loads  int // models loaded so far
}

// acquireModel returns the model at modelPath and loads it if no detector uses it yet.
func acquireModel(modelPath, runtimePath string) (*model, error) {
	runtime.Lock()
	defer runtime.Unlock()
	if m := runtime.models[modelPath]; m != nil && runtimePath == runtime.path {
		m.users++
		return m, nil
	}
	if _, err := os.Stat(modelPath); err != nil {
		return nil, fmt.Errorf("cannot read voice detector model %s; install it with `make deps`", filepath.Base(modelPath))
	}
	if err := loadRuntime(runtimePath); err != nil {
		return nil, err
	}
	session, err := newSession(modelPath)
	if err != nil {
		_ = unloadRuntime() // the first error is more useful
		return nil, fmt.Errorf("cannot load voice detector model %s: %s; reinstall it with `make deps`",
			filepath.Base(modelPath), withoutFolder(err, modelPath))
	}
	m := &model{path: modelPath, session: session, users: 1}
	if runtime.models == nil {
		runtime.models = map[string]*model{}
	}
	runtime.models[modelPath] = m
	runtime.loads++
	return m, nil
}

func newSession(modelPath string) (*ort.DynamicAdvancedSession, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }() // the session has its own copy
	// A window takes 0.1 ms, so more threads would only add context switches.
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return nil, err
	}
	return ort.NewDynamicAdvancedSession(modelPath, nil, nil, options)
}

// releaseModel frees a model after its last user, and the library after the last model.
func releaseModel(m *model) error {
	runtime.Lock()
	defer runtime.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	delete(runtime.models, m.path)
	return errors.Join(m.session.Destroy(), unloadRuntime())
}

// loadRuntime loads the library unless it is loaded. The caller holds the lock.
func loadRuntime(path string) error {
	if len(runtime.models) > 0 {
		if path != runtime.path {
			return fmt.Errorf("cannot load ONNX Runtime library %s: another one is in use; close its detectors first", filepath.Base(path))
		}
		return nil
	}
	ort.SetSharedLibraryPath(path)
	// At the default level the runtime logs warnings about the machine.
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("cannot load ONNX Runtime library %s: %s; reinstall it with `make deps`",
			filepath.Base(path), withoutFolder(err, path))
	}
	runtime.path = path
	return nil
}

// unloadRuntime unloads the library, unless a model uses it. The caller holds the lock.
func unloadRuntime() error {
	if len(runtime.models) > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}

// withoutFolder returns err's text with path reduced to its base name, because folders
// can contain the user's name.
func withoutFolder(err error, path string) string {
	return strings.ReplaceAll(err.Error(), path, filepath.Base(path))
}
