package dispatch

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Clock is the core's time since the start of the process, with calls at later times.
type Clock interface {
	Now() time.Duration
	// AfterFunc calls f once after d, on any goroutine, unless stop is called first. If d
	// is not positive, it calls f as soon as possible.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// NewClock returns the real time since now, multiplied by speed: recordings may be played
// faster than real time, and deadlines keep pace.
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

// Virtual is a clock that only Advance moves.
type Virtual struct {
	mu  sync.Mutex
	now time.Duration
	due []*call // in order of registration
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

// Advance moves the time by d. It stops at each due call, makes it, and calls settle to
// process the consequences, so that effects happen at their exact times.
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

// take moves the time to the next call, nil if none is due by end.
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
