package daemon

import (
	"slices"
	"sync"
)

// maxJobs limits the jobs in a Queue. One conversation needs far fewer per target.
const maxJobs = 256

// Queue runs functions in order on its own goroutine, so that the effects on one target
// keep their order without blocking the loop. It is bounded: Latest replaces repeatable
// jobs, and a full queue refuses further jobs and reports that to its owner. A full
// queue means that the target hangs, so the owner must fail the conversation.
type Queue struct {
	full func()

	mu     sync.Mutex
	jobs   []job
	told   bool // full has been called
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

type job struct {
	key string // "" if no other job replaces it
	run func()
}

// NewQueue starts a queue. full is called once when the queue starts to refuse jobs,
// and again only after there was room. It must not block.
func NewQueue(full func()) *Queue {
	q := &Queue{full: full, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// Do queues f. It is refused after Close and while the queue is full.
func (q *Queue) Do(f func()) { q.add(job{run: f}) }

// Latest queues f in place of the pending job with the same key, if there is one.
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

// Close runs the queued jobs and then last, which releases the target, and waits for
// them. The queue never refuses the last jobs.
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
