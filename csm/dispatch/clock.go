package dispatch

import (
	"cmp"
	"slices"
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
	mu  sync.Mutex
	now time.Duration
	due []*call // in the order in which they were asked for
}

type call struct {
	at time.Duration
	f  func()
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
	c := &call{at: v.now + max(d, 0), f: f}
	v.due = append(v.due, c)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.drop(c)
	}
}

func (v *Virtual) drop(c *call) {
	v.due = slices.DeleteFunc(v.due, func(o *call) bool { return o == c })
}

// Advance moves the time by d. On the way it stops at each call that is due,
// makes it, and has settle carry out everything that came of it, so that effects
// happen at their exact times.
func (v *Virtual) Advance(d time.Duration, settle func()) {
	settle()
	end := v.Now() + d
	for {
		c := v.take(end)
		if c == nil {
			return
		}
		c.f()
		settle()
	}
}

// take moves the time to the next call, nil where none is due by end.
func (v *Virtual) take(end time.Duration) *call {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.due) > 0 {
		c := slices.MinFunc(v.due, func(a, b *call) int { return cmp.Compare(a.at, b.at) })
		if c.at <= end {
			v.drop(c)
			v.now = max(v.now, c.at)
			return c
		}
	}
	v.now = end
	return nil
}
