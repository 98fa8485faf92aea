package dsp

import (
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Which changes of latency take effect. Measured latencies jitter a little with each
// callback, which the canceller's filter absorbs. A headset that changes its profile,
// or a stream that the sound server moves, changes more, and permanently.
const (
	latencyStep   = 40 * time.Millisecond
	latencyFrames = 30 // captured frames for which a change must last
)

// DelayReporter reports the delay of a conversation's devices to its Processor: when
// either is opened, and when the latency that either reports changes. Next belongs to
// the capturing goroutine; Opened is safe for concurrent use.
type DelayReporter struct {
	proc   *Processor
	source audio.Source
	sink   audio.Sink
	opened atomic.Bool // since the last Next

	told   time.Duration // last reported sum
	differ int           // consecutive frames with a different sum
}

// NewDelayReporter returns a reporter for an open source and sink, and reports their delay.
func NewDelayReporter(p *Processor, source audio.Source, sink audio.Sink) *DelayReporter {
	r := &DelayReporter{proc: p, source: source, sink: sink}
	r.report()
	return r
}

// Opened records that a device was opened again, possibly a different one. Its
// latency is reported with the next frame.
func (r *DelayReporter) Opened() { r.opened.Store(true) }

// Next must be called for each captured frame before it is processed. It does not
// allocate.
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

// Tail returns EchoTail of the last reported delay. Only the capturing goroutine may
// call it.
func (r *DelayReporter) Tail() time.Duration { return EchoTail(r.told) }

func (r *DelayReporter) now() time.Duration { return r.sink.Latency() + captureLatency(r.source) }

func (r *DelayReporter) report() {
	render, capture := r.sink.Latency(), captureLatency(r.source)
	r.told, r.differ = render+capture, 0
	r.proc.SetDelay(render, capture)
}

// captureLatency returns the latency of a source. The measured latency takes precedence
// only where it is far from the one reported at opening, because a sound server's
// measurement is off by some milliseconds until it has estimated its clock.
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
