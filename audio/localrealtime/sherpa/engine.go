package sherpa

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// Timeouts of the child.
const (
	loadTimeout  = 2 * time.Minute  // to load its models, even from a slow disk
	replyTimeout = 30 * time.Second // to reply, and to accept the next frame
	stopTimeout  = 2 * time.Second  // to exit after its input has ended
)

// Backoff before restarting a child after consecutive failures. The first failure has
// no delay.
const (
	firstDelay = 250 * time.Millisecond
	maxDelay   = 30 * time.Second
)

// EngineConfig configures how a child is started.
type EngineConfig struct {
	// Command returns the child's command: a program that calls Serve with args.
	Command   func(args ...string) *exec.Cmd
	Libraries Libraries
	// Models are the models that the child loads: Set.Hearing, Set.Voice or
	// Set.TurnEnd.
	Models []Model
	// Threads is the number of compute threads. Zero means one.
	Threads int
}

func (c EngineConfig) args() []string {
	args := []string{"--runtime", c.Libraries.Runtime, "--library", c.Libraries.Sherpa, "--threads", strconv.Itoa(cmp.Or(c.Threads, 1))}
	for _, m := range c.Models {
		args = append(args, "--model", m.dir)
	}
	return args
}

// Engine is a child process shared by its users. It is safe for concurrent use.
type Engine struct {
	cfg EngineConfig
	now func() time.Time

	mu       sync.Mutex
	users    int
	child    *child    // nil if not started or stopped
	failures int       // consecutive
	retry    time.Time // earliest restart
}

// NewEngine creates an Engine. The child starts with the first user.
func NewEngine(cfg EngineConfig) *Engine { return &Engine{cfg: cfg, now: time.Now} }

// Name returns the names of the models.
func (e *Engine) Name() string {
	name := ""
	for _, m := range e.cfg.Models {
		if name != "" {
			name += " and "
		}
		name += m.Name
	}
	return name
}

// Library returns the library that runs the models.
func (e *Engine) Library() string {
	if e.cfg.Models[0].Use() == TurnEnd {
		return "ONNX Runtime"
	}
	return "sherpa-onnx " + Version
}

// Check starts a child unless one is running, waits until its models are loaded, and
// returns the error if loading fails. Without users it stops the child again.
func (e *Engine) Check() error {
	e.acquire()
	defer e.release()
	_, err := e.running()
	return err
}

func (e *Engine) acquire() {
	e.mu.Lock()
	e.users++
	e.mu.Unlock()
}

// release stops the child after its last user.
func (e *Engine) release() {
	e.mu.Lock()
	e.users--
	var last *child
	if e.users == 0 {
		last, e.child = e.child, nil
	}
	e.mu.Unlock()
	if last != nil {
		last.stop()
	}
}

// errStopped is the exit reason of a child that was stopped because nobody uses it.
var errStopped = errors.New("the speech engine was stopped")

// running returns a child with loaded models, starting one if necessary. It waits for
// the models, but fails immediately during the backoff after failures.
func (e *Engine) running() (*child, error) {
	c, err := e.start()
	if err != nil {
		return nil, err
	}
	select {
	case <-c.ready:
		return c, nil
	case <-c.dead:
		e.failed(c)
		return nil, c.err
	}
}

// start returns the child without waiting for its models.
func (e *Engine) start() (*child, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.child != nil && !e.child.isDead() {
		return e.child, nil
	}
	e.countFailure(e.child)
	if e.child != nil && e.now().Before(e.retry) {
		return nil, e.child.err
	}
	c, err := startChild(e.cfg, e.Name())
	if err != nil {
		return nil, err
	}
	e.child = c
	return c, nil
}

// failed records a child that died.
func (e *Engine) failed(c *child) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c == e.child {
		e.countFailure(c)
	}
}

func (e *Engine) countFailure(c *child) {
	if c == nil || c.counted {
		return
	}
	c.counted = true
	if c.served.Load() {
		e.failures = 0
	}
	e.failures++
	delay := time.Duration(0)
	if n := e.failures - 2; n >= 0 {
		delay = min(firstDelay<<min(n, 10), maxDelay)
	}
	e.retry = e.now().Add(delay)
}

// errTimeout is the reason for killing an unresponsive child.
func errTimeout(what string) error {
	return fmt.Errorf("the speech engine has not %s in time; close other programs or use a smaller model", what)
}
