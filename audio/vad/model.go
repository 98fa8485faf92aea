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

// model is a session of the ONNX Runtime. It keeps nothing between windows, and any
// number of detectors may run it at the same time: what they remember is in tensors
// of their own.
type model struct {
	path    string
	session *ort.DynamicAdvancedSession
	users   int
}

// runtime is the ONNX Runtime of the process, of which there can be only one, with
// the models that it has loaded.
var runtime struct {
	sync.Mutex
	path   string // of the library
	models map[string]*model
	loads  int // models that were loaded so far
}

// acquireModel returns the model of a path, which is loaded where no detector has it
// yet.
func acquireModel(modelPath, runtimePath string) (*model, error) {
	runtime.Lock()
	defer runtime.Unlock()
	if m := runtime.models[modelPath]; m != nil && runtimePath == runtime.path {
		m.users++
		return m, nil
	}
	if _, err := os.Stat(modelPath); err != nil {
		return nil, fmt.Errorf("voice detector model %s cannot be read; install it with `make deps`", filepath.Base(modelPath))
	}
	if err := loadRuntime(runtimePath); err != nil {
		return nil, err
	}
	session, err := newSession(modelPath)
	if err != nil {
		_ = unloadRuntime() // the first failure says more
		return nil, fmt.Errorf("voice detector model %s cannot be loaded: %s; reinstall it with `make deps`",
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
	// A window takes a tenth of a millisecond: more threads only cost switches.
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return nil, err
	}
	return ort.NewDynamicAdvancedSession(modelPath, nil, nil, options)
}

// releaseModel frees a model with its last user, and the library with the last model.
func releaseModel(m *model) error {
	runtime.Lock()
	defer runtime.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	delete(runtime.models, m.path)
	return errors.Join(m.session.Destroy(), unloadRuntime())
}

// loadRuntime loads the library, unless a model has it. It holds the lock.
func loadRuntime(path string) error {
	if len(runtime.models) > 0 {
		if path != runtime.path {
			return fmt.Errorf("ONNX Runtime library %s cannot be loaded: another one is in use; close its detectors first", filepath.Base(path))
		}
		return nil
	}
	ort.SetSharedLibraryPath(path)
	// At the default level the runtime prints its opinions on the machine.
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("ONNX Runtime library %s cannot be loaded: %s; reinstall it with `make deps`",
			filepath.Base(path), withoutFolder(err, path))
	}
	runtime.path = path
	return nil
}

// unloadRuntime unloads the library, unless a model needs it. It holds the lock.
func unloadRuntime() error {
	if len(runtime.models) > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}

// withoutFolder is err's text with path cut to its last element: a folder
// names its user.
func withoutFolder(err error, path string) string {
	return strings.ReplaceAll(err.Error(), path, filepath.Base(path))
}
