package engine

import (
	"sync"
	"time"
)

// On a busy machine a child that computes at a lower priority may get a small part of a
// processor, and its answer is late without being lost. So a limit counts what the child could
// do: the time that it has computed, or all time while it does nothing. It is bounded: a child
// that gets next to nothing has mostPatience times the limit.
const (
	patienceStep = time.Second
	mostPatience = 10
	// A child that computes for less than a part of a step does nothing: Go's runtime alone
	// takes a little.
	leastWork = 50
)

// deadline calls late once a child has had its time. It is safe for concurrent use.
type deadline struct {
	work  func() (time.Duration, bool) // how long the child has computed, if that is known
	late  func()
	step  time.Duration
	timer *time.Timer

	mu      sync.Mutex
	left    time.Duration // that the child has
	most    time.Duration // until late, whatever the child does
	before  time.Duration // work at the last step
	known   bool
	stopped bool
}

func newDeadline(limit time.Duration, work func() (time.Duration, bool), late func()) *deadline {
	d := &deadline{work: work, late: late, step: min(limit, patienceStep), left: limit, most: limit * mostPatience}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(d.step, d.tick)
	return d
}

// tick counts a step. A step that this process took too long for counts as one.
func (d *deadline) tick() {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	counts := d.step
	work, known := d.work()
	if done := work - d.before; known && d.known && done >= d.step/leastWork {
		counts = min(done, d.step)
	}
	d.before, d.known = work, known
	d.left -= counts
	d.most -= d.step
	if d.left > 0 && d.most > 0 {
		d.timer.Reset(d.step)
		d.mu.Unlock()
		return
	}
	d.stopped = true
	d.mu.Unlock()
	d.late()
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer.Stop()
}

// deadline calls kill with a reason unless it is stopped in time.
func (c *child) deadline(limit time.Duration, missed string) *deadline {
	return newDeadline(limit, func() (time.Duration, bool) { return workOf(c.cmd.Process) }, func() { c.kill(errTimeout(missed)) })
}
