// Package dispatch owns the conversation's state: the two event lanes, the loop that
// steps the core, and the clock of its deadlines.
//
// # Model
//
// Sources post events from any goroutine. The loop takes one at a time, signals before
// data; it records the event, steps the core, records the outcome, and passes the effects
// on. The loop itself executes timers and the core's own events; everything else goes to
// the executor, which must not block.
//
//	loop := dispatch.New(dispatch.Config{Clock: clock, Execute: world.Execute})
//	go loop.Run(ctx)
//	loop.Post(csm.UserStart{})
//
// With a Virtual clock nothing runs by itself: Drain steps on the caller's goroutine
// until both lanes are empty.
//
// # Bounds
//
// Post never blocks, so that handlers and devices can call it anywhere. Sources that can
// wait, such as an assistant's answer or a client, call Room first, which blocks while
// the lanes are long (backpressure). Other events are merged if possible. When a lane
// reaches its bound, Config.Overflow is called, which should end the conversation, and
// additive events are dropped. Signals and terminal events are never dropped.
//
// # Invariants
//
// Events in a lane keep the order of Post. A signal is never dropped. Partial transcripts
// and signs of an answer may be merged; the event counts them and has the content of the
// last. Consecutive playback cursors are merged into the last. The delay of an onset
// grows by its time on the lane.
package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Step is one completed step.
type Step struct {
	Envelope csm.Envelope
	Before   csm.Phase
	State    csm.State // state after the step
	Effects  []csm.Effect
}

// Config configures a Loop. Clock and Execute are required.
type Config struct {
	Clock Clock
	// Execute executes a step's effects in order. It is called on the loop's goroutine,
	// must not block, and must not post while holding a lock that a poster needs.
	Execute func(Step)
	// Overflow, if set, is called once each time a lane reaches its bound. It may be
	// called from any posting goroutine and must not block.
	Overflow func()
	// Journal, if set, receives each event before its step and each outcome before its
	// effects are executed. If either panics, the journal is flushed before the process
	// exits.
	Journal Journal
	// Refused, if set, receives the kind of an event with a code that is not in
	// csm.Codes. The core gets internalError instead.
	Refused func(csm.Kind)
	// Verify checks the invariants after every step. The first violation is executed as a
	// csm.Report and ends the conversation in a fatal Faulted state, like a failed
	// session with csm.CodeInvariantViolation.
	Verify bool
}

// Journal records the loop's events. Event and Outcome must not block.
type Journal interface {
	Event(csm.Envelope)
	Outcome(csm.State, []csm.Effect)
	Flush(context.Context)
}

// Loop owns a conversation's state.
type Loop struct {
	cfg  Config
	wake chan struct{}

	mu      sync.Mutex
	lanes   [2][]queued
	running bool
	full    bool          // a lane reached its bound and has not drained since
	freed   chan struct{} // closed when there is room; nil if nobody waits
	state   csm.State     // written only by the loop's goroutine; mu protects readers

	step   func(csm.State, csm.Envelope) (csm.State, []csm.Effect)
	seq    uint64
	timers [csm.NumTimers]func()
	check  func(before csm.State, e csm.Envelope, after csm.State, fx []csm.Effect) error
	broken bool // an invariant was violated
}

// New returns a loop with the state csm.Initial.
func New(cfg Config) *Loop {
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1), state: csm.Initial(), step: new(csm.Stepper).Step, check: csm.CheckStep}
}

// queued is an event on a lane. posted is set only for an onset, whose delay includes the
// time on the lane.
type queued struct {
	event  csm.Event
	posted time.Duration
}

// Post queues an event on its lane. It never blocks and is safe for concurrent
// use.
func (l *Loop) Post(e csm.Event) {
	lane := csm.LaneOf(e)
	item := queued{event: e}
	if _, onset := e.(csm.SpeechStarted); onset {
		item.posted = l.cfg.Clock.Now()
	}
	l.mu.Lock()
	q := l.lanes[lane]
	if n := len(q); n > 0 {
		if merged, ok := coalesce(q[n-1].event, e); ok {
			q[n-1].event = merged
			l.mu.Unlock()
			return
		}
	}
	tell := len(q) >= maxLane && !l.full
	l.full = l.full || tell
	if len(q) < maxLane || lane == csm.Signal || !additive(e) {
		l.lanes[lane] = append(q, item)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if tell && l.cfg.Overflow != nil {
		l.cfg.Overflow()
	}
}

// Limits of a lane's length.
const (
	roomy   = 1024  // from here, sources that can wait do so
	maxLane = 16384 // here the conversation ends
)

// additive says whether an event only adds to something whose end follows: dropping it
// leaves a gap, but nothing waits forever.
func additive(e csm.Event) bool {
	switch e.(type) {
	case csm.CopilotDelta, csm.CopilotSegment, csm.Partial, csm.SpeechCursor, csm.ModelProgress:
		return true
	}
	return false
}

// Room blocks until Run has caught up, and returns false if ctx is done first. It returns
// immediately if Run is not running, since then the caller of Drain makes room.
func (l *Loop) Room(ctx context.Context) bool {
	for {
		l.mu.Lock()
		if !l.running || l.roomy() {
			l.mu.Unlock()
			return ctx.Err() == nil
		}
		if l.freed == nil {
			l.freed = make(chan struct{})
		}
		freed := l.freed
		l.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// roomy says whether both lanes have room. The caller holds mu.
func (l *Loop) roomy() bool {
	return len(l.lanes[csm.Signal]) < roomy && len(l.lanes[csm.Data]) < roomy
}

// free wakes the callers of Room. The caller holds mu.
func (l *Loop) free() {
	l.full = l.full && !l.roomy()
	if l.freed != nil && (l.roomy() || !l.running) {
		close(l.freed)
		l.freed = nil
	}
}

func (l *Loop) runs(now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = now
	l.free()
}

// coalesce merges two adjacent events on the data lane that are cumulative and tolerate
// loss.
func coalesce(last, e csm.Event) (csm.Event, bool) {
	switch e := e.(type) {
	case csm.Partial:
		if p, ok := last.(csm.Partial); ok && p.Epoch == e.Epoch && p.Utterance == e.Utterance {
			e.Coalesced += p.Coalesced + 1
			return e, true
		}
	case csm.CopilotDelta:
		if p, ok := last.(csm.CopilotDelta); ok && p.Request == e.Request && p.Round == e.Round {
			e.Coalesced += p.Coalesced + 1
			e.Acted = e.Acted || p.Acted
			return e, true
		}
	case csm.SpeechCursor: // only the latest counts
		if p, ok := last.(csm.SpeechCursor); ok && p.Gen == e.Gen {
			return e, true
		}
	}
	return nil, false
}

// State returns the state after the last step.
func (l *Loop) State() csm.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Run steps the core until ctx is done.
func (l *Loop) Run(ctx context.Context) {
	l.runs(true)
	defer l.stopTimers()
	defer l.runs(false)
	for {
		l.Drain()
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
	}
}

// Drain steps until both lanes are empty. Only one goroutine may call Run or Drain at a
// time.
func (l *Loop) Drain() {
	for {
		item, ok := l.next()
		if !ok {
			return
		}
		l.take(item)
	}
}

// Idle says whether both lanes are empty.
func (l *Loop) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lanes[csm.Signal]) == 0 && len(l.lanes[csm.Data]) == 0
}

func (l *Loop) next() (queued, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.lanes {
		if q := l.lanes[lane]; len(q) > 0 {
			item := q[0]
			q[0] = queued{}
			if l.lanes[lane] = q[1:]; len(q) == 1 {
				l.lanes[lane] = nil
			}
			l.free()
			return item, true
		}
	}
	return queued{}, false
}

func (l *Loop) take(item queued) {
	returned := false
	defer func() {
		if !returned { // the step panicked
			l.flush()
		}
	}()
	e, refused := closed(item.event)
	if refused && l.cfg.Refused != nil {
		l.cfg.Refused(csm.KindOf(e))
	}
	l.seq++
	now := l.cfg.Clock.Now()
	if onset, ok := e.(csm.SpeechStarted); ok && onset.Late > 0 {
		onset.Late += now - item.posted
		e = onset
	}
	env := csm.Envelope{Seq: l.seq, At: now.Truncate(time.Microsecond), Event: e} // the journal's resolution
	before := l.state
	if l.cfg.Journal != nil {
		l.cfg.Journal.Event(env)
	}
	after, fx := l.step(before, env)
	if l.cfg.Journal != nil {
		l.cfg.Journal.Outcome(after, fx)
	}
	l.mu.Lock()
	l.state = after
	l.mu.Unlock()
	s := Step{Envelope: env, Before: before.Phase(), State: after, Effects: fx}
	if l.cfg.Verify && !l.broken {
		if err := l.check(before, env, after, fx); err != nil {
			l.broken = true
			s.Effects = append(fx[:len(fx):len(fx)], csm.Report{What: err.Error()})
			l.Post(csm.SessionFailed{Instance: after.Instance, Code: csm.CodeInvariantViolation})
		}
	}
	for _, f := range s.Effects {
		l.own(f)
	}
	l.cfg.Execute(s)
	returned = true
}

// flushTime bounds how long a slow disk delays the exit of the process.
const flushTime = 2 * time.Second

// flush makes the journal write its queue.
func (l *Loop) flush() {
	if l.cfg.Journal != nil {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		l.cfg.Journal.Flush(ctx)
	}
}

// own executes the loop's own effects.
func (l *Loop) own(f csm.Effect) {
	switch f := f.(type) {
	case csm.StartTimer:
		l.stopTimer(f.Timer)
		l.timers[f.Timer] = l.cfg.Clock.AfterFunc(f.After, func() {
			l.Post(csm.TimerFired{Timer: f.Timer, Gen: f.Gen})
		})
	case csm.StopTimer:
		l.stopTimer(f.Timer)
	case csm.Post:
		e, err := csm.DecodeEvent(f.Event, nil)
		if err != nil {
			panic(fmt.Sprintf("dispatch: the core posted an invalid event: %v", err))
		}
		l.Post(e)
	}
}

func (l *Loop) stopTimer(t csm.Timer) {
	if stop := l.timers[t]; stop != nil {
		stop()
		l.timers[t] = nil
	}
}

func (l *Loop) stopTimers() {
	for t := range csm.NumTimers {
		l.stopTimer(t)
	}
}
