//go:build cgo

package portaudio

/*
#cgo pkg-config: portaudio-2.0
#cgo linux pkg-config: alsa
#cgo linux LDFLAGS: -ldl
#include "bridge.h"
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	pa "github.com/gordonklaus/portaudio"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// library is the only user of PortAudio, which has no locks of its own. One goroutine
// makes all calls in order on one OS thread, because Windows ties the library to the
// thread that initialized it. A call into a hanging sound server may block that
// goroutine; callers that wait for it then time out.
var library librarian

type librarian struct {
	mu      sync.Mutex
	more    *sync.Cond // signals a new call, or that the goroutine may end
	calls   []func()
	working int // number of the running goroutine; 0 if none runs
	started int // goroutines started so far

	users int // reference count; used by the goroutine only
}

// submit queues a call.
func (l *librarian) submit(call func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more == nil {
		l.more = sync.NewCond(&l.mu)
	}
	l.calls = append(l.calls, call)
	l.more.Signal()
	if l.working == 0 {
		l.started++
		l.working = l.started
		go l.work(l.working)
	}
}

// abandon leaves the goroutine alone with a call that will never return. Another
// goroutine makes the next calls.
func (l *librarian) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working = 0
}

// work makes calls until the queue is empty and the library is unused.
func (l *librarian) work(me int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.working == me {
		if len(l.calls) == 0 {
			if l.users == 0 {
				l.working = 0
				return
			}
			l.more.Wait()
			continue
		}
		call := l.calls[0]
		l.calls = l.calls[1:]
		l.mu.Unlock()
		call()
		l.mu.Lock()
	}
}

// bounded makes a call and waits at most limit for it to return.
func (l *librarian) bounded(limit time.Duration, call func()) {
	done := make(chan struct{})
	l.submit(func() {
		defer close(done)
		call()
	})
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
	}
}

// within makes a call and returns its result, or errNoAnswer if it takes longer than
// limit. undo then receives the result when it arrives after all.
func within[T any](limit time.Duration, call func() (T, error), undo func(T)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	const (
		pending int32 = iota
		taken
		left
	)
	var state atomic.Int32
	library.submit(func() {
		if state.Load() == left {
			return
		}
		v, err := call()
		if state.CompareAndSwap(pending, taken) {
			done <- result{v, err}
		} else if err == nil && undo != nil {
			undo(v)
		}
	})
	ctx, cancel := audio.WithTimeout(context.Background(), limit)
	defer cancel()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		if !state.CompareAndSwap(pending, left) {
			r := <-done
			return r.v, r.err
		}
		var none T
		return none, errNoAnswer
	}
}

// errNoConfiguration means that PortAudio would abort the process.
var errNoConfiguration = errors.New("no sound system: ALSA has no configuration")

// acquire initializes the library for its first user, which refreshes the device
// list. Only the library goroutine calls it.
func acquire() error {
	if library.users == 0 {
		C.av_quiet()
		if C.av_configured() == 0 {
			return unavailable(Default, errNoConfiguration, "install libasound2-data, or unset ALSA_CONFIG_PATH if you set it; or use wav:FILE or null")
		}
		if err := pa.Initialize(); err != nil {
			return unavailable(Default, err, "check the sound system; on Linux install libportaudio2 and libasound2-plugins")
		}
	}
	library.users++
	return nil
}

// release terminates the library after its last user. Only the library goroutine
// calls it.
func release() error {
	library.users--
	if library.users > 0 {
		return nil
	}
	return pa.Terminate()
}

// failure converts the result of a PortAudio call to an error, or nil.
func failure(code C.PaError) error {
	switch {
	case code >= 0:
		return nil
	case code == C.paUnanticipatedHostError:
		if info := C.Pa_GetLastHostErrorInfo(); info != nil && info.errorText != nil {
			return &hostError{code: int64(info.errorCode), text: C.GoString(info.errorText)}
		}
	}
	return pa.Error(code)
}

// Devices lists the devices of the sound server, then those of PortAudio. The error
// is a *audio.DeviceError; an empty list is not an error.
//
// PortAudio's part dates from when the library was initialized, that is, when the
// first of the open devices was opened. The server's part is always current.
func Devices() ([]Device, error) {
	atServer, err := serverDevices(context.Background())
	if err != nil && !errors.Is(err, errNoServer) {
		return nil, unavailable(Default, err, remedyNoAnswer)
	}
	devices, err := within(openTime, func() ([]Device, error) {
		if err := acquire(); err != nil {
			return nil, err
		}
		devices, err := list()
		return devices, errors.Join(err, release())
	}, nil)
	var device *audio.DeviceError
	switch {
	case errors.As(err, &device):
		return nil, device
	case err != nil:
		return nil, unavailable(Default, err, "try again")
	}
	return merge(atServer, devices), nil
}

// serverDevices asks the sound server for its devices.
func serverDevices(ctx context.Context) ([]Device, error) {
	server, err := dialServer(ctx, firstAnswer)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	ctx, cancel := audio.WithTimeout(ctx, firstAnswer)
	defer cancel()
	return server.devices(ctx)
}

// list reads the devices of the initialized library. Only the library goroutine calls
// it.
func list() ([]Device, error) {
	infos, err := pa.Devices()
	if err != nil {
		return nil, err
	}
	in, out := int(C.Pa_GetDefaultInputDevice()), int(C.Pa_GetDefaultOutputDevice())
	devices := make([]Device, 0, len(infos))
	defaults := map[direction]map[int]bool{capture: {}, playback: {}} // defaults of each API, by index
	for _, info := range infos {
		if info.Name == "agentvoice" {
			continue // our own PCM for the sound server; see define_pcm
		}
		devices = append(devices, Device{
			Name: info.Name, HostAPI: info.HostApi.Name,
			Inputs: info.MaxInputChannels, Outputs: info.MaxOutputChannels,
			DefaultInput: info.Index == in, DefaultOutput: info.Index == out,
			SampleRate:   info.DefaultSampleRate,
			InputLatency: info.DefaultLowInputLatency, OutputLatency: info.DefaultLowOutputLatency,
			index: info.Index,
		})
		defaults[capture][info.Index] = info.HostApi.DefaultInputDevice == info
		defaults[playback][info.Index] = info.HostApi.DefaultOutputDevice == info
	}
	prefer(runtime.GOOS, devices, func(d Device, dir direction) bool { return defaults[dir][d.index] })
	assignIDs(devices)
	return devices, nil
}

func seconds(t C.PaTime) time.Duration { return time.Duration(float64(t) * float64(time.Second)) }
