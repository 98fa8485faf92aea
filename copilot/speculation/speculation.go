// Package speculation sends a request before the user's words are final, to hide the time
// until a model's first words behind the delay that ends the user's turn.
//
// # Model
//
// Start sends a request on the words so far. What arrives stays hidden in the Attempt.
// When the real request is known, Claim returns the attempt if it asked exactly the same,
// and Send delivers it under the real request; otherwise the attempt is thrown away, and
// Send makes the request as if nothing had happened. Drop throws an attempt away.
//
// # The caller's loop
//
//	s := speculation.New()
//	s.Start(adapter, request)             // for words that seem complete
//	s.Drop()                              // for other words, or none
//	a := s.Claim(adapter, request)        // for the final words
//	err := s.Send(ctx, a, adapter, request, emit)
//
// # Invariants
//
//   - Never two requests are open at the service: an attempt waits until the previous one
//     has ended, Send waits until a thrown away one has, and Start does nothing while a
//     request of Send is open.
//   - Nothing of an attempt is visible before it is claimed, except the usage that the
//     service reports for a thrown away attempt.
//   - A failed attempt is never delivered, unless it failed after the first words were.
//     After a failure, nothing is started until a request has succeeded.
package speculation

import (
	"context"
	"reflect"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// hiddenPieces is how many pieces of an answer are kept. The service waits with more.
const hiddenPieces = 4096

// Speculator runs at most one attempt. It is safe for concurrent use.
type Speculator struct {
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	current *Attempt // started, and neither claimed nor thrown away
	last    *Attempt // started last; the next request waits until it has ended
	open    int      // requests of Send
	failed  bool     // an attempt failed, and no request has succeeded since
}

// New returns a Speculator without an attempt.
func New() *Speculator {
	ctx, stop := context.WithCancel(context.Background())
	return &Speculator{ctx: ctx, stop: stop}
}

// Close throws the attempt away and waits until it has ended.
func (s *Speculator) Close() {
	s.mu.Lock()
	s.drop()
	s.stop() // prevents further attempts
	s.mu.Unlock()
	s.wg.Wait()
}

// Attempt is a request that was sent early.
type Attempt struct {
	adapter copilot.Adapter
	request copilot.Request
	cancel  context.CancelFunc
	pieces  chan string   // closed at the end of the answer
	done    chan struct{} // closed when the request has ended at the service
	err     error         // after done

	mu     sync.Mutex
	hidden bool
	used   []copilot.Usage // reported while hidden
}

// Start sends a request early, unless the same one is open, or the adapter does not allow
// it, and reports whether it did. An attempt that asks something else is thrown away.
func (s *Speculator) Start(adapter copilot.Adapter, r copilot.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.asks(adapter, r) {
		return false
	}
	s.drop()
	may, ok := adapter.(copilot.Speculative)
	if !ok || !may.MaySpeculate(r) || s.open > 0 || s.failed || s.ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithCancel(s.ctx)
	a := &Attempt{
		adapter: adapter, request: r, cancel: cancel, hidden: true,
		pieces: make(chan string, hiddenPieces), done: make(chan struct{}),
	}
	before := s.last
	s.current, s.last = a, a
	s.wg.Go(func() { s.run(ctx, a, before) })
	return true
}

// run makes the request once the attempt before has ended.
func (s *Speculator) run(ctx context.Context, a, before *Attempt) {
	defer a.cancel()
	if before != nil {
		<-before.done // its request is cancelled, so this is short
	}
	err := ctx.Err()
	if err == nil {
		r := a.request
		r.Used, r.Unasked, r.Doing = a.report, nil, nil
		err = a.adapter.Send(ctx, r, func(text string) {
			select {
			case a.pieces <- text:
			case <-ctx.Done():
			}
		})
	}
	a.err = err
	close(a.pieces)
	close(a.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = s.failed || err != nil && ctx.Err() == nil
}

// report handles the usage that the service reports: it is recorded when the attempt is
// claimed, so that it belongs to the right turn, or thrown away.
func (a *Attempt) report(u copilot.Usage) {
	a.mu.Lock()
	hidden := a.hidden
	if hidden {
		a.used = append(a.used, u)
	}
	a.mu.Unlock()
	if !hidden && a.request.Used != nil {
		a.request.Used(u)
	}
}

// reveal ends the time in which the attempt is hidden.
func (a *Attempt) reveal() {
	a.mu.Lock()
	used := a.used
	a.hidden, a.used = false, nil
	a.mu.Unlock()
	for _, u := range used {
		a.report(u)
	}
}

// asks reports whether the attempt asked exactly this. Ids and callbacks do not count.
func (a *Attempt) asks(adapter copilot.Adapter, r copilot.Request) bool {
	if a == nil || a.adapter != adapter {
		return false
	}
	was := a.request
	return was.Round == r.Round && was.Model == r.Model && was.Instructions == r.Instructions &&
		was.ToolChoice == r.ToolChoice && was.MaxTokens == r.MaxTokens && (was.Wants == nil) == (r.Wants == nil) &&
		reflect.DeepEqual(was.Messages, r.Messages) && reflect.DeepEqual(was.Tools, r.Tools)
}

// Drop throws the attempt away, if there is one. It does not wait.
func (s *Speculator) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
}

// drop is Drop for a caller that holds mu.
func (s *Speculator) drop() {
	if a := s.current; a != nil {
		s.current = nil
		a.cancel()
		a.reveal()
	}
}

// Claim returns the attempt if it asked exactly this and has not failed, and nil
// otherwise. The attempt then belongs to the caller, who passes it to Send.
func (s *Speculator) Claim(adapter copilot.Adapter, r copilot.Request) *Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.current
	if !a.asks(adapter, r) || a.failed() {
		s.drop()
		return nil
	}
	s.current = nil
	a.reveal()
	return a
}

// failed reports whether the request has ended with a failure.
func (a *Attempt) failed() bool {
	select {
	case <-a.done:
		return a.err != nil
	default:
		return false
	}
}

// Send is the adapter's Send. A claimed attempt takes the place of the request, unless it
// failed before its first words.
func (s *Speculator) Send(ctx context.Context, a *Attempt, adapter copilot.Adapter, r copilot.Request, emit func(string)) (err error) {
	s.mu.Lock()
	s.drop()
	s.open++
	last := s.last
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		s.failed = s.failed && err != nil
	}()
	if a != nil {
		if spoke, err := a.deliver(ctx, emit); spoke || err == nil || ctx.Err() != nil {
			return err
		}
	}
	if last != nil {
		select {
		case <-last.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return adapter.Send(ctx, r, emit)
}

// deliver emits the answer as it arrives. It reports whether there was any.
func (a *Attempt) deliver(ctx context.Context, emit func(string)) (spoke bool, err error) {
	defer a.cancel()
	stop := context.AfterFunc(ctx, a.cancel)
	defer stop()
	for text := range a.pieces {
		if ctx.Err() == nil {
			spoke = spoke || text != ""
			emit(text)
		}
	}
	<-a.done
	if ctx.Err() != nil {
		return spoke, ctx.Err()
	}
	return spoke, a.err
}
