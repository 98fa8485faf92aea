//go:build !cgo || noapm

package vad

import "errors"

// NewWebRTC needs the native library, which this build does not have.
func NewWebRTC() (Detector, error) {
	return nil, errors.New("this build has no voice detector of WebRTC; install Silero with `make deps`, or build with cgo and webrtc-audio-processing (Debian: libwebrtc-audio-processing-dev)")
}
