//go:build cgo

package live

import (
	"context"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

// talkClock is the clock of a conversation under test. It follows the real time, except
// that it drops ticks for which the machine was late, so that no deadline passes while the
// process waits for a processor. A test can hold it and then move it itself.
type talkClock struct {
	dispatch.Virtual
	mu   sync.Mutex // held while the clock moves
	held bool
}

// run moves the clock until ctx is done, speed times as fast as the real time.
func (c *talkClock) run(ctx context.Context, speed float64) {
	const tick = 5 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		c.mu.Lock()
		if !c.held {
			c.advance(time.Duration(speed * float64(tick)))
		}
		c.mu.Unlock()
	}
}

// hold stops the clock. From now on only pass moves it.
func (c *talkClock) hold() { c.set(true) }

// release lets the clock follow the real time again.
func (c *talkClock) release() { c.set(false) }

func (c *talkClock) set(held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
}

// pass moves a held clock. A deadline of the last published state is set by then, because
// the core sets deadlines before it publishes.
func (c *talkClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(d)
}

func (c *talkClock) advance(d time.Duration) { c.Advance(d, func() {}) }

// left returns how long it is to a deadline of the core.
func (tk *talk) left(timer csm.Timer) time.Duration {
	tk.t.Helper()
	deadline := tk.d.State().Timers[timer]
	if !deadline.Armed {
		tk.t.Fatalf("%v has no deadline", timer)
	}
	return deadline.At - tk.clock.Now()
}
