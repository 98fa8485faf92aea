//go:build cgo

package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// library is the process's ONNX Runtime.
var library struct {
	sync.Mutex
	path     string
	sessions int
}

// Session is a loaded model.
type Session struct {
	*ort.DynamicAdvancedSession
	// Inputs and Outputs are the names of the model's tensors, in the order in which Run
	// takes them.
	Inputs, Outputs []string

	closed sync.Once
}

// Open loads the model in the file modelPath, in ONNX or ORT format, with the library at
// runtimePath; a run uses at most this number of threads. Another library than the one in
// use is an error.
func Open(modelPath, runtimePath string, threads int) (*Session, error) {
	library.Lock()
	defer library.Unlock()
	name := filepath.Base(modelPath)
	if _, err := os.Stat(modelPath); err != nil {
		return nil, fmt.Errorf("cannot read the model %s: %w", name, errors.Unwrap(err))
	}
	if err := load(runtimePath); err != nil {
		return nil, err
	}
	s, err := open(modelPath, threads)
	if err != nil {
		_ = unload() // the first error is more useful
		return nil, fmt.Errorf("cannot load the model %s: %s", name, strings.ReplaceAll(err.Error(), modelPath, name))
	}
	library.sessions++
	return s, nil
}

func open(modelPath string, threads int) (*Session, error) {
	in, out, err := tensorsOf(modelPath)
	if err != nil {
		return nil, err
	}
	s := &Session{}
	for _, i := range in {
		s.Inputs = append(s.Inputs, i.Name)
	}
	for _, o := range out {
		s.Outputs = append(s.Outputs, o.Name)
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }() // the session has its own copy
	err = errors.Join(
		options.SetIntraOpNumThreads(threads), options.SetInterOpNumThreads(1),
		// A thread that spins between operations takes the time of whoever listens.
		options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
	)
	if err != nil {
		return nil, err
	}
	s.DynamicAdvancedSession, err = ort.NewDynamicAdvancedSession(modelPath, s.Inputs, s.Outputs, options)
	return s, err
}

// tensorsOf returns the inputs and outputs of a model. It loads the model, but leaves out what
// is only good for computing.
func tensorsOf(modelPath string) (in, out []ort.InputOutputInfo, err error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = options.Destroy() }()
	err = errors.Join(
		options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1),
		options.SetGraphOptimizationLevel(ort.GraphOptimizationLevelDisableAll),
		options.AddSessionConfigEntry("session.disable_prepacking", "1"),
	)
	if err != nil {
		return nil, nil, err
	}
	return ort.GetInputOutputInfoWithOptions(modelPath, options)
}

// Close frees the session, and ONNX Runtime after the last one. It is safe to call twice.
func (s *Session) Close() (err error) {
	s.closed.Do(func() {
		library.Lock()
		defer library.Unlock()
		library.sessions--
		err = errors.Join(s.Destroy(), unload())
	})
	return err
}

// load loads the library unless it is loaded. The caller holds the lock.
func load(path string) error {
	name := filepath.Base(path)
	if library.sessions > 0 {
		if path != library.path {
			return fmt.Errorf("cannot load ONNX Runtime from %s: another one is in use; close its sessions first", name)
		}
		return nil
	}
	if err := DisableTelemetry(); err != nil {
		return err
	}
	ort.SetSharedLibraryPath(path)
	// At the default level the runtime logs warnings about the machine.
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("cannot load ONNX Runtime from %s: %s", name, strings.ReplaceAll(err.Error(), path, name))
	}
	library.path = path
	return ort.DisableTelemetry() // of libraries that report to the system instead
}

// unload frees the library unless a session uses it. The caller holds the lock.
func unload() error {
	if library.sessions > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}
