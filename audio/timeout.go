package audio

import (
	"context"
	"time"
)

// timeoutStep is how often a Timeout wakes once the silence is suspicious.
const timeoutStep = 50 * time.Millisecond

// Timeout measures how long a device or the network has been silent. It waits in steps
// and counts each step's nominal length, however long the step took. So time in which
// this process did not run is not counted as silence of others: the machine was busy or
// suspended, or the process was stopped. While the process runs on time, a Timeout
// expires when a timer would. The zero value is stopped. A Timeout is not safe for
// concurrent use.
type Timeout struct {
	timer *time.Timer
	left  time.Duration // after the pending step
}

// Start begins to measure. The first step lasts quiet: a caller that calls Start again
// within that time, because there is no silence, causes no wake-up.
func (t *Timeout) Start(quiet, limit time.Duration) {
	quiet = min(quiet, limit)
	t.left = limit - quiet
	if t.timer == nil {
		t.timer = time.NewTimer(quiet)
	} else {
		t.timer.Reset(quiet)
	}
}

// C receives at the end of each step; the caller then calls Expired. It is nil before
// the first Start.
func (t *Timeout) C() <-chan time.Time {
	if t.timer == nil {
		return nil
	}
	return t.timer.C
}

// Expired reports whether the limit has passed, and otherwise starts the next step.
func (t *Timeout) Expired() bool {
	if t.left <= 0 {
		return true
	}
	step := min(timeoutStep, t.left)
	t.left -= step
	t.timer.Reset(step)
	return false
}

// Extend raises the limit. After Expired has returned true, the caller calls it again.
func (t *Timeout) Extend(d time.Duration) { t.left += d }

// Stop ends the measurement.
func (t *Timeout) Stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// WithTimeout returns a context that is cancelled after a Timeout of this limit, with
// the cause context.DeadlineExceeded. It has no deadline.
func WithTimeout(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		var t Timeout
		defer t.Stop()
		for t.Start(timeoutStep, limit); ; {
			select {
			case <-ctx.Done():
				return
			case <-t.C():
				if t.Expired() {
					cancel(context.DeadlineExceeded)
					return
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
