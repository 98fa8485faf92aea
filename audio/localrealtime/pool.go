package localrealtime

import (
	"errors"
	"io"
	"sync"
	"time"
)

// pool keeps at most one idle engine, because loading takes longer than a caller should
// wait (PocketSphinx: most of a second) while a conversation uses one at a time. The
// first user triggers loading, and the engine is closed some time after the last user
// left, or when the users rest. While there are users, no more engines are kept than
// users: after a redial, the engine of the call that ended is closed if the new call has
// one. It is safe for concurrent use.
type pool[T io.Closer] struct {
	load  func() (T, error)
	keep  time.Duration // how long an engine stays loaded without users
	freed func()        // called after the expiry closed engines

	mu      sync.Mutex
	idle    []T           // at most one
	taken   int           // engines in use
	users   int           // calls that may need an engine
	warming chan struct{} // closed when the last background load ends, nil before the first
	failed  error         // error of the last background load
	expiry  *time.Timer   // runs while there are no users
	resting bool          // the users need no engine for now
	closed  bool
	freeing sync.WaitGroup // engines that free is closing
}

func newPool[T io.Closer](factory func() (T, error), keep time.Duration, freed func()) *pool[T] {
	p := &pool[T]{load: factory, keep: keep, freed: freed}
	p.expiry = time.AfterFunc(time.Hour, p.expire)
	p.expiry.Stop()
	return p
}

// use registers a user until release. The first user starts loading an engine in the
// background, unless one is idle.
func (p *pool[T]) use() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expiry.Stop()
	if p.users++; p.users == 1 {
		p.warm()
	}
}

// release unregisters a user, who has put back its engine.
func (p *pool[T]) release() {
	p.mu.Lock()
	p.users--
	surplus := p.surplus()
	p.arm()
	p.mu.Unlock()
	p.free(surplus)
}

// surplus removes and returns the idle engine if every remaining user has one. The
// caller holds mu, and passes the result to free.
func (p *pool[T]) surplus() []T {
	if p.users > 0 && p.taken >= p.users {
		return p.takeIdle()
	}
	return nil
}

// takeIdle removes the idle engine. The caller holds mu, and passes the result to free.
func (p *pool[T]) takeIdle() (engines []T) {
	engines, p.idle = p.idle, nil
	p.freeing.Add(len(engines))
	return engines
}

// free closes engines that were idle, and returns their memory.
func (p *pool[T]) free(engines []T) {
	for _, e := range engines {
		_ = e.Close() // the engine was idle, so nothing is lost
		p.freeing.Done()
	}
	if len(engines) > 0 {
		p.freed()
	}
}

// warm loads an engine in the background, unless one is idle or being loaded. A failure
// is reported by ready, and by take when it retries. The caller holds mu.
func (p *pool[T]) warm() {
	if p.closed || p.resting || len(p.idle) > 0 || p.isWarming() {
		return
	}
	done := make(chan struct{})
	p.warming = done
	go func() {
		defer close(done)
		e, err := p.load()
		if err == nil {
			err = p.add(e)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = err
	}()
}

// isWarming reports whether a background load is in progress. The caller holds mu.
func (p *pool[T]) isWarming() bool {
	if p.warming == nil {
		return false
	}
	select {
	case <-p.warming:
		return false
	default:
		return true
	}
}

// arm starts the timer that closes an unused engine. The caller holds mu.
func (p *pool[T]) arm() {
	if p.users == 0 && len(p.idle) > 0 && !p.closed {
		p.expiry.Reset(p.keep)
	}
}

// expire closes the idle engine, unless a user has returned.
func (p *pool[T]) expire() {
	p.mu.Lock()
	var idle []T
	if p.users == 0 && !p.closed {
		idle = p.takeIdle()
	}
	p.mu.Unlock()
	p.free(idle)
}

// rest closes the idle engine, and those that are put back, or loads one for the users
// again. It does not wait for that.
func (p *pool[T]) rest(resting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting = resting
	switch {
	case p.closed:
	case resting:
		go p.free(p.takeIdle())
	case p.users > 0 && p.taken == 0:
		p.warm()
	}
}

// ready starts loading an engine if the pool has neither an engine nor a user, waits
// for the background load, and returns its error.
func (p *pool[T]) ready() error {
	p.mu.Lock()
	if p.users == 0 {
		p.warm()
	}
	warming := p.warming
	p.mu.Unlock()
	if warming != nil {
		<-warming
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// loading reports whether a background load is in progress.
func (p *pool[T]) loading() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isWarming()
}

// take returns the idle engine, waits for one that is being loaded, or creates another.
// The caller passes it to put or to discard.
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
		p.taken++
		p.mu.Unlock()
		return e, nil
	}
	p.taken++
	p.mu.Unlock()
	e, err := p.load()
	if err != nil {
		p.forget()
	}
	return e, err
}

// put returns a working engine for the next call. If one is already idle, it is closed.
func (p *pool[T]) put(e T) error {
	p.forget()
	return p.add(e)
}

// discard closes an engine that does not work.
func (p *pool[T]) discard(e T) error {
	p.forget()
	return e.Close()
}

// forget counts an engine as not in use any more.
func (p *pool[T]) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
}

// add makes an engine idle, or closes it.
func (p *pool[T]) add(e T) error {
	p.mu.Lock()
	if p.closed || p.resting || len(p.idle) > 0 {
		resting := p.resting
		p.mu.Unlock()
		err := e.Close()
		if resting {
			p.freed()
		}
		return err
	}
	p.idle = append(p.idle, e)
	p.arm()
	p.mu.Unlock()
	return nil
}

// close closes the idle engine, and waits for one that is being freed; engines that are put
// back later are closed at once.
func (p *pool[T]) close() error {
	p.mu.Lock()
	warming := p.warming
	p.closed = true
	p.expiry.Stop()
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
	p.freeing.Wait()
	return errors.Join(errs...)
}
