package dsp

import "github.com/agentvoice/agentvoice-daemon/audio"

// The processing runs at 16 kHz: there the canceller preserves more of a user who
// speaks over an echo than at 48 kHz, and detectors and recognizers ignore content
// above 8 kHz.
const (
	rate         = 16000
	frameSamples = rate / 100
)

// apm is one instance of WebRTC's audio processing: the native library's, or AEC3 of
// package aec3. It is not safe for concurrent use.
type apm interface {
	// Process processes near in place. near and far have frameSamples samples; far is nil
	// for an instance without echo cancellation.
	Process(far, near []int16) error
	// Suppress sets the echo suppression level of apmConfig.
	Suppress(level int) error
	// Reset discards the adaptation.
	Reset() error
	// Latency returns the delay of echo cancellation, in samples.
	Latency() int
	Close()
}

// apmConfig configures an apm.
type apmConfig struct {
	echo     int // suppression: low, moderate or high; off when negative
	extended bool
	agnostic bool
	noise    int // 0 low to 3 very high; off when negative
	highPass bool
	gain     bool
}

// converter changes the rate of a stream frame by frame. Each input frame yields one
// output frame, with a constant delay.
type converter struct {
	resampler *audio.Resampler
	delay     int // samples of the output
	out       []int16
	n         int // samples of a frame of the output
}

func newConverter(from, to int) (*converter, error) {
	r, err := audio.NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	c := &converter{resampler: r, n: to / 100}
	// The samples missing from the first frame are the resampler's delay.
	first := len(r.Process(nil, make([]int16, from/100)))
	c.delay = c.n - first
	c.out = make([]int16, 0, 3*c.n)
	c.reset()
	return c, nil
}

func (c *converter) reset() {
	c.resampler.Reset()
	c.out = c.out[:c.delay]
	clear(c.out)
}

// process converts a frame into dst, which has the length of an output frame.
func (c *converter) process(dst, frame []int16) {
	c.out = c.resampler.Process(c.out, frame)
	copy(dst, c.out[:c.n])
	c.out = c.out[:copy(c.out, c.out[c.n:])]
}
