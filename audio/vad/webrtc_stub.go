//go:build !cgo

package vad

import "errors"

// NewWebRTC needs cgo, which this build does not have.
func NewWebRTC() (Detector, error) {
	return nil, errors.New("the voice detector of WebRTC needs cgo, which this build does not have; build with CGO_ENABLED=1 and a C compiler")
}
