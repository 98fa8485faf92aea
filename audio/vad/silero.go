//go:build cgo

package vad

import (
	"errors"
	"fmt"
	"path/filepath"

	ort "github.com/yalue/onnxruntime_go"
)

// silero runs version 6 of the Silero model (MIT). The binding does not retain its
// tensors, and garbage-collected tensors give wrong results, so this struct keeps them.
type silero struct {
	model                          *model
	binding                        *ort.IoBinding
	input, state, newState, speech *ort.Tensor[float32]
	rate                           *ort.Tensor[int64]
	context                        [contextSamples]float32 // end of the last window
}

var errDetectorClosed = errors.New("voice detector is closed; create a new one")

// NewSilero returns a Silero voice detector that runs the ONNX file modelPath with the
// ONNX Runtime library runtimePath. The first detector of the process loads library and
// model (about 0.1 s), the others share them, and closing the last one frees them. A
// different library path while one is loaded is an error. Errors name files without
// their folders.
func NewSilero(modelPath, runtimePath string) (Detector, error) {
	m, err := acquireModel(modelPath, runtimePath)
	if err != nil {
		return nil, fmt.Errorf("voice detector: %w; reinstall it with `make deps`", err)
	}
	s := &silero{model: m}
	if err := s.bind(); err != nil {
		_ = s.Close() // the first error is more useful
		return nil, fmt.Errorf("cannot use voice detector model %s: %w; reinstall it with `make deps`", filepath.Base(modelPath), err)
	}
	return s, nil
}

// bind creates the tensors and binds them to the model.
func (s *silero) bind() error {
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
	if s.binding, err = s.model.CreateIoBinding(); err != nil {
		return err
	}
	return errors.Join(
		s.binding.BindInput("input", s.input),
		s.binding.BindInput("state", s.state),
		s.binding.BindInput("sr", s.rate),
		s.binding.BindOutput("output", s.speech),
		s.binding.BindOutput("stateN", s.newState),
	)
}

// Process implements Detector.
func (s *silero) Process(window []int16) (float32, error) {
	if s.model == nil {
		return 0, errDetectorClosed
	}
	if len(window) != WindowSamples {
		return 0, fmt.Errorf("voice detector: window has %d samples, want %d", len(window), WindowSamples)
	}
	in := s.input.GetData()
	copy(in, s.context[:])
	for i, v := range window {
		in[contextSamples+i] = float32(v) / 32768
	}
	copy(s.context[:], in[WindowSamples:])
	if err := s.model.RunWithBinding(s.binding); err != nil {
		return 0, fmt.Errorf("voice detector failed on a window: %w", err)
	}
	copy(s.state.GetData(), s.newState.GetData())
	return s.speech.GetData()[0], nil
}

// Reset implements Detector.
func (s *silero) Reset() {
	if s.model == nil {
		return
	}
	clear(s.state.GetData())
	clear(s.context[:])
}

// Remember implements Rememberer.
func (s *silero) Remember(to *Memory) {
	if s.model != nil {
		copy(to.state[:], s.state.GetData())
		to.context, to.known = s.context, true
	}
}

// Recall implements Rememberer.
func (s *silero) Recall(from *Memory) {
	if s.model != nil && from.known {
		copy(s.state.GetData(), from.state[:])
		s.context = from.context
	}
}

// Close implements Detector.
func (s *silero) Close() error {
	if s.model == nil {
		return nil
	}
	var errs []error
	if s.binding != nil {
		errs = append(errs, s.binding.Destroy())
	}
	for _, t := range []*ort.Tensor[float32]{s.input, s.state, s.newState, s.speech} {
		if t != nil {
			errs = append(errs, t.Destroy())
		}
	}
	if s.rate != nil {
		errs = append(errs, s.rate.Destroy())
	}
	errs = append(errs, releaseModel(s.model))
	s.model = nil
	return errors.Join(errs...)
}
