package daemon

import (
	"slices"
	"sync"
)

// maxJobs is how many jobs may wait in a Queue: many times what one conversation
// asks of one target.
const maxJobs = 256

// Queue runs functions one after another on a goroutine of its own, so that one
// target's effects keep their order without holding up the loop. It is bounded: what
// can be repeated replaces itself (Latest), and a job that finds the queue full is
// refused, which its owner learns of (a target hangs then, and the conversation has
// to fail).
type Queue struct {
	full func()

	mu     sync.Mutex
	jobs   []job
	told   bool // that the queue is full
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

type job struct {
	key string // "" for one that nothing replaces
	run func()
}

// NewQueue starts a queue. full is called once each time the queue refuses a job, until
// there is room again; it does not block.
func NewQueue(full func()) *Queue {
	q := &Queue{full: full, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// Do queues f. After Close, and while the queue is full, f is refused.
func (q *Queue) Do(f func()) { q.add(job{run: f}) }

// Latest queues f in the place of the job with the same key that waits, if one does:
// only the latest counts.
func (q *Queue) Latest(key string, f func()) { q.add(job{key, f}) }

func (q *Queue) add(j job) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	if i := slices.IndexFunc(q.jobs, func(old job) bool { return j.key != "" && old.key == j.key }); i >= 0 {
		q.jobs[i] = j
		q.mu.Unlock()
		return
	}
	refused := len(q.jobs) >= maxJobs
	tell := refused && !q.told
	q.told = refused
	if !refused {
		q.jobs = append(q.jobs, j)
	}
	q.mu.Unlock()
	if tell {
		q.full()
	}
	q.stir()
}

func (q *Queue) stir() {
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
		f := q.jobs[0].run
		q.jobs[0] = job{}
		q.jobs = q.jobs[1:]
		q.mu.Unlock()
		f()
	}
}

// Close lets what is queued finish, and last what releases the target, and waits for
// that. The last jobs are never refused.
func (q *Queue) Close(last ...func()) {
	q.mu.Lock()
	if !q.closed {
		for _, f := range last {
			q.jobs = append(q.jobs, job{run: f})
		}
	}
	q.closed = true
	q.mu.Unlock()
	q.stir()
	<-q.done
}
