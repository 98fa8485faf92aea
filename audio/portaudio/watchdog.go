package portaudio

import (
	"context"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The times of a watchdog count only while this process runs on time (audio.Timeout):
// where its own timers are late, so are the device's callbacks.
const (
	// stallTime is how long callbacks may be missing before the device counts as lost.
	// Including the delays of the timer and of Run, that is less than half a second.
	stallTime = 450 * time.Millisecond
	// suspectTime is when the device's sound server is probed; it has the rest of
	// stallTime to answer. If it answers, the device is only busy, for example because
	// the server is switching devices, and has patience in total.
	suspectTime = 250 * time.Millisecond
	patience    = 1500 * time.Millisecond
	// busyTime is how long callbacks may be missing, and the server's answer, on an overloaded
	// machine: the threads that make them may be waiting for a processor, even if this process
	// runs on time. A server that ends is noticed at once.
	busyTime = 5 * time.Second
	// startTime applies while the device starts: a sound server first fills its buffer,
	// and takes up to two seconds to wake a suspended device.
	startTime = 4 * time.Second
	// settled is how many callbacks beyond its buffer a device makes while it starts.
	settled = 20
)

// watchdog detects that a device's callbacks have stopped.
type watchdog struct {
	callbacks func() int64                // made so far
	rested    func() (n int64, rest bool) // frames started, also at rest; whether the device rests
	probe     func(context.Context) error // asks the sound server for an answer; nil without one
	overload  func() bool                 // whether the machine is overloaded
	starting  int64                       // callback count at which the device has started

	timeout audio.Timeout
	seen    int64 // callbacks at the last reset
	frames  int64 // at the last step
	probing context.CancelFunc
	answer  chan error    // the server's answer while it is probed, else nil
	silent  bool          // it has not answered
	limit   time.Duration // of the timeout
}

// start begins to watch a device that starts.
func (w *watchdog) start() {
	w.seen = w.callbacks()
	w.startTimeout(startTime)
}

// reset restarts the timeout after a callback.
func (w *watchdog) reset() {
	w.stopProbe()
	if w.seen = w.callbacks(); w.seen > w.starting {
		w.startTimeout(stallTime)
	}
}

func (w *watchdog) startTimeout(limit time.Duration) {
	w.limit = limit
	w.timeout.Start(suspectTime, limit)
}

// allow extends the timeout to a limit.
func (w *watchdog) allow(limit time.Duration) {
	if limit > w.limit {
		w.timeout.Extend(limit - w.limit)
		w.limit = limit
	}
}

// step handles the end of a step of the timeout. It returns an error if the device is
// lost.
func (w *watchdog) step() error {
	if n, resting := w.rested(); resting && n != w.frames {
		w.frames = n
		w.reset()
		return nil
	}
	select {
	case err := <-w.answer: // Run is late
		if err := w.answered(err); err != nil {
			return err
		}
	default:
	}
	expired := w.timeout.Expired()
	if expired && w.limit < busyTime && w.overload() {
		w.allow(busyTime)
		expired = w.timeout.Expired()
	}
	switch starting := w.callbacks() <= w.starting; {
	case w.callbacks() != w.seen && !starting: // Run is late
		w.reset()
	case expired && w.silent:
		return errNoAnswer
	case expired:
		return errStalled
	case w.probe != nil && w.probing == nil && !starting:
		w.ask()
	}
	return nil
}

// ask probes the sound server.
func (w *watchdog) ask() {
	var ctx context.Context
	ctx, w.probing = context.WithCancel(context.Background())
	answer := make(chan error, 1)
	w.answer, w.silent = answer, true
	go func() { answer <- w.probe(ctx) }()
}

// answered handles the server's answer. It returns an error if the device is lost.
func (w *watchdog) answered(err error) error {
	w.answer, w.silent = nil, false
	if err == nil {
		w.allow(patience)
	}
	return err
}

func (w *watchdog) stopProbe() {
	if w.probing != nil {
		w.probing()
	}
	w.probing, w.answer, w.silent = nil, nil, false
}

func (w *watchdog) stop() {
	w.stopProbe()
	w.timeout.Stop()
}
