package dsp

import (
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// When a change of latency is followed. Devices that measure their latency differ a
// little with each callback, which the canceller's filter spans; a headset that
// changes its profile, or a stream that the sound server moves, differs by more and
// for good.
const (
	latencyStep   = 40 * time.Millisecond
	latencyFrames = 30 // captured frames for which the latency differs before it counts
)

// DelayReporter reports the delay of a conversation's devices to its Processor: when
// either is opened, and when the latency that either claims changes. Next belongs to
// the capturing goroutine, Opened to any.
type DelayReporter struct {
	proc   *Processor
	source audio.Source
	sink   audio.Sink
	opened atomic.Bool // since the last Next

	told   time.Duration // of both
	differ int           // frames in a row at which it was another
}

// NewDelayReporter reports the delay of a source and a sink that are open.
func NewDelayReporter(p *Processor, source audio.Source, sink audio.Sink) *DelayReporter {
	r := &DelayReporter{proc: p, source: source, sink: sink}
	r.report()
	return r
}

// Opened says that a device was opened again, maybe another one: what it claims is
// reported with the next frame.
func (r *DelayReporter) Opened() { r.opened.Store(true) }

// Next is called once for each captured frame, before it is processed. It allocates
// nothing.
func (r *DelayReporter) Next() {
	if r.opened.Swap(false) {
		r.report()
		return
	}
	if (r.now() - r.told).Abs() < latencyStep {
		r.differ = 0
		return
	}
	if r.differ++; r.differ >= latencyFrames {
		r.report()
	}
}

// Tail is EchoTail of the delay that was reported last. It belongs to the capturing
// goroutine.
func (r *DelayReporter) Tail() time.Duration { return EchoTail(r.told) }

func (r *DelayReporter) now() time.Duration { return r.sink.Latency() + captureLatency(r.source) }

func (r *DelayReporter) report() {
	render, capture := r.sink.Latency(), captureLatency(r.source)
	r.told, r.differ = render+capture, 0
	r.proc.SetDelay(render, capture)
}

// captureLatency is what a source claims. What one measures with each callback
// counts where it is far from what it claimed when it was opened: a sound server is
// off by some milliseconds while it guesses at its own clock.
func captureLatency(s audio.Source) time.Duration {
	timed, ok := s.(audio.Timed)
	if !ok {
		return 0
	}
	t := timed.Timing()
	if t.Measured > 0 && (t.Measured-t.Reported).Abs() >= latencyStep {
		return t.Measured
	}
	return t.Reported
}
