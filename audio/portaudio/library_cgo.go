//go:build cgo

package portaudio

/*
#cgo pkg-config: portaudio-2.0
#cgo linux LDFLAGS: -ldl
#include "bridge.h"
*/
import "C"

import (
	"errors"
	"sync"
	"time"

	pa "github.com/gordonklaus/portaudio"
)

// library counts who uses PortAudio. Its lock is held during every call that is
// not for one open stream, since the library takes none.
var library struct {
	sync.Mutex
	users int
}

// acquire initialises the library for its first user, which makes a fresh list of
// devices. It holds the lock.
func acquire() error {
	if library.users == 0 {
		C.av_quiet()
		if err := pa.Initialize(); err != nil {
			return unavailable(Default, err, "check that the sound system works; on Linux install libportaudio2 and libasound2-plugins")
		}
	}
	library.users++
	return nil
}

// release terminates the library after its last user. It holds the lock.
func release() error {
	library.users--
	if library.users > 0 {
		return nil
	}
	return pa.Terminate()
}

// failure is the error of a PortAudio call, nil if it was none.
func failure(code C.PaError) error {
	switch {
	case code >= 0:
		return nil
	case code == C.paUnanticipatedHostError:
		if info := C.Pa_GetLastHostErrorInfo(); info != nil && info.errorText != nil {
			return errors.New(C.GoString(info.errorText))
		}
	}
	return pa.Error(code)
}

// Devices lists the devices there are. The error is a *audio.DeviceError; no
// device at all is none.
func Devices() ([]Device, error) {
	library.Lock()
	defer library.Unlock()
	if err := acquire(); err != nil {
		return nil, err
	}
	devices, err := list()
	if err := errors.Join(err, release()); err != nil {
		return nil, unavailable(Default, err, "try again")
	}
	return devices, nil
}

// list reads the devices of the initialised library. It holds the lock.
func list() ([]Device, error) {
	infos, err := pa.Devices()
	if err != nil {
		return nil, err
	}
	in, out := int(C.Pa_GetDefaultInputDevice()), int(C.Pa_GetDefaultOutputDevice())
	devices := make([]Device, 0, len(infos))
	for _, info := range infos {
		devices = append(devices, Device{
			Name: info.Name, HostAPI: info.HostApi.Name,
			Inputs: info.MaxInputChannels, Outputs: info.MaxOutputChannels,
			DefaultInput: info.Index == in, DefaultOutput: info.Index == out,
			SampleRate:   info.DefaultSampleRate,
			InputLatency: info.DefaultLowInputLatency, OutputLatency: info.DefaultLowOutputLatency,
			index: info.Index,
		})
	}
	assignIDs(devices)
	return devices, nil
}

func seconds(t C.PaTime) time.Duration { return time.Duration(float64(t) * float64(time.Second)) }
