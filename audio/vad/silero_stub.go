//go:build !cgo

package vad

import "errors"

// NewSilero needs cgo, which this build does not have.
func NewSilero(modelPath, runtimePath string) (Detector, error) {
	return nil, errors.New("the Silero voice detector needs cgo, which this build does not have; build with CGO_ENABLED=1 and a C compiler")
}
