package localrealtime

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// pool keeps at most one idle engine, because loading one takes longer than a
// caller may wait (PocketSphinx: most of a second) while a conversation uses
// one at a time. It is safe for concurrent use.
type pool[T io.Closer] struct {
	load func() (T, error)

	mu      sync.Mutex
	idle    []T           // at most one
	warming chan struct{} // closed when the background load is over, nil before
	failed  error         // why the background load brought nothing, read after warming
	closed  bool
}

func newPool[T io.Closer](factory func() (T, error)) *pool[T] {
	return &pool[T]{load: factory}
}

// warm loads an engine in the background. A failure shows in ready, and when
// take tries again.
func (p *pool[T]) warm() {
	done := make(chan struct{})
	p.mu.Lock()
	p.warming = done
	p.mu.Unlock()
	go func() {
		defer close(done)
		e, err := p.load()
		if err == nil {
			err = p.put(e)
		}
		p.failed = err
	}()
}

// ready waits for the background load and says why it brought nothing.
func (p *pool[T]) ready() error {
	p.mu.Lock()
	warming := p.warming
	p.mu.Unlock()
	<-warming
	return p.failed
}

// loadedWithin waits for the background load, but no longer than d or until ctx is
// done, and says whether it is over.
func (p *pool[T]) loadedWithin(ctx context.Context, d time.Duration) bool {
	p.mu.Lock()
	warming := p.warming
	p.mu.Unlock()
	if warming == nil {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-warming:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// loading says whether the background load is not over yet.
func (p *pool[T]) loading() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.warming:
		return false
	default:
		return p.warming != nil
	}
}

// take returns the idle engine, waiting for one that is being loaded, or makes
// another.
func (p *pool[T]) take() (T, error) {
	p.mu.Lock()
	warming := p.warming
	p.mu.Unlock()
	if warming != nil {
		<-warming
	}
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		e := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return e, nil
	}
	p.mu.Unlock()
	return p.load()
}

// put takes back an engine that still works: the next call begins with it. It
// is closed when there is one already.
func (p *pool[T]) put(e T) error {
	p.mu.Lock()
	if p.closed || len(p.idle) > 0 {
		p.mu.Unlock()
		return e.Close()
	}
	p.idle = append(p.idle, e)
	p.mu.Unlock()
	return nil
}

// close closes the idle engine; engines put back later are closed at once.
func (p *pool[T]) close() error {
	p.mu.Lock()
	warming := p.warming
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	if warming != nil {
		<-warming
	}
	var errs []error
	for _, e := range idle {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
