package portaudio

import (
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// maxBuffer is the largest part of one channel that is processed at once: 10 ms at
// 192 kHz. Larger buffers are split.
const maxBuffer = 192000 / 100

// converter converts between a device's rate and channels and the format of package
// audio. It preallocates everything that the callback uses.
type converter struct {
	channels int
	resample *audio.Resampler // nil at 48 kHz
	frame    audio.Frame
	mono     [maxBuffer]int16
	rest     []int16 // converted but not consumed yet
}

// newConverter returns a converter for a device's rate, in Hz, and number of
// interleaved channels.
func newConverter(dir direction, rate, channels int) (*converter, error) {
	c := &converter{channels: channels, rest: make([]int16, 0, 8*maxBuffer)}
	if rate == audio.SampleRate {
		return c, nil
	}
	from, to := rate, audio.SampleRate
	if dir == playback {
		from, to = to, from
	}
	var err error
	c.resample, err = audio.NewResampler(from, to)
	return c, err
}

// captured converts captured audio and puts full frames into a ring. It averages the
// channels, so that it does not matter which of them has the voice.
func (c *converter) captured(pcm []int16, ring *captureRing) {
	for len(pcm) > 0 {
		n := min(len(pcm)/c.channels, maxBuffer)
		if n == 0 {
			return
		}
		mono := c.mono[:n]
		for i := range mono {
			sum := 0
			for _, s := range pcm[i*c.channels : (i+1)*c.channels] {
				sum += int(s)
			}
			mono[i] = int16(sum / c.channels)
		}
		pcm = pcm[n*c.channels:]
		if c.resample == nil {
			c.rest = append(c.rest, mono...)
		} else {
			c.rest = c.resample.Process(c.rest, mono)
		}
		for len(c.rest) >= audio.FrameSamples {
			c.rest = c.rest[:copy(c.rest, c.rest[copy(c.frame[:], c.rest):])]
			ring.push(&c.frame)
		}
	}
}

// maxRested bounds the frames of a rest that are rendered in one callback.
const maxRested = 50

// play fills the device's next buffer, with the same audio in each channel. Before, it
// renders and discards the given number of frames.
func (c *converter) play(pcm []int16, render func(*audio.Frame), rested int) {
	for range rested {
		render(&c.frame)
	}
	for len(pcm) > 0 {
		n := min(len(pcm)/c.channels, maxBuffer)
		if n == 0 {
			clear(pcm)
			return
		}
		for len(c.rest) < n {
			render(&c.frame)
			if c.resample == nil {
				c.rest = append(c.rest, c.frame[:]...)
			} else {
				c.rest = c.resample.Process(c.rest, c.frame[:])
			}
		}
		for i, s := range c.rest[:n] {
			for ch := range c.channels {
				pcm[i*c.channels+ch] = s
			}
		}
		c.rest = c.rest[:copy(c.rest, c.rest[n:])]
		pcm = pcm[n*c.channels:]
	}
}

// captureRing carries frames from the callback to Run without a lock. If Run is too
// slow, frames are dropped and leave a gap in the positions.
type captureRing struct {
	frames [64]struct {
		pos int64
		f   audio.Frame
	}
	head, tail atomic.Int64
	lost       atomic.Int64
	pos        int64 // position of the next frame; used by the callback only
}

func (r *captureRing) push(f *audio.Frame) {
	pos := r.pos
	r.pos += audio.FrameSamples
	head := r.head.Load()
	if head-r.tail.Load() == int64(len(r.frames)) {
		r.lost.Add(1)
		return
	}
	slot := &r.frames[head%int64(len(r.frames))]
	slot.pos, slot.f = pos, *f
	r.head.Store(head + 1)
}

// drain delivers the queued frames.
func (r *captureRing) drain(deliver func(pos int64, f *audio.Frame)) {
	for tail := r.tail.Load(); tail < r.head.Load(); tail++ {
		slot := &r.frames[tail%int64(len(r.frames))]
		deliver(slot.pos, &slot.f)
		r.tail.Store(tail + 1)
	}
}
