package daemon

import (
	"slices"
	"testing"
)

// A queue whose target hangs is bounded: its owner is told once, what can be repeated
// is there once, and what releases the target is done all the same.
func TestQueueIsBounded(t *testing.T) {
	full := 0
	q := NewQueue(func() { full++ })
	hangs, begun := make(chan struct{}), make(chan struct{})
	q.Do(func() { close(begun); <-hangs })
	<-begun
	var ran []int
	for i := range 3 * maxJobs {
		q.Do(func() { ran = append(ran, i) })
	}
	if full != 1 {
		t.Errorf("the owner was told %d times that the queue is full", full)
	}
	if q.mu.Lock(); len(q.jobs) != maxJobs {
		t.Errorf("%d jobs wait, over %d", len(q.jobs), maxJobs)
	}
	q.mu.Unlock()
	released := false
	close(hangs)
	q.Close(func() { released = true })
	if len(ran) != maxJobs || !slices.IsSorted(ran) || !released {
		t.Errorf("%d jobs ran; the target was released: %v", len(ran), released)
	}
}

func TestQueueReplacesWhatIsRepeated(t *testing.T) {
	q := NewQueue(func() { t.Error("the queue is full") })
	hangs, begun := make(chan struct{}), make(chan struct{})
	q.Do(func() { close(begun); <-hangs })
	<-begun
	var ran []int
	for i := range 3 * maxJobs {
		q.Latest("volume", func() { ran = append(ran, i) })
	}
	q.Do(func() { ran = append(ran, -1) })
	close(hangs)
	q.Close()
	if !slices.Equal(ran, []int{3*maxJobs - 1, -1}) {
		t.Errorf("what ran is %v", ran)
	}
}
