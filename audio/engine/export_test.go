package engine

import (
	"os"
	"time"
)

// What tests of other packages' engines see of a process.

// The delays after consecutive failures.
const (
	FirstDelay = firstDelay
	MaxDelay   = maxDelay
)

// Users returns the number of users of the process.
func (e *Engine) Users() int { return e.process.users }

// Child returns the running child of the engine's process, or nil.
func (e *Engine) Child() *os.Process {
	e.process.mu.Lock()
	defer e.process.mu.Unlock()
	if e.process.child == nil {
		return nil
	}
	return e.process.child.cmd.Process
}

// Dead returns a channel that is closed when the running child has exited, and what it
// exited with afterwards.
func (e *Engine) Dead() (<-chan struct{}, func() int) {
	e.process.mu.Lock()
	defer e.process.mu.Unlock()
	c := e.process.child
	return c.dead, func() int { return c.cmd.ProcessState.ExitCode() }
}

// Config returns the configuration, which a test may change before the first use.
func (e *Engine) Config() *Config { return &e.process.cfg }

// SetNow sets the clock of the backoff.
func (e *Engine) SetNow(now func() time.Time) { e.process.now = now }

// Retry returns the earliest next attempt after failures.
func (e *Engine) Retry() time.Time { return e.retry }
