package daemon

import "sync"

// queue runs functions one after another on a goroutine of its own, so that one
// target's effects keep their order without holding up the loop.
type queue struct {
	mu     sync.Mutex
	jobs   []func()
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

func newQueue() *queue {
	q := &queue{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// do queues f. After close it is dropped.
func (q *queue) do(f func()) {
	q.mu.Lock()
	if !q.closed {
		q.jobs = append(q.jobs, f)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) run() {
	defer close(q.done)
	for {
		q.mu.Lock()
		if len(q.jobs) == 0 {
			closed := q.closed
			q.mu.Unlock()
			if closed {
				return
			}
			<-q.wake
			continue
		}
		f := q.jobs[0]
		q.jobs = q.jobs[1:]
		q.mu.Unlock()
		f()
	}
}

// close lets what is queued finish and waits for it.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	<-q.done
}
