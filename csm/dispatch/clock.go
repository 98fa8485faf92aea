package dispatch

import (
	"container/heap"
	"sync"
	"time"
)

// Clock is the core's time: how long the process's conversation time has run,
// and calls at a later time.
type Clock interface {
	Now() time.Duration
	// AfterFunc calls f once, d from now, on any goroutine, unless stop is called
	// before. d of zero or less is as soon as possible.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// NewClock is real time since now, Speed times as fast: recordings may be played
// faster than they were spoken, and deadlines keep step with them.
func NewClock(speed float64) Clock {
	return realClock{start: time.Now(), speed: speed}
}

type realClock struct {
	start time.Time
	speed float64
}

func (c realClock) Now() time.Duration {
	return time.Duration(float64(time.Since(c.start)) * c.speed)
}

func (c realClock) AfterFunc(d time.Duration, f func()) func() {
	t := time.AfterFunc(time.Duration(float64(d)/c.speed), f)
	return func() { t.Stop() }
}

// Virtual is a clock that stands still until Advance moves it.
type Virtual struct {
	mu    sync.Mutex
	now   time.Duration
	order uint64
	due   calls
}

type call struct {
	at      time.Duration
	order   uint64 // of two calls at the same time the first that was asked for is first
	f       func()
	stopped bool
}

// Now is the virtual time.
func (v *Virtual) Now() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// AfterFunc registers f for Advance to call.
func (v *Virtual) AfterFunc(d time.Duration, f func()) func() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.order++
	c := &call{at: v.now + max(d, 0), order: v.order, f: f}
	heap.Push(&v.due, c)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		c.stopped = true
	}
}

// Advance moves the time by d. On the way it stops at each call that is due,
// makes it, and has settle carry out everything that came of it, so that effects
// happen at their exact times.
func (v *Virtual) Advance(d time.Duration, settle func()) {
	settle()
	end := v.Now() + d
	for {
		v.mu.Lock()
		if len(v.due) == 0 || v.due[0].at > end {
			v.now = end
			v.mu.Unlock()
			return
		}
		c := heap.Pop(&v.due).(*call)
		v.now = max(v.now, c.at)
		stopped := c.stopped
		v.mu.Unlock()
		if !stopped {
			c.f()
			settle()
		}
	}
}

type calls []*call

func (c calls) Len() int { return len(c) }
func (c calls) Less(i, j int) bool {
	return c[i].at < c[j].at || c[i].at == c[j].at && c[i].order < c[j].order
}
func (c calls) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *calls) Push(x any)   { *c = append(*c, x.(*call)) }
func (c *calls) Pop() any {
	old := *c
	x := old[len(old)-1]
	*c = old[:len(old)-1]
	return x
}
