//go:build cgo

package dsp

/*
#cgo pkg-config: webrtc-audio-processing
#cgo CXXFLAGS: -std=c++11 -O2
#include "apm.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// apm is one instance of WebRTC's audio processing. It is not safe for concurrent use.
type apm struct {
	handle *C.av_apm
}

func newAPM(c apmConfig) (*apm, error) {
	cfg := C.av_apm_config{
		rate:           rate,
		echo:           C.int32_t(c.echo),
		extended:       flag(c.extended),
		delay_agnostic: flag(c.agnostic),
		noise:          C.int32_t(c.noise),
		high_pass:      flag(c.highPass),
		gain:           flag(c.gain),
	}
	handle := C.av_apm_new(&cfg)
	if handle == nil {
		return nil, errors.New("cannot start WebRTC audio processing with these settings; disable echo cancellation, noise suppression and gain control")
	}
	return &apm{handle}, nil
}

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}

// process processes near in place. near and far have frameSamples samples; far is nil
// for an instance without echo cancellation.
func (a *apm) process(far, near []int16) error {
	var f *C.int16_t
	if len(far) >= frameSamples {
		f = (*C.int16_t)(unsafe.Pointer(&far[0]))
	}
	// The delay between the streams is 0 here: the aligner has removed it.
	if code := C.av_apm_process(a.handle, f, (*C.int16_t)(unsafe.Pointer(&near[:frameSamples][0])), 0); code != 0 {
		return fmt.Errorf("WebRTC audio processing failed: code %d", int(code))
	}
	return nil
}

// suppress sets the echo suppression level of apmConfig.
func (a *apm) suppress(level int) error {
	if code := C.av_apm_suppress(a.handle, C.int(level)); code != 0 {
		return fmt.Errorf("cannot set WebRTC echo suppression %d: code %d", level, int(code))
	}
	return nil
}

// reset discards the adaptation.
func (a *apm) reset() error {
	if code := C.av_apm_reset(a.handle); code != 0 {
		return fmt.Errorf("cannot reset WebRTC audio processing: code %d", int(code))
	}
	return nil
}

func (a *apm) close() { C.av_apm_free(a.handle) }
