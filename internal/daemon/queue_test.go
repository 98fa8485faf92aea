package daemon

import (
	"slices"
	"testing"
	"testing/synctest"
)

// The queue of a target that hangs is bounded: its owner is notified once, repeatable
// jobs are queued once, and the jobs that release the target still run.
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

// An idle queue runs jobs at once, and ends when it is closed. Jobs after that are
// refused, including last jobs.
func TestQueueThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(func() { t.Error("the queue is full") })
		synctest.Wait()
		ran := ""
		q.Do(func() { ran += "a" })
		synctest.Wait()
		if ran != "a" {
			t.Errorf("ran %q", ran)
		}
		q.Close(func() { ran += "b" }, func() { ran += "c" })
		q.Close(func() { ran += "d" })
		q.Do(func() { ran += "e" })
		q.Latest("k", func() { ran += "f" })
		synctest.Wait()
		if ran != "abc" || len(q.jobs) != 0 {
			t.Errorf("ran %q, %d jobs wait; want abc and none", ran, len(q.jobs))
		}
		idle := NewQueue(func() {})
		synctest.Wait()
		idle.Close()
	})
}

// A queue that had room again reports being full a second time. Only a pending job with
// the same key is replaced.
func TestQueueIsFullAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, ran := 0, 0
		q := NewQueue(func() { full++ })
		for round := 1; round <= 2; round++ {
			hangs := make(chan struct{})
			q.Do(func() { <-hangs })
			synctest.Wait()
			for _, key := range []string{"volume", "mute", "volume"} {
				q.Latest(key, func() { ran++ })
			}
			for range maxJobs {
				q.Do(func() {})
			}
			close(hangs)
			synctest.Wait()
			if full != round || ran != 2*round {
				t.Errorf("round %d: the owner was told %d times, and %d keys were done", round, full, ran)
			}
			q.Do(func() {}) // there is room again
		}
		q.Close()
	})
}
