//go:build cgo

package portaudio

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// stallTime is how long the callbacks may be silent before the device counts
	// as lost. With what the timer and Run take, that is less than half a second.
	stallTime = 450 * time.Millisecond
	// suspectTime is when the sound server that has the device is asked whether it
	// is there at all; it has the rest of stallTime to answer. While it answers,
	// the device is only busy, as one that the server changes for another one, or
	// one of a machine that has too much to do: it has patience in all.
	suspectTime = 250 * time.Millisecond
	patience    = 1500 * time.Millisecond
	// startTime is the same while the device starts: a sound server first asks for
	// what fills its buffer, and takes up to two seconds to wake a device that it
	// has put to sleep.
	startTime = 4 * time.Second
	// settled is how many callbacks beyond its buffer a device makes until it has
	// started.
	settled = 20
	// openTime and endTime bound what waits for the library.
	openTime = 5 * time.Second
	endTime  = 500 * time.Millisecond
	// startLimit is twice what PortAudio gives its own thread to start.
	startLimit = 2 * time.Second
)

// slots are the open streams, by the number that their callback brings. The
// callback finds its stream there without a lock.
var slots [C.AV_SLOTS]atomic.Pointer[stream]

// stream is an open device in one direction.
type stream struct {
	id     string // as the user named it
	dir    direction
	pa     unsafe.Pointer // PaStream
	slot   int
	server *soundServer // that has the device; nil when it has none
	wakeup chan struct{}
	ran    bool // once; a stream is not started again
	stuck  bool // its start never ended
	timing

	// Of the callback.
	edge                 *converter
	ring                 captureRing
	render               atomic.Pointer[func(*audio.Frame)] // playback
	inCallback, stopping atomic.Bool
}

// tuning is how devices are opened.
type tuning struct {
	latency time.Duration // that is asked for
	buffer  time.Duration // of one part of a frame; a frame has a whole number of them
	rates   []int         // in the order in which they are tried; 0 is the device's own
}

// defaultTuning has buffers of half a frame: PortAudio needs two or more of them,
// and with whole frames the way out and in takes 15 ms longer. With
// 10 ms of latency a sound server on a busy machine runs dry now and then, with 15
// it did not; a device that needs more says so (see Device).
var defaultTuning = tuning{latency: 15 * time.Millisecond, buffer: audio.FrameTime / 2, rates: []int{audio.SampleRate, 0, 44100, 96000, 32000, 16000}}

// openStream acquires the device that the user means by id. atServer says that it
// was one of the sound server before, and is not to be looked for elsewhere: while
// a server starts again, its hardware is free, and must not be taken from it.
func openStream(ctx context.Context, id string, dir direction, t tuning, atServer bool) (*stream, error) {
	answer := firstAnswer
	if atServer {
		answer = laterAnswer
	}
	server, err := dialServer(ctx, answer)
	if err != nil && (atServer || !errors.Is(err, errNoServer)) {
		return nil, unavailable(id, err, remedyDeaf)
	}
	var d Device
	if server != nil {
		ctx, cancel := context.WithTimeout(ctx, answer)
		defer cancel()
		devices, err := server.devices(ctx)
		if err == nil {
			d, err = choose(devices, id, dir)
		}
		if err != nil && (atServer || errors.Is(err, errDeaf)) {
			server.Close()
			return nil, unavailableAt(id, err)
		}
		if err != nil {
			server.Close()
			server = nil
		}
	}
	s, err := within(openTime, func() (*stream, error) { return opened(id, dir, t, server, d) }, func(s *stream) { s.end() })
	if err != nil {
		server.Close()
		if errors.Is(err, errDeaf) {
			err = unavailable(id, err, remedyDeaf)
		}
		return nil, err
	}
	return s, nil
}

const remedyDeaf = "start the sound server again (PipeWire: systemctl --user restart pipewire pipewire-pulse; PulseAudio: pulseaudio --start)"

// unavailableAt keeps an error that says what to do.
func unavailableAt(id string, err error) error {
	var device *audio.DeviceError
	if errors.As(err, &device) {
		return err
	}
	return unavailable(id, err, remedyDeaf)
}

// opened opens the device d of a server, or where there is none the one of the
// library that id names. The goroutine of library calls it.
func opened(id string, dir direction, t tuning, server *soundServer, d Device) (_ *stream, err error) {
	if err := acquire(); err != nil {
		return nil, err
	}
	s := &stream{id: id, dir: dir, server: server, wakeup: make(chan struct{}, 1)}
	for s.slot < len(slots) && !slots[s.slot].CompareAndSwap(nil, s) {
		s.slot++
	}
	defer func() {
		if err != nil {
			if s.slot < len(slots) {
				slots[s.slot].Store(nil)
			}
			_ = release()
		}
	}()
	if s.slot == len(slots) {
		return nil, unavailable(id, errors.New("too many devices are open"), "close one first")
	}
	if server == nil {
		devices, err := list()
		if err != nil {
			return nil, unavailable(id, err, "check that the sound system works")
		}
		if d, err = choose(devices, id, dir); err != nil {
			return nil, err
		}
	}
	code := s.openAs(d, t)
	if err := failure(code); err != nil {
		if denied(runtime.GOOS, dir, err) {
			return nil, microphoneDenied(runtime.GOOS, id, err)
		}
		return nil, unavailable(id, err, remedyOpen(code, server != nil))
	}
	if info := C.Pa_GetStreamInfo(s.pa); info != nil {
		s.reported = seconds(info.outputLatency)
		if dir == capture {
			s.reported = seconds(info.inputLatency)
		}
	}
	return s, nil
}

// openAs opens a device in the first format that it does: mono at 48 kHz, or what
// comes next to it.
func (s *stream) openAs(d Device, t tuning) C.PaError {
	captures := C.int(0)
	if s.dir == capture {
		captures = 1
	}
	var name *C.char
	if d.server != "" {
		at := d.server
		if s.id == "" || s.id == Default {
			at = "" // the server moves the stream when its default changes
		}
		name = C.CString(at)
		defer C.free(unsafe.Pointer(name))
	}
	var code C.PaError
	for i, rate := range t.rates {
		if rate == 0 {
			rate = int(d.SampleRate)
		}
		if rate < 8000 || rate > 192000 || i > 0 && slices.Contains(t.rates[:i], rate) {
			continue
		}
		for _, channels := range slices.Compact([]int{1, min(2, d.channels(s.dir)), d.channels(s.dir)}) {
			var stream unsafe.Pointer // not &s.pa: no pointer to Go pointers goes to C
			code = C.av_open(&stream, C.int(s.slot), C.int(d.index), name, C.int(channels), captures,
				C.double(max(d.latency(s.dir), t.latency).Seconds()), C.double(rate), C.ulong(int64(rate)*int64(t.buffer)/int64(time.Second)), C.int(audio.FrameTime/t.buffer))
			if code == C.paInvalidChannelCount {
				continue
			}
			if code < 0 {
				break
			}
			edge, err := newConverter(s.dir, rate, channels)
			if err != nil {
				C.Pa_CloseStream(stream)
				return C.paInvalidSampleRate
			}
			s.pa, s.edge = stream, edge
			return C.paNoError
		}
		if code != C.paInvalidSampleRate && code != C.paUnanticipatedHostError {
			break
		}
	}
	return code
}

func remedyOpen(code C.PaError, atServer bool) string {
	switch {
	case atServer:
		return "install ALSA's plugin for the sound server (Debian: libasound2-plugins), or choose another device"
	case code == C.paInvalidSampleRate:
		return "it does no sample rate that can be used; choose the device of the sound server (default), which converts"
	case code == C.paDeviceUnavailable:
		return "it is in use or gone; close the program that uses it, or choose another one"
	default:
		return "choose another one that agentvoice-daemon devices lists"
	}
}

// end closes the stream. The goroutine of library calls it.
func (s *stream) end() {
	C.Pa_CloseStream(s.pa) // what is lost cannot be closed in order
	slots[s.slot].Store(nil)
	_ = release()
	s.server.Close()
}

// close releases the device. It is not called while run runs. Where the server
// hangs, the device is released once that continues or ends.
func (s *stream) close() {
	if s.stuck {
		s.server.Close()
		return
	}
	library.bounded(endTime, s.end)
}

// start starts the callbacks. Where a device goes away just before, PortAudio waits
// for its own thread for ever: that thread ended with an error and a lock in its
// hands. So the device is looked for first, and where that was in vain PortAudio is
// left alone with the stream.
func (s *stream) start(ctx context.Context) error {
	if s.server != nil {
		ctx, cancel := context.WithTimeout(ctx, laterAnswer)
		defer cancel()
		devices, err := s.server.devices(ctx)
		if err == nil {
			_, err = choose(devices, s.id, s.dir)
		}
		if err != nil {
			return err
		}
	}
	s.stopping.Store(false)
	_, err := within(startLimit, func() (struct{}, error) { return struct{}{}, failure(C.Pa_StartStream(s.pa)) }, nil)
	if errors.Is(err, errDeaf) {
		s.stuck = true
		s.stopping.Store(true)
		library.abandon()
	}
	return err
}

// run starts the callbacks and calls each after every one that came, until ctx is
// done, moved has a value, or the device is lost. It is called once.
func (s *stream) run(ctx context.Context, moved <-chan struct{}, each func() error) (err error) {
	if err := s.start(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return lost(s.id, err, s.dir)
	}
	defer func() { s.stop(err) }()
	var gone <-chan struct{}
	if s.server != nil {
		gone = s.server.gone
	}
	w := newWatchdog(s)
	defer w.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
			return audio.ErrReselected
		case <-gone:
			return lost(s.id, errServerGone, s.dir)
		case <-s.wakeup:
			w.fed()
			if err := each(); err != nil {
				return err
			}
		case <-w.timer.C:
			if w.bites() {
				return lost(s.id, errStalled, s.dir)
			}
		case err := <-w.answer:
			if err != nil {
				return lost(s.id, err, s.dir)
			}
		}
	}
}

// watchdog notices that the callbacks have stopped.
type watchdog struct {
	s        *stream
	timer    *time.Timer
	starting int64      // callbacks until the device has started
	answer   chan error // of the server, after it was asked; nil else
}

func newWatchdog(s *stream) *watchdog {
	return &watchdog{s: s, timer: time.NewTimer(startTime), starting: s.callbacks.Load() + int64(settled+s.reported/audio.FrameTime)}
}

// fed notes a callback.
func (w *watchdog) fed() {
	w.answer = nil
	switch {
	case w.s.callbacks.Load() <= w.starting:
	case w.s.server == nil:
		w.timer.Reset(stallTime)
	default:
		w.timer.Reset(suspectTime)
	}
}

// bites tells, when the timer has fired, whether the device is lost for sure.
func (w *watchdog) bites() bool {
	if w.s.server == nil || w.answer != nil || w.s.callbacks.Load() <= w.starting {
		return true
	}
	answer, server := make(chan error, 1), w.s.server
	w.answer = answer
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), stallTime-suspectTime)
		defer cancel()
		_, err := server.request(ctx, cmdGetServerInfo, new(tagWriter))
		answer <- err
	}()
	w.timer.Reset(patience - suspectTime)
	return false
}

// stop returns when no callback runs any more. The callback ends its thread
// itself: PortAudio's own abort would cancel that wherever it is, with a lock of
// the sound server's client in its hands. Of a lost device nobody waits for that,
// since it may take until the server is back.
func (s *stream) stop(why error) {
	s.stopping.Store(true)
	stop := func() { C.Pa_StopStream(s.pa) }
	var device *audio.DeviceError
	if errors.As(why, &device) {
		library.submit(stop)
	} else {
		library.bounded(endTime, stop)
	}
	for s.inCallback.Load() { // one that had begun before
		runtime.Gosched()
	}
	s.render.Store(nil)
}

// avCallback runs on the library's thread, once for each frame.
//
//export avCallback
func avCallback(slot C.int, in, out unsafe.Pointer, frames C.ulong, delay C.double, flags C.PaStreamCallbackFlags) C.int {
	s := slots[slot].Load()
	if s == nil {
		return C.paAbort
	}
	var captured, played []int16
	n := int(frames) * s.edge.channels
	if in != nil {
		captured = unsafe.Slice((*int16)(in), n)
	}
	if out != nil {
		played = unsafe.Slice((*int16)(out), n)
	}
	const xrun = C.paInputOverflow | C.paInputUnderflow | C.paOutputUnderflow | C.paOutputOverflow
	if !s.process(captured, played, seconds(C.PaTime(delay)), flags&xrun != 0) {
		return C.paAbort
	}
	return C.paContinue
}

// process takes what was captured or fills what is played next, and tells whether
// to go on. It takes no lock of ours and allocates nothing; the wake-up is a send
// that does not wait.
func (s *stream) process(captured, played []int16, delay time.Duration, xrun bool) bool {
	s.inCallback.Store(true) // before it looks at stopping, as stop does it the other way round
	defer s.inCallback.Store(false)
	if s.stopping.Load() {
		return false
	}
	if captured != nil {
		s.edge.captured(captured, &s.ring)
	}
	if render := s.render.Load(); render != nil && played != nil {
		s.edge.play(played, *render)
	} else {
		clear(played)
	}
	s.called(delay, xrun)
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
	return true
}
