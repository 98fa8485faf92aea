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
	// openTime and endTime bound the waits for the library.
	openTime = 5 * time.Second
	endTime  = 500 * time.Millisecond
	// startLimit is twice PortAudio's own timeout for starting its thread.
	startLimit = 2 * time.Second
)

// slots holds the open streams by the slot number that their callback passes, so that
// the callback finds its stream without a lock.
var slots [C.AV_SLOTS]atomic.Pointer[stream]

// stream is an open device in one direction.
type stream struct {
	id     string // as configured by the user
	dir    direction
	pa     unsafe.Pointer // PaStream
	slot   int
	server *soundServer // of the device; nil if it has none
	wakeup chan struct{}
	ran    bool // was run; a stream cannot be restarted
	stuck  bool // start did not return
	timing
	muted atomic.Bool // in the sound server's settings; see watchMute

	// Used by the callback.
	edge                 *converter
	ring                 captureRing
	render               atomic.Pointer[func(*audio.Frame)] // playback
	inCallback, stopping atomic.Bool
	resting              atomic.Bool // see audio.Rester
}

// tuning holds the parameters for opening devices.
type tuning struct {
	latency time.Duration // requested latency
	buffer  time.Duration // of one callback; a divisor of the frame time
	rates   []int         // in the order of preference; 0 means the device's own
}

// defaultTuning uses buffers of half a frame: PortAudio needs two or more of them,
// and whole frames would add 15 ms to the round trip. With 10 ms of latency a sound
// server on a busy machine underruns now and then, with 15 ms it does not; a device
// that needs more reports it (see Device).
var defaultTuning = tuning{latency: 15 * time.Millisecond, buffer: audio.FrameTime / 2, rates: []int{audio.SampleRate, 0, 44100, 96000, 32000, 16000}}

// convertedLatency is the least latency at other rates than 48 kHz. With less, a sound server
// that converts the rate can underrun in every callback for seconds after the start.
const convertedLatency = 40 * time.Millisecond

// openStream acquires the device with an id. atServer reports that it was a device of
// the sound server before and must not be looked up elsewhere: while the server
// restarts, its hardware is free, and must not be taken from it.
func openStream(ctx context.Context, id string, dir direction, t tuning, atServer bool) (*stream, error) {
	answer := firstAnswer
	if atServer {
		answer = answerTime()
	}
	server, err := dialServer(ctx, answer)
	if err != nil && (atServer || !errors.Is(err, errNoServer)) {
		return nil, unavailable(id, err, remedyNoAnswer)
	}
	var d Device
	if server != nil {
		ctx, cancel := audio.WithTimeout(ctx, answer)
		defer cancel()
		devices, err := server.devices(ctx)
		if err == nil {
			d, err = choose(devices, id, dir)
		}
		if err != nil && (atServer || errors.Is(err, errNoAnswer)) {
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
		if errors.Is(err, errNoAnswer) {
			err = unavailable(id, err, remedyNoAnswer)
		}
		return nil, err
	}
	return s, nil
}

const remedyNoAnswer = "start the sound server again (PipeWire: systemctl --user restart pipewire pipewire-pulse; PulseAudio: pulseaudio --start)"

// unavailableAt keeps an error that already has a remedy.
func unavailableAt(id string, err error) error {
	var device *audio.DeviceError
	if errors.As(err, &device) {
		return err
	}
	return unavailable(id, err, remedyNoAnswer)
}

// opened opens device d of a server, or without a server the library's device with
// that id. Only the library goroutine calls it.
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
		return nil, unavailable(id, errors.New("too many devices are open"), "close one of them first")
	}
	if server == nil {
		devices, err := list()
		if err != nil {
			return nil, unavailable(id, err, "check the sound system")
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

// openAs opens a device in the first format that it supports, starting with mono at
// 48 kHz.
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
		latency := max(d.latency(s.dir), t.latency)
		if rate != audio.SampleRate {
			latency = max(latency, convertedLatency)
		}
		for _, channels := range slices.Compact([]int{1, min(2, d.channels(s.dir)), d.channels(s.dir)}) {
			var stream unsafe.Pointer // not &s.pa: C must not get a pointer to Go pointers
			code = C.av_open(&stream, C.int(s.slot), C.int(d.index), name, C.int(channels), captures,
				C.double(latency.Seconds()), C.double(rate), C.ulong(int64(rate)*int64(t.buffer)/int64(time.Second)), C.int(audio.FrameTime/t.buffer))
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
		return "it supports no usable sample rate; choose the sound server's device (default), which converts"
	case code == C.paDeviceUnavailable:
		return "it is in use or disconnected; close other programs that use it, or choose another device"
	default:
		return "choose another device that agentvoice-daemon devices lists"
	}
}

// end closes the stream. Only the library goroutine calls it.
func (s *stream) end() {
	C.Pa_CloseStream(s.pa) // fails for a lost device
	slots[s.slot].Store(nil)
	_ = release()
	s.server.Close()
}

// close releases the device. It must not be called while run is running. If the
// server hangs, the device is released once the server continues or ends.
func (s *stream) close() {
	if s.stuck {
		s.server.Close()
		return
	}
	library.bounded(endTime, s.end)
}

// start starts the callbacks. If a device disappears just before, PortAudio waits
// forever for its own thread, which exited with an error while holding a lock. So
// start checks first that the device exists. If PortAudio blocks nevertheless, start
// abandons it and the stream.
func (s *stream) start(ctx context.Context) error {
	if s.server != nil {
		ctx, cancel := audio.WithTimeout(ctx, answerTime())
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
	if errors.Is(err, errNoAnswer) {
		s.stuck = true
		s.stopping.Store(true)
		library.abandon()
	}
	return err
}

// run starts the callbacks and calls each after every callback, until ctx is done,
// moved receives, or the device is lost. It must be called only once.
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
		if s.dir == capture {
			defer s.watchMute(ctx)()
		}
	}
	w := s.watchdog()
	w.start()
	defer w.stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
			return audio.ErrReselected
		case <-gone:
			return lost(s.id, errServerGone, s.dir)
		case <-s.wakeup:
			w.reset()
			if err := each(); err != nil {
				return err
			}
		case <-w.timeout.C():
			if err := w.step(); err != nil {
				return lost(s.id, err, s.dir)
			}
		case err := <-w.answer:
			if err := w.answered(err); err != nil {
				return lost(s.id, err, s.dir)
			}
		}
	}
}

// watchMute keeps muted up to date until the returned function is called.
func (s *stream) watchMute(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for subscribed := false; ; {
			asked, done := audio.WithTimeout(ctx, firstAnswer)
			if !subscribed {
				subscribed = s.server.subscribe(asked) == nil
			}
			if devices, err := s.server.devices(asked); err == nil {
				if d, err := choose(devices, s.id, capture); err == nil {
					s.muted.Store(d.muted)
				}
			}
			done()
			var again <-chan time.Time // a server that does not report changes, or did not answer in time, is polled
			if !subscribed {
				again = time.After(lookEvery)
			}
			select {
			case <-ctx.Done():
				return
			case <-s.server.gone:
				return
			case <-s.server.changed:
			case <-again:
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// rest implements audio.Rester.
func (s *stream) rest() {
	if s.resting.Load() || s.render.Load() == nil || s.stopping.Load() {
		return
	}
	C.av_rest(C.int(s.slot), 1)
	for C.av_busy(C.int(s.slot)) != 0 || s.inCallback.Load() { // the latter orders what follows after the callback
		runtime.Gosched()
	}
	s.resting.Store(true)
	if s.stopping.Load() { // stop may have called wake before
		s.wake()
	}
}

func (s *stream) wake() {
	s.resting.Store(false)
	C.av_rest(C.int(s.slot), 0)
}

func (s *stream) rested() int { return int(C.av_rested(C.int(s.slot))) }

// watchdog returns one that watches the stream's callbacks.
func (s *stream) watchdog() *watchdog {
	w := &watchdog{
		callbacks: s.callbacks.Load,
		rested:    func() (int64, bool) { return int64(C.av_frames(C.int(s.slot))), s.resting.Load() },
		overload:  overloaded,
		starting:  s.callbacks.Load() + int64(settled+s.reported/audio.FrameTime),
	}
	if server := s.server; server != nil {
		w.probe = func(ctx context.Context) error {
			_, err := server.request(ctx, cmdGetServerInfo, new(tagWriter))
			return err
		}
	}
	return w
}

// stop returns when no callback runs any more. The callback ends its thread by its
// return value, because PortAudio's abort would cancel the thread anywhere, possibly
// while it holds a lock of the sound server's client. For a lost device stop does not
// wait for the library, which may take until the server is back.
func (s *stream) stop(why error) {
	s.stopping.Store(true)
	s.wake() // a callback must see it
	stop := func() { C.Pa_StopStream(s.pa) }
	var device *audio.DeviceError
	if errors.As(why, &device) {
		library.submit(stop)
	} else {
		library.bounded(endTime, stop)
	}
	for s.inCallback.Load() { // one that had started before
		runtime.Gosched()
	}
	s.render.Store(nil)
}

// avCallback runs on the library's thread, once per frame.
//
//export avCallback
func avCallback(slot C.int, in, out unsafe.Pointer, frames C.ulong, delay C.double, flags C.PaStreamCallbackFlags, rested C.long) C.int {
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
	if !s.process(captured, played, seconds(C.PaTime(delay)), flags&xrun != 0, int(rested)) {
		return C.paAbort
	}
	return C.paContinue
}

// process takes captured audio or fills the next playback buffer, and reports whether
// to continue. It takes no Go lock and does not allocate; the wake-up is a
// non-blocking send. rested is how many frames were played at rest that Rested has not
// returned.
func (s *stream) process(captured, played []int16, delay time.Duration, xrun bool, rested int) bool {
	s.inCallback.Store(true) // before reading stopping; stop does it in the opposite order
	defer s.inCallback.Store(false)
	if s.stopping.Load() {
		return false
	}
	if captured != nil {
		s.edge.captured(captured, &s.ring)
	}
	if render := s.render.Load(); render != nil && played != nil && !s.resting.Load() { // not at rest any more
		s.edge.play(played, *render, min(rested, maxRested))
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
