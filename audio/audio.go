package audio

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The one format of the media path: mono, 16-bit signed, 48 kHz, in frames of
// 10 ms. Other rates and channel counts are converted at the edge.
const (
	SampleRate   = 48000
	FrameSamples = SampleRate / 100
	FrameTime    = 10 * time.Millisecond
)

// Frame is 10 ms of mono audio at SampleRate. It is passed by pointer and
// reused: a callee that keeps samples copies them.
type Frame [FrameSamples]int16

// Samples converts a duration to samples at SampleRate, rounded down.
func Samples(d time.Duration) int64 { return int64(d) * SampleRate / int64(time.Second) }

// Duration converts samples at SampleRate to time.
func Duration(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / SampleRate
}

// Source delivers captured audio: a microphone or a recording.
type Source interface {
	// Open acquires the device, and fails with a *DeviceError when it cannot.
	Open(ctx context.Context) error
	// Run delivers frames in order until ctx is done (it then returns
	// ctx.Err()), the material ends (nil) or the device is lost (a
	// *DeviceError). pos is the position of the frame's first sample since
	// Open. deliver runs on Run's goroutine and does not block.
	Run(ctx context.Context, deliver func(pos int64, f *Frame)) error
	// Close releases the device. It is safe to call twice.
	Close() error
}

// Sink plays audio: a loudspeaker, a recording or nothing.
type Sink interface {
	// Open acquires the device, and fails with a *DeviceError when it cannot.
	Open(ctx context.Context) error
	// Run asks render for one frame every 10 ms of the device's time until ctx
	// is done (it then returns ctx.Err()) or the device is lost (a
	// *DeviceError). render fills the whole frame, takes no lock and
	// allocates nothing.
	Run(ctx context.Context, render func(f *Frame)) error
	// Latency is the time between render and the loudspeaker, as the device
	// reports it.
	Latency() time.Duration
	// Close releases the device. It is safe to call twice.
	Close() error
}

// DeviceError says which device failed, how, and what to do about it.
type DeviceError struct {
	Code   string // deviceUnavailable, deviceLost, microphoneDenied or audioFailed
	Device string // as the user named it
	Err    error
	Remedy string // one sentence, what to do
}

// Error is one line: device, failure, remedy.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("audio device %q: %v; %s", e.Device, e.Err, e.Remedy)
}

func (e *DeviceError) Unwrap() error { return e.Err }

// ErrReselected is what Run returns after Select: the device is to be closed,
// opened and run again, and is then the other one. Nothing is lost.
var ErrReselected = errors.New("another audio device was chosen")

// Selector is a Source or Sink that can be pointed at another device while it
// runs.
type Selector interface {
	// Select names the device that the next Open acquires, and has a Run that
	// runs return ErrReselected. Any goroutine may call it. To select what is
	// selected changes nothing.
	Select(id string)
}

// Recording is a Source whose material was recorded. It waits for nobody, so a
// conversation starts to Run it when it listens, and not when it opens it.
type Recording interface {
	Source
	Recorded()
}

// Timed is a Source or Sink that knows its delay.
type Timed interface {
	// Timing is of the device that is open, or zero. Any goroutine may call it.
	Timing() Timing
}

// Timing is the delay of a device and how well it keeps up, since Open.
type Timing struct {
	// Reported is the delay between the air and Run, or Run and the air, as the
	// device claimed when it was opened.
	Reported time.Duration
	// Measured is the same as the device tells with each callback, smoothed; 0
	// where it does not.
	Measured  time.Duration
	Callbacks int64 // that there were
	Xruns     int64 // callbacks before which the device says that it lost samples
	Lost      int64 // captured frames that were lost since deliver was too slow
}
