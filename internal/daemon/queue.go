package daemon

import "sync"

// Queue runs functions one after another on a goroutine of its own, so that one
// target's effects keep their order without holding up the loop.
type Queue struct {
	mu     sync.Mutex
	jobs   []func()
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

// NewQueue starts a queue.
func NewQueue() *Queue {
	q := &Queue{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// Do queues f. After Close it is dropped.
func (q *Queue) Do(f func()) {
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

func (q *Queue) run() {
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

// Close lets what is queued finish and waits for it.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	<-q.done
}
