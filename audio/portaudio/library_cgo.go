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
		if err := failure(C.Pa_Initialize()); err != nil {
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
	return failure(C.Pa_Terminate())
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
	return errors.New(C.GoString(C.Pa_GetErrorText(code)))
}

// Devices lists the devices there are. The error is a *audio.DeviceError; no
// device at all is none.
func Devices() ([]Device, error) {
	library.Lock()
	defer library.Unlock()
	if err := acquire(); err != nil {
		return nil, err
	}
	devices := list()
	if err := release(); err != nil {
		return nil, unavailable(Default, err, "try again")
	}
	return devices, nil
}

// list reads the devices of the initialised library. It holds the lock.
func list() []Device {
	in, out := C.Pa_GetDefaultInputDevice(), C.Pa_GetDefaultOutputDevice()
	var devices []Device
	for i := C.PaDeviceIndex(0); i < C.Pa_GetDeviceCount(); i++ {
		info := C.Pa_GetDeviceInfo(i)
		if info == nil {
			continue
		}
		d := Device{
			Name:          C.GoString(info.name),
			Inputs:        int(info.maxInputChannels),
			Outputs:       int(info.maxOutputChannels),
			DefaultInput:  i == in,
			DefaultOutput: i == out,
			SampleRate:    float64(info.defaultSampleRate),
			InputLatency:  seconds(info.defaultLowInputLatency),
			OutputLatency: seconds(info.defaultLowOutputLatency),
			index:         int(i),
		}
		if host := C.Pa_GetHostApiInfo(info.hostApi); host != nil {
			d.HostAPI = C.GoString(host.name)
		}
		devices = append(devices, d)
	}
	assignIDs(devices)
	return devices
}

func seconds(t C.PaTime) time.Duration { return time.Duration(float64(t) * float64(time.Second)) }
