//go:build cgo && !noapm

package vad

/*
#cgo pkg-config: webrtc-audio-processing
#cgo CXXFLAGS: -std=c++11 -O2
#include "webrtc.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// webRTC runs the voice detection of WebRTC's audio processing, which decides for each frame
// of 10 ms whether it contains a voice. Alone it takes keys and the start of any noise for
// one, so frames count by what soundMeter says of them.
type webRTC struct {
	handle *C.av_voice
	frame  [frameSamples]int16
	filled int // samples of the incomplete frame
	sound  soundMeter
	speech voiceEstimate
}

// NewWebRTC returns a voice detector that needs neither a model nor ONNX Runtime. It hears
// voices later than Silero in noise, and takes more sounds for one. Its view of the room
// survives Reset.
func NewWebRTC() (Detector, error) {
	handle := C.av_voice_new(likelihood)
	if handle == nil {
		return nil, errors.New("cannot start the voice detection of WebRTC; close other programs to free memory")
	}
	return &webRTC{handle: handle}, nil
}

// Process implements Detector.
func (d *webRTC) Process(window []int16) (float32, error) {
	if d.handle == nil {
		return 0, errDetectorClosed
	}
	if len(window) != WindowSamples {
		return 0, fmt.Errorf("voice detector: window has %d samples, want %d", len(window), WindowSamples)
	}
	for len(window) > 0 {
		n := copy(d.frame[d.filled:], window)
		window, d.filled = window[n:], d.filled+n
		if d.filled < frameSamples {
			break
		}
		d.filled = 0
		voice := C.av_voice_process(d.handle, (*C.int16_t)(unsafe.Pointer(&d.frame[0])))
		if voice < 0 {
			return 0, fmt.Errorf("voice detection of WebRTC failed: code %d", int(voice))
		}
		prominent := d.sound.push(&d.frame)
		d.speech.push(voice > 0 && prominent, d.sound.voiced)
	}
	return float32(d.speech), nil
}

// Reset implements Detector.
func (d *webRTC) Reset() {
	d.filled, d.speech = 0, 0
	clear(d.frame[:])
	d.sound.forget()
}

// Close implements Detector.
func (d *webRTC) Close() error {
	if d.handle != nil {
		C.av_voice_free(d.handle)
	}
	d.handle = nil
	return nil
}
