package aec3

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero/api"
)

const (
	// SampleRate is the rate of both streams, in Hz.
	SampleRate = 16000
	// FrameSamples is the length of a frame: 10 ms.
	FrameSamples = SampleRate / 100
)

// Config enables the parts of a Canceller.
type Config struct {
	// EchoCancellation removes the echo of the far end.
	EchoCancellation bool
	// HighPass removes rumble before it.
	HighPass bool
}

// Canceller removes the echo of one far end from one near end. It is not safe for
// concurrent use.
type Canceller struct {
	cfg    Config
	filter filter
	module *module
	in     *instance // nil without echo cancellation, or closed
	failed error     // until Reset

	self, render, capture, renderIn, captureIn, captureOut  uint64 // objects in the memory
	far, near, out                                          []byte // their samples: float32, relative to full scale
	copyIn, copyOut, analyzeRender, analyzeCapture, process api.Function
	normal, dominant                                        gains
	stack                                                   [4]uint64
}

// New returns a Canceller, which must be closed. The first with echo cancellation compiles
// the module, which takes some tenths of a second.
func New(cfg Config) (*Canceller, error) {
	c := &Canceller{cfg: cfg}
	if !cfg.EchoCancellation {
		return c, nil
	}
	var err error
	if c.module, err = compiled(); err != nil {
		return nil, err
	}
	if err = c.start(); err != nil {
		return nil, err
	}
	return c, nil
}

// The names by which the module exports its functions.
const (
	exportConstructors   = "h"
	exportCreate         = "i"
	exportRenderBuffer   = "n"
	exportCaptureBuffer  = "o"
	exportCaptureOut     = "q"
	exportChannels       = "s"
	exportCopyIn         = "v"
	exportCopyOut        = "w"
	exportMakeRender     = "x"
	exportMakeCapture    = "y"
	exportAnalyzeRender  = "z"
	exportAnalyzeCapture = "A"
	exportProcessCapture = "B"
)

// start creates the module's objects in a new memory.
func (c *Canceller) start() error {
	in, err := c.module.instantiate()
	if err != nil {
		return fmt.Errorf("cannot start the echo canceller: %w", err)
	}
	c.in, c.failed = in, nil
	function := func(name string) api.Function {
		f := in.aec3.ExportedFunction(name)
		if f == nil && err == nil {
			err = errMissing
		}
		return f
	}
	call := func(name string, args ...uint64) (result uint64) {
		f := function(name)
		if err != nil {
			return 0
		}
		var results []uint64
		if results, err = f.Call(context.Background(), args...); len(results) > 0 {
			result = results[0]
		}
		return result
	}
	call(exportConstructors)
	c.self = call(exportCreate, SampleRate, 1, 1)
	// Rate and channels of the input, of the canceller and of the output.
	c.renderIn = call(exportMakeRender, c.self, SampleRate, 1, SampleRate, 1, SampleRate, 1)
	c.captureIn = call(exportMakeCapture, c.self, SampleRate, 1, SampleRate, 1, SampleRate, 1)
	c.render, c.capture = call(exportRenderBuffer, c.self), call(exportCaptureBuffer, c.self)
	c.captureOut = call(exportCaptureOut, c.self)
	for _, b := range []struct {
		samples *[]byte
		of      uint64
	}{{&c.far, c.renderIn}, {&c.near, c.captureIn}, {&c.out, c.captureOut}} {
		channels := call(exportChannels, b.of)
		first, ok := in.memory.ReadUint32Le(uint32(channels))
		if *b.samples, _ = in.memory.Read(first, 4*FrameSamples); !ok || len(*b.samples) == 0 {
			err = errors.Join(err, errMissing)
		}
	}
	c.copyIn, c.copyOut = function(exportCopyIn), function(exportCopyOut)
	c.analyzeRender, c.analyzeCapture = function(exportAnalyzeRender), function(exportAnalyzeCapture)
	c.process = function(exportProcessCapture)
	if err == nil {
		err = c.findGains(in.memory)
	}
	if err != nil {
		c.Close()
		return fmt.Errorf("cannot start the echo canceller: %w", err)
	}
	return nil
}

// Latency returns the delay of the near end, in samples.
func (c *Canceller) Latency() int {
	if c.cfg.EchoCancellation {
		return 2 * blockSamples
	}
	return 0
}

// blockSamples is the length of AEC3's blocks: one to collect the samples, one for the
// overlap of the suppressor.
const blockSamples = 64

// Process removes the echo of far from near, in place. Both have FrameSamples samples; a
// nil far end is silence.
func (c *Canceller) Process(far, near []int16) error {
	if c.cfg.HighPass {
		c.filter.process(near[:FrameSamples])
	}
	if !c.cfg.EchoCancellation {
		return nil
	}
	if c.failed == nil {
		c.failed = c.cancel(far, near[:FrameSamples])
	}
	return c.failed
}

// errClosed is returned after Close.
var errClosed = errors.New("the echo canceller is closed")

func (c *Canceller) cancel(far, near []int16) error {
	if c.in == nil {
		return errClosed
	}
	if len(far) >= FrameSamples {
		write(c.far, far)
	} else {
		clear(c.far)
	}
	write(c.near, near)
	// The far end comes first: AEC3 needs it before its echo.
	for _, step := range [...]struct {
		f    api.Function
		args [4]uint64
	}{
		{c.copyIn, [4]uint64{c.render, c.renderIn, SampleRate, 1}},
		{c.analyzeRender, [4]uint64{c.self}},
		{c.copyIn, [4]uint64{c.capture, c.captureIn, SampleRate, 1}},
		{c.analyzeCapture, [4]uint64{c.self}},
		{c.process, [4]uint64{c.self, 0}}, // no change of the echo path's gain
		{c.copyOut, [4]uint64{c.captureOut, c.capture, SampleRate, 1}},
	} {
		c.stack = step.args
		if err := step.f.CallWithStack(context.Background(), c.stack[:]); err != nil {
			return fmt.Errorf("the echo canceller failed: %w", err)
		}
	}
	read(near, c.out)
	return nil
}

// Reset discards the adaptation and the suppression of Suppress.
func (c *Canceller) Reset() error {
	c.filter = filter{}
	if !c.cfg.EchoCancellation {
		return nil
	}
	c.Close()
	return c.start()
}

// Close frees the memory. It is safe to call twice.
func (c *Canceller) Close() {
	if c.in != nil {
		c.in.close()
		c.in = nil
	}
}

func write(dst []byte, samples []int16) {
	for i := range FrameSamples {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(samples[i])/(1<<15)))
	}
}

func read(samples []int16, src []byte) {
	for i := range FrameSamples {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))) * (1 << 15)
		samples[i] = int16(min(max(math.RoundToEven(v), math.MinInt16), math.MaxInt16))
	}
}
