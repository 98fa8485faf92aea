package audio

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The media path has one format: mono, 16-bit signed, 48 kHz, in 10 ms frames.
// Adapters convert other rates and channel counts at the edge.
const (
	SampleRate   = 48000
	FrameSamples = SampleRate / 100
	FrameTime    = 10 * time.Millisecond
)

// Frame is 10 ms of mono audio at SampleRate. Frames are passed by pointer and
// reused, so a callee that keeps samples must copy them.
type Frame [FrameSamples]int16

// AppendWiped appends samples to what is kept of a voice. Unlike append, it leaves no copy
// behind: the array that it replaces is wiped.
func AppendWiped(kept, pcm []int16) []int16 {
	if n := len(kept) + len(pcm); n > cap(kept) {
		grown := make([]int16, len(kept), 2*n)
		copy(grown, kept)
		clear(kept)
		kept = grown
	}
	return append(kept, pcm...)
}

// Samples converts a duration to samples at SampleRate, rounded down.
func Samples(d time.Duration) int64 { return int64(d) * SampleRate / int64(time.Second) }

// Duration converts samples at SampleRate to time.
func Duration(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / SampleRate
}

// Source delivers captured audio: a microphone or a recording.
type Source interface {
	// Open acquires the device, or fails with a *DeviceError.
	Open(ctx context.Context) error
	// Run delivers frames in order until ctx is done (it returns ctx.Err()), the
	// recording ends (nil) or the device is lost (a *DeviceError). pos is the
	// position of the frame's first sample since Open. deliver runs on Run's
	// goroutine and must not block.
	Run(ctx context.Context, deliver func(pos int64, f *Frame)) error
	// Close releases the device. It is safe to call twice.
	Close() error
}

// Sink plays audio: a speaker, a recording or a discarding sink.
type Sink interface {
	// Open acquires the device, or fails with a *DeviceError.
	Open(ctx context.Context) error
	// Run calls render for one frame every 10 ms of device time until ctx is done
	// (it returns ctx.Err()) or the device is lost (a *DeviceError). render fills
	// the whole frame, takes no lock and does not allocate.
	Run(ctx context.Context, render func(f *Frame)) error
	// Latency returns the delay between render and the speaker, as reported by
	// the device.
	Latency() time.Duration
	// Close releases the device. It is safe to call twice.
	Close() error
}

// Rester is a Sink that can play silence by itself. Calling Go from a device's thread
// wakes its runtime a hundred times a second, which costs more than listening does. All
// methods are safe for concurrent use, and no-ops while nothing runs the sink.
type Rester interface {
	// Rest makes the device play silence without render. It returns when no render
	// is in progress.
	Rest()
	// Wake ends a rest with the next frame. The device first calls render for each
	// frame of the rest that Rested has not returned, and discards the audio.
	Wake()
	// Rested returns how many frames the device has played at rest since the last
	// call. The caller renders as many, so that the count of rendered frames stays
	// true. It returns 0 after Wake.
	Rested() int
}

// DeviceError says which device failed, how, and what to do about it.
type DeviceError struct {
	Code   string // deviceUnavailable, deviceLost, microphoneDenied or audioFailed
	Device string // the name that the user configured
	Err    error
	Remedy string // what to do, in one sentence
}

// Error returns one line: device, failure, remedy.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("audio device %q: %v; %s", e.Device, e.Err, e.Remedy)
}

func (e *DeviceError) Unwrap() error { return e.Err }

// ErrReselected is returned by Run after Select. The caller closes, opens and runs
// the device again, which then uses the new selection.
var ErrReselected = errors.New("another audio device was chosen")

// Selector is a Source or Sink whose device can be changed while it runs.
type Selector interface {
	// Select sets the device that the next Open acquires, and makes an active Run
	// return ErrReselected. It is safe for concurrent use. Selecting the current
	// device is a no-op.
	Select(id string)
}

// Microphone is a Source that hears a room. Unlike a recording it has noise: it delivers only
// zeros for long if it is muted, or if the system keeps it from this program.
type Microphone interface {
	Source
	// Muted reports whether the system's sound settings mute it, where the system tells. It
	// is safe for concurrent use.
	Muted() bool
}

// Recording is a Source that plays recorded material. Its audio does not wait for
// the conversation, so Run starts when the conversation begins to listen rather
// than right after Open.
type Recording interface {
	Source
	Recorded()
}

// Timed is a Source or Sink that reports its delay.
type Timed interface {
	// Timing returns the figures of the open device, or zero. It is safe for concurrent use.
	Timing() Timing
}

// Timing is the delay of a device and its losses since Open.
type Timing struct {
	// Reported is the delay between the air and Run (in either direction), as
	// declared by the device when it was opened.
	Reported time.Duration
	// Measured is the same delay as reported by each callback, smoothed; 0 if the
	// device does not report it.
	Measured  time.Duration
	Callbacks int64
	Xruns     int64 // callbacks for which the device reported an xrun
	Lost      int64 // captured frames dropped because deliver was too slow
}
