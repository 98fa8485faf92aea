//go:build cgo && !noapm

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

// Canceller names the echo canceller of this build.
const Canceller = "WebRTC audio processing"

// native is one instance of the library.
type native struct {
	handle *C.av_apm
}

func newAPM(c apmConfig) (apm, error) {
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
	return &native{handle}, nil
}

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}

func (a *native) Process(far, near []int16) error {
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

func (a *native) Suppress(level int) error {
	if code := C.av_apm_suppress(a.handle, C.int(level)); code != 0 {
		return fmt.Errorf("cannot set WebRTC echo suppression %d: code %d", level, int(code))
	}
	return nil
}

func (a *native) Reset() error {
	if code := C.av_apm_reset(a.handle); code != 0 {
		return fmt.Errorf("cannot reset WebRTC audio processing: code %d", int(code))
	}
	return nil
}

// Latency is that of the canceller's blocks, 7 ms.
func (a *native) Latency() int { return 7 * rate / 1000 }

func (a *native) Close() { C.av_apm_free(a.handle) }
