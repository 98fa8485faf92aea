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

// silero runs version 6 of the Silero model (MIT). The session does not retain
// the tensors it was made with, and a collected one gives wrong answers, so
// they all live here.
type silero struct {
	session                        *ort.AdvancedSession
	input, state, newState, speech *ort.Tensor[float32]
	rate                           *ort.Tensor[int64]
	context                        [contextSamples]float32 // end of the last window
}

// contextSamples of the last window precede each window. Without them version
// 6 answers 0 to everything.
const contextSamples = 64

var errDetectorClosed = errors.New("voice detector is closed; make a new one")

// NewSilero loads the Silero voice detector of modelPath (an ONNX file) with
// the ONNX Runtime library of runtimePath. The library is loaded once in a
// process and kept while a detector needs it: a second path meanwhile is an
// error. Errors name files without their folders.
func NewSilero(modelPath, runtimePath string) (Detector, error) {
	if _, err := os.Stat(modelPath); err != nil {
		return nil, fmt.Errorf("voice detector model %s cannot be read; install it with `make deps`", filepath.Base(modelPath))
	}
	if err := acquireRuntime(runtimePath); err != nil {
		return nil, err
	}
	s := &silero{}
	if err := s.load(modelPath); err != nil {
		_ = errors.Join(s.destroy(), releaseRuntime()) // the first failure says more
		return nil, fmt.Errorf("voice detector model %s cannot be loaded: %s; reinstall it with `make deps`",
			filepath.Base(modelPath), withoutFolder(err, modelPath))
	}
	return s, nil
}

func (s *silero) load(modelPath string) error {
	tensor := func(dst **ort.Tensor[float32], shape ...int64) error {
		t, err := ort.NewEmptyTensor[float32](ort.NewShape(shape...))
		*dst = t
		return err
	}
	err := errors.Join(
		tensor(&s.input, 1, contextSamples+WindowSamples),
		tensor(&s.state, 2, 1, 128),
		tensor(&s.newState, 2, 1, 128),
		tensor(&s.speech, 1, 1),
	)
	if err != nil {
		return err
	}
	if s.rate, err = ort.NewTensor(ort.NewShape(1), []int64{SampleRate}); err != nil {
		return err
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return err
	}
	defer func() { _ = options.Destroy() }() // the session has its own copy
	// A window takes a tenth of a millisecond: more threads only cost switches.
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return err
	}
	s.session, err = ort.NewAdvancedSession(modelPath,
		[]string{"input", "state", "sr"}, []string{"output", "stateN"},
		[]ort.Value{s.input, s.state, s.rate}, []ort.Value{s.speech, s.newState}, options)
	return err
}

// Process implements Detector.
func (s *silero) Process(window []int16) (float32, error) {
	if s.session == nil {
		return 0, errDetectorClosed
	}
	if len(window) != WindowSamples {
		return 0, fmt.Errorf("voice detector got a window of %d samples; it takes %d", len(window), WindowSamples)
	}
	in := s.input.GetData()
	copy(in, s.context[:])
	for i, v := range window {
		in[contextSamples+i] = float32(v) / 32768
	}
	copy(s.context[:], in[WindowSamples:])
	if err := s.session.Run(); err != nil {
		return 0, fmt.Errorf("voice detector failed on a window: %w", err)
	}
	copy(s.state.GetData(), s.newState.GetData())
	return s.speech.GetData()[0], nil
}

// Reset implements Detector.
func (s *silero) Reset() {
	if s.session == nil {
		return
	}
	clear(s.state.GetData())
	clear(s.context[:])
}

// Close implements Detector.
func (s *silero) Close() error {
	if s.session == nil {
		return nil
	}
	return errors.Join(s.destroy(), releaseRuntime())
}

// destroy frees what was loaded, also after half a load.
func (s *silero) destroy() error {
	var errs []error
	if s.session != nil {
		errs = append(errs, s.session.Destroy())
		s.session = nil
	}
	for _, t := range []*ort.Tensor[float32]{s.input, s.state, s.newState, s.speech} {
		if t != nil {
			errs = append(errs, t.Destroy())
		}
	}
	if s.rate != nil {
		errs = append(errs, s.rate.Destroy())
	}
	return errors.Join(errs...)
}

// runtime is the ONNX Runtime of the process; the library knows only one.
var runtime struct {
	sync.Mutex
	users int
	path  string
}

func acquireRuntime(path string) error {
	runtime.Lock()
	defer runtime.Unlock()
	if runtime.users > 0 {
		if path != runtime.path {
			return fmt.Errorf("ONNX Runtime library %s cannot be loaded: another one is in use; close its detectors first", filepath.Base(path))
		}
		runtime.users++
		return nil
	}
	ort.SetSharedLibraryPath(path)
	// At the default level the runtime prints its opinions on the machine.
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("ONNX Runtime library %s cannot be loaded: %s; reinstall it with `make deps`",
			filepath.Base(path), withoutFolder(err, path))
	}
	runtime.users, runtime.path = 1, path
	return nil
}

func releaseRuntime() error {
	runtime.Lock()
	defer runtime.Unlock()
	if runtime.users--; runtime.users > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}

// withoutFolder is err's text with path cut to its last element: a folder
// names its user.
func withoutFolder(err error, path string) string {
	return strings.ReplaceAll(err.Error(), path, filepath.Base(path))
}
