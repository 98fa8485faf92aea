//go:build cgo

package portaudio

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// stallTime is how long the callbacks may be silent before the device counts
	// as lost.
	stallTime = 500 * time.Millisecond
	// startTime is the same for the first callbacks, until there were settled of
	// them: a sound server first asks for what fills its buffer, and takes up to
	// two seconds to wake a device that it has put to sleep.
	startTime = 4 * time.Second
	settled   = 50
	// minLatency keeps a device from being opened with less buffer than sound
	// servers can serve.
	minLatency = 20 * time.Millisecond
)

// slots are the open streams, by the number that their callback brings. The
// callback finds its stream there without a lock.
var slots [16]atomic.Pointer[stream]

// stream is an open device in one direction.
type stream struct {
	id       string // as the user named it
	dir      direction
	pa       unsafe.Pointer // PaStream; nil when closed
	slot     int
	channels int
	latency  time.Duration
	wakeup   chan struct{} // a callback has come; capacity 1

	callbacks atomic.Int64
	render    atomic.Pointer[func(*audio.Frame)] // playback
	frame     audio.Frame                        // of the callback
	ring      captureRing
}

// open acquires the device that the user means by id.
func open(id string, dir direction) (*stream, error) {
	library.Lock()
	defer library.Unlock()
	if err := acquire(); err != nil {
		return nil, err
	}
	devices, err := list()
	if err != nil {
		_ = release()
		return nil, unavailable(id, err, "check that the sound system works")
	}
	d, err := choose(devices, id, dir)
	if err != nil {
		_ = release()
		return nil, err
	}
	s := &stream{id: id, dir: dir, wakeup: make(chan struct{}, 1)}
	for s.slot < len(slots) && !slots[s.slot].CompareAndSwap(nil, s) {
		s.slot++
	}
	if s.slot == len(slots) {
		_ = release()
		return nil, unavailable(id, errors.New("too many devices are open"), "close one first")
	}
	var pa unsafe.Pointer // not &s.pa: no pointer to Go pointers goes to C
	// Some devices have no mono; the second channel is the same as the first.
	for s.channels = 1; ; s.channels++ {
		captures := C.int(0)
		if dir == capture {
			captures = 1
		}
		code := C.av_open(&pa, C.int(s.slot), C.int(d.index), C.int(s.channels), captures,
			C.double(max(d.latency(dir), minLatency).Seconds()), audio.SampleRate, audio.FrameSamples)
		if code == C.paInvalidChannelCount && s.channels < min(2, d.channels(dir)) {
			continue
		}
		if err := failure(code); err != nil {
			slots[s.slot].Store(nil)
			_ = release()
			return nil, unavailable(id, err, remedyOpen(code))
		}
		break
	}
	s.pa = pa
	if info := C.Pa_GetStreamInfo(s.pa); info != nil {
		s.latency = seconds(info.outputLatency)
	}
	return s, nil
}

func remedyOpen(code C.PaError) string {
	switch code {
	case C.paInvalidSampleRate:
		return "it does not do 48 kHz; choose the device of the sound server (default or pulse), which converts"
	case C.paDeviceUnavailable:
		return "it is in use or gone; close the program that uses it, or choose another one"
	default:
		return "choose another one that agentvoice-daemon devices lists"
	}
}

// close releases the device. It is not called while run runs.
func (s *stream) close() error {
	if s == nil || s.pa == nil {
		return nil
	}
	library.Lock()
	defer library.Unlock()
	err := failure(C.Pa_CloseStream(s.pa))
	s.pa = nil
	slots[s.slot].Store(nil)
	if err := errors.Join(err, release()); err != nil {
		return &audio.DeviceError{Code: "audioFailed", Device: s.id, Err: err, Remedy: "open it again"}
	}
	return nil
}

// run starts the callbacks and calls each after every one that came, until ctx is
// done or they stop coming.
func (s *stream) run(ctx context.Context, each func()) error {
	if s == nil || s.pa == nil {
		return unavailable(Default, errors.New("device is not open"), "open it first")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := failure(C.Pa_StartStream(s.pa)); err != nil {
		return lost(s.id, err, s.dir)
	}
	// Abort returns when no callback runs any more. After a loss it may fail;
	// what matters then is the loss.
	defer C.Pa_AbortStream(s.pa)
	watchdog := time.NewTimer(startTime)
	defer watchdog.Stop()
	begun := s.callbacks.Load()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.wakeup:
			if s.callbacks.Load()-begun >= settled {
				watchdog.Reset(stallTime)
			}
			each()
		case <-watchdog.C:
			return lost(s.id, errStalled, s.dir)
		}
	}
}

// avCallback runs on the library's thread, once for each frame.
//
//export avCallback
func avCallback(slot C.int, in, out unsafe.Pointer, frames C.ulong) {
	s := slots[slot].Load()
	if s == nil {
		return
	}
	n := int(frames) * s.channels
	switch {
	case frames != audio.FrameSamples: // never: streams are opened with this size
		if out != nil {
			clear(unsafe.Slice((*int16)(out), n))
		}
	case in != nil:
		s.captured(unsafe.Slice((*int16)(in), n))
	case out != nil:
		s.play(unsafe.Slice((*int16)(out), n))
	}
	s.callbacks.Add(1)
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

func (s *stream) captured(pcm []int16) {
	for i := range s.frame {
		s.frame[i] = pcm[i*s.channels]
	}
	s.ring.push(&s.frame)
}

func (s *stream) play(pcm []int16) {
	render := s.render.Load()
	if render == nil {
		clear(pcm)
		return
	}
	(*render)(&s.frame)
	for i := range pcm {
		pcm[i] = s.frame[i/s.channels]
	}
}

// captureRing carries frames from the callback to Run without a lock. Where Run
// is too slow, frames are lost, and their positions missing.
type captureRing struct {
	frames [64]struct {
		pos int64
		f   audio.Frame
	}
	head, tail atomic.Int64
	pos        int64 // of the callback: where the next frame begins
}

func (r *captureRing) push(f *audio.Frame) {
	pos := r.pos
	r.pos += audio.FrameSamples
	head := r.head.Load()
	if head-r.tail.Load() == int64(len(r.frames)) {
		return
	}
	slot := &r.frames[head%int64(len(r.frames))]
	slot.pos, slot.f = pos, *f
	r.head.Store(head + 1)
}

// drain delivers what is there.
func (r *captureRing) drain(deliver func(pos int64, f *audio.Frame)) {
	for tail := r.tail.Load(); tail < r.head.Load(); tail++ {
		slot := &r.frames[tail%int64(len(r.frames))]
		deliver(slot.pos, &slot.f)
		r.tail.Store(tail + 1)
	}
}

// Source is a microphone. Open, Run and Close are called one after the other.
type Source struct {
	id string
	s  *stream
}

// NewSource returns the microphone of an id, a name, or Default. Nothing is
// opened yet.
func NewSource(id string) *Source { return &Source{id: id} }

// Open implements audio.Source.
func (s *Source) Open(ctx context.Context) (err error) {
	if err := errors.Join(ctx.Err(), s.Close()); err != nil {
		return err
	}
	s.s, err = open(s.id, capture)
	return err
}

// Run implements audio.Source. A gap in the positions is audio that was lost.
func (s *Source) Run(ctx context.Context, deliver func(pos int64, f *audio.Frame)) error {
	return s.s.run(ctx, func() { s.s.ring.drain(deliver) })
}

// Close implements audio.Source.
func (s *Source) Close() error {
	err := s.s.close()
	s.s = nil
	return err
}

// Sink is a loudspeaker. Open, Run and Close are called one after the other.
type Sink struct {
	id string
	s  *stream
}

// NewSink returns the loudspeaker of an id, a name, or Default. Nothing is opened
// yet.
func NewSink(id string) *Sink { return &Sink{id: id} }

// Open implements audio.Sink.
func (s *Sink) Open(ctx context.Context) (err error) {
	if err := errors.Join(ctx.Err(), s.Close()); err != nil {
		return err
	}
	s.s, err = open(s.id, playback)
	return err
}

// Run implements audio.Sink. render runs on the library's thread.
func (s *Sink) Run(ctx context.Context, render func(f *audio.Frame)) error {
	if s.s != nil {
		s.s.render.Store(&render)
	}
	return s.s.run(ctx, func() {})
}

// Latency implements audio.Sink.
func (s *Sink) Latency() time.Duration {
	if s.s == nil {
		return 0
	}
	return s.s.latency
}

// Close implements audio.Sink.
func (s *Sink) Close() error {
	err := s.s.close()
	s.s = nil
	return err
}

var (
	_ audio.Source = (*Source)(nil)
	_ audio.Sink   = (*Sink)(nil)
)
