package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Timeouts of the child.
const (
	loadTimeout = 2 * time.Minute // to load the models of a worker, even from a slow disk
	stopTimeout = 2 * time.Second // to exit after its input has ended
	// ReplyTimeout is how long a child may take to reply, and to accept the next frame, as
	// deadline counts it.
	ReplyTimeout = 30 * time.Second
)

// Backoff before loading the models of an engine again after consecutive failures. The
// first failure has no delay.
const (
	firstDelay = 250 * time.Millisecond
	maxDelay   = 30 * time.Second
)

// Config configures how a child is started.
type Config struct {
	// Command returns the child's command: a program that calls Serve with args.
	Command func(args ...string) *exec.Cmd
	Options
}

// Process is a child process. It starts with the first user of its engines and stops with
// the last one. It is safe for concurrent use.
type Process struct {
	cfg     Config
	engines []*Engine // by worker
	now     func() time.Time

	mu    sync.Mutex // also guards the engines
	users int
	child *child // nil if not started or stopped
}

// NewProcess creates a Process without engines.
func NewProcess(cfg Config) *Process { return &Process{cfg: cfg, now: time.Now} }

// Engine adds a worker with one or two models to the process. All engines are added before
// the first is used.
func (p *Process) Engine(models ...Model) *Engine {
	e := &Engine{process: p, worker: len(p.engines), models: models, measured: func(time.Duration) {}}
	p.engines = append(p.engines, e)
	return e
}

// args are the arguments of the child, which Serve parses.
func (p *Process) args() []string {
	args := []string{"--runtime", p.cfg.Runtime, "--library", p.cfg.Library, "--threads", strconv.Itoa(cmp.Or(p.cfg.Threads, 1))}
	for _, e := range p.engines {
		args = append(args, "--worker")
		for _, m := range e.models {
			args = append(args, "--model", m.dir)
		}
	}
	return args
}

// Engine is a worker of a Process: models that are loaded with its first user and freed
// with the last one. It is safe for concurrent use.
type Engine struct {
	process *Process
	worker  int
	models  []Model

	// order is held while a Load or an Unload is sent. It is taken under the process's lock,
	// so they are sent in the order in which they were decided.
	order sync.Mutex

	measured func(time.Duration)

	users    int
	loading  *loading  // nil until the models were asked for
	failures int       // consecutive
	retry    time.Time // earliest next attempt after failures
}

// loading is one attempt to load the models of an engine.
type loading struct {
	child *child
	done  chan struct{} // closed when the models are loaded, or not
	err   error         // why they are not; read after done
	late  *deadline
	// counted: the failure of this attempt, or of the child after it, is counted.
	counted bool
}

// OnMeasured sets what is called with the result of a worker that is Measured, each time that
// its models are loaded. It is set before the first use.
func (e *Engine) OnMeasured(f func(time.Duration)) { e.measured = f }

// Models returns the engine's models.
func (e *Engine) Models() []Model { return e.models }

// Name returns the names of the models.
func (e *Engine) Name() string {
	names := make([]string, len(e.models))
	for i, m := range e.models {
		names[i] = m.Name
	}
	return strings.Join(names, " and ")
}

// Check loads the models unless they are loaded, and returns the error if that fails.
// Without users they are freed again.
func (e *Engine) Check() error {
	e.Acquire()
	defer e.Release()
	return e.Load()
}

// Acquire adds a user.
func (e *Engine) Acquire() {
	e.process.mu.Lock()
	defer e.process.mu.Unlock()
	e.users++
	e.process.users++
}

// Release removes a user. The last one of the engine frees its models, the last one of the
// process stops it.
func (e *Engine) Release() {
	p := e.process
	p.mu.Lock()
	e.users--
	p.users--
	var stopped, idle *child
	switch {
	case p.users == 0:
		stopped, p.child = p.child, nil
		for _, other := range p.engines {
			other.loading = nil // its end is no failure
		}
	case e.users == 0 && e.loading != nil:
		idle, e.loading = e.loading.child, nil
		e.order.Lock()
		defer e.order.Unlock()
	}
	p.mu.Unlock()
	if stopped != nil {
		stopped.stop()
	}
	if idle != nil {
		_ = idle.send(Frame{Kind: Unload, worker: byte(e.worker)}) // a child that exited has freed them
	}
}

// Load starts the child and loads the models, if necessary, and waits for them. During the
// backoff after failures it fails immediately. The caller is a user.
func (e *Engine) Load() error {
	_, err := e.running(nil)
	return err
}

// Open opens a stream. It waits for the models like Load. A nil done never fires; a done one
// is ErrCancelled, and the models go on loading.
func (e *Engine) Open(done <-chan struct{}) (*Stream, error) {
	c, err := e.running(done)
	if err != nil {
		return nil, err
	}
	return c.open(e.worker), nil
}

// running returns a child with loaded models.
func (e *Engine) running(done <-chan struct{}) (*child, error) {
	l, err := e.load()
	if err != nil {
		return nil, err
	}
	select {
	case <-l.done:
	case <-l.child.dead:
		l.finish(l.child.err)
	case <-done:
		return nil, ErrCancelled
	}
	if l.err != nil {
		e.failed(l)
		return nil, l.err
	}
	return l.child, nil
}

// Prepare begins to load the models, without waiting for them.
func (e *Engine) Prepare() error {
	_, err := e.load()
	return err
}

// load begins to load the models, unless they are loaded or being loaded.
func (e *Engine) load() (*loading, error) {
	p := e.process
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := e.loading; l != nil {
		if !l.child.isDead() && !l.failed() {
			return l, nil
		}
		e.countFailure(l)
		if p.now().Before(e.retry) {
			return nil, cmp.Or(l.err, l.child.err)
		}
	}
	if p.child == nil || p.child.isDead() {
		c, err := startChild(p)
		if err != nil {
			return nil, err
		}
		p.child = c
	}
	c := p.child
	l := &loading{child: c, done: make(chan struct{})}
	l.late = c.deadline(loadTimeout, "loaded its model")
	c.await(e.worker, l)
	e.loading = l
	e.order.Lock()
	go func() {
		defer e.order.Unlock()
		if err := c.send(Frame{Kind: Load, worker: byte(e.worker)}); err != nil {
			l.finish(err)
		}
	}()
	return l, nil
}

// failed records a failure.
func (e *Engine) failed(l *loading) {
	e.process.mu.Lock()
	defer e.process.mu.Unlock()
	if l == e.loading {
		e.countFailure(l)
	}
}

// countFailure counts the failure of an attempt, or of the child after it, once. The caller
// holds the lock.
func (e *Engine) countFailure(l *loading) {
	if l.counted {
		return
	}
	l.counted = true
	if l.child.served(e.worker) {
		e.failures = 0
	}
	e.failures++
	delay := time.Duration(0)
	if n := e.failures - 2; n >= 0 {
		delay = min(firstDelay<<min(n, 10), maxDelay)
	}
	e.retry = e.process.now().Add(delay)
}

// finish ends the attempt; the first result counts.
func (l *loading) finish(err error) {
	l.child.mu.Lock()
	defer l.child.mu.Unlock()
	if !l.isDone() {
		l.late.stop()
		l.err = err
		close(l.done)
	}
}

func (l *loading) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// failed reports whether the attempt has failed.
func (l *loading) failed() bool { return l.isDone() && l.err != nil }

// errTimeout is the reason for killing an unresponsive child.
func errTimeout(what string) error {
	return fmt.Errorf("the speech engine has not %s in time; close other programs or use a smaller model", what)
}

// errStopped is the exit reason of a child that was stopped because nobody uses it.
var errStopped = errors.New("the speech engine was stopped")
