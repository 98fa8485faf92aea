package live

import (
	"context"
	"errors"
	"sync"
	"time"
)

// napAfter is how long the conversation is suspended, and nothing sounds, when the
// devices are closed until it resumes. A shorter suspension is over sooner than a
// device is open again.
const napAfter = 2 * time.Second

// errNap is why a device stopped that naps.
var errNap = errors.New("the conversation is suspended")

// nap closes a device while it is not needed. Its methods are safe for concurrent use.
type nap struct {
	mu      sync.Mutex
	allowed bool // the conversation is suspended
	asleep  bool
	timer   *time.Timer
	changed chan struct{} // closed with the next change of asleep
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

// set needs mu.
func (n *nap) set(asleep bool) {
	if n.asleep != asleep {
		n.asleep = asleep
		close(n.changed)
		n.changed = make(chan struct{})
	}
}

// allow says whether the device may nap from now on.
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

// rouse needs mu.
func (n *nap) rouse() {
	n.set(false)
	n.timer.Stop()
	if n.allowed {
		n.timer.Reset(napAfter)
	}
}

// awake is a context that ends with ctx, or with the cause errNap when the device is to
// nap. stop frees it.
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

// over waits until the device is to be awake, and says whether ctx lasted so long.
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
