package live

import (
	"context"
	"errors"
	"sync"
	"time"
)

// napAfter is how long the conversation must be suspended, with no audio playing,
// before the devices are closed until it resumes. A shorter suspension would end sooner
// than a device can be reopened.
const napAfter = 2 * time.Second

// errNap is the cause when a device stops to nap.
var errNap = errors.New("the conversation is suspended")

// nap closes a device while it is not needed. Its methods are safe for concurrent use.
type nap struct {
	mu      sync.Mutex
	allowed bool // the conversation is suspended
	asleep  bool
	timer   *time.Timer
	changed chan struct{} // closed when asleep next changes
}

func newNap() *nap {
	n := &nap{changed: make(chan struct{})}
	n.timer = time.AfterFunc(time.Hour, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.allowed {
			n.set(true)
		}
	})
	n.timer.Stop()
	return n
}

// set changes asleep. The caller holds mu.
func (n *nap) set(asleep bool) {
	if n.asleep != asleep {
		n.asleep = asleep
		close(n.changed)
		n.changed = make(chan struct{})
	}
}

// allow sets whether the device may nap.
func (n *nap) allow(allowed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.allowed = allowed
	n.rouse()
}

// wake wakes the device for a while.
func (n *nap) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rouse()
}

// rouse wakes the device. The caller holds mu.
func (n *nap) rouse() {
	n.set(false)
	n.timer.Stop()
	if n.allowed {
		n.timer.Reset(napAfter)
	}
}

// awake returns a context that ends with ctx, or with the cause errNap when the device
// should nap. stop releases it.
func (n *nap) awake(ctx context.Context) (awake context.Context, stop func()) {
	n.mu.Lock()
	asleep, changed := n.asleep, n.changed
	n.mu.Unlock()
	awake, cancel := context.WithCancelCause(ctx)
	if asleep {
		cancel(errNap)
		return awake, func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-changed: // from awake to asleep
			cancel(errNap)
		case <-awake.Done():
		}
	}()
	return awake, func() { cancel(nil); <-done }
}

// over waits until the device should be awake. It returns false if ctx is done first.
func (n *nap) over(ctx context.Context) bool {
	for {
		n.mu.Lock()
		asleep, changed := n.asleep, n.changed
		n.mu.Unlock()
		if !asleep {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
