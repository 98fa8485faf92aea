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
)

// library is the only user of PortAudio, which takes no locks of its own: one
// goroutine makes all calls, one after the other, on one thread, since Windows
// ties the library to the thread that initialised it. A call to a sound server
// that hangs may hang with it; then only that goroutine does, and what waits for
// it gives up.
var library librarian

type librarian struct {
	mu      sync.Mutex
	more    *sync.Cond // there is a call, or the goroutine may end
	calls   []func()
	working int // the number of the goroutine that works; 0 when none does
	started int // how many there were

	users int // of the goroutine: who has acquired the library
}

// submit has call made after those before it.
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

// abandon leaves the goroutine alone with a call that will never end; another one
// makes the next ones.
func (l *librarian) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working = 0
}

// work makes the calls until there are none and nobody uses the library.
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

// bounded makes a call and waits for its end, but at most for a limit.
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

// within makes a call and returns its result if that comes within a limit. If not,
// the error is errDeaf, and undo gets the result when it comes after all.
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
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case r := <-done:
		return r.v, r.err
	case <-timeout.C:
		if !state.CompareAndSwap(pending, left) {
			r := <-done
			return r.v, r.err
		}
		var none T
		return none, errDeaf
	}
}

// acquire initialises the library for its first user, which makes a fresh list of
// devices. The goroutine of library calls it.
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

// release terminates the library after its last user. The goroutine of library
// calls it.
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
			return &hostError{code: int64(info.errorCode), text: C.GoString(info.errorText)}
		}
	}
	return pa.Error(code)
}

// Devices lists the devices there are: those of the sound server, then those that
// PortAudio has. The error is a *audio.DeviceError; no device at all is none.
//
// PortAudio's part is as old as the oldest device that is open, the server's part
// is always fresh.
func Devices() ([]Device, error) {
	atServer, err := serverDevices(context.Background())
	if err != nil && !errors.Is(err, errNoServer) {
		return nil, unavailable(Default, err, remedyDeaf)
	}
	devices, err := within(openTime, func() ([]Device, error) {
		if err := acquire(); err != nil {
			return nil, err
		}
		devices, err := list()
		return devices, errors.Join(err, release())
	}, nil)
	if err != nil {
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
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	return server.devices(ctx)
}

// list reads the devices of the initialised library. The goroutine of library
// calls it.
func list() ([]Device, error) {
	infos, err := pa.Devices()
	if err != nil {
		return nil, err
	}
	in, out := int(C.Pa_GetDefaultInputDevice()), int(C.Pa_GetDefaultOutputDevice())
	devices := make([]Device, 0, len(infos))
	defaults := map[direction]map[int]bool{capture: {}, playback: {}} // of each API, by index
	for _, info := range infos {
		if info.Name == "agentvoice" {
			continue // the way to the sound server, see define_pcm
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
