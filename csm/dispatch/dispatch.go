// Package dispatch owns the conversation's state: the two lanes that events wait
// in, the loop that steps the core, and the clock that its deadlines run on.
//
// # Model
//
// Sources post events from any goroutine. The loop takes one at a time, signals
// before data, records it, steps the core, records the outcome, and hands the
// effects on. Timers and
// the core's own follow-ups are carried out here; everything else is the
// executor's, which must not block.
//
//	loop := dispatch.New(dispatch.Config{Clock: clock, Execute: world.Execute})
//	go loop.Run(ctx)
//	loop.Post(csm.UserStart{})
//
// With a Virtual clock nothing runs by itself: Drain steps until both lanes are
// empty, on the caller's goroutine.
//
// # Bounds
//
// Post never waits, so that handlers and devices can call it anywhere. Sources that
// can wait, such as an assistant's answer or a client, call Room before: they are held
// up while a lane is longer than the core keeps up with. What comes all the same is
// merged where it can be. Where a lane reaches its bound, Config.Overflow is told,
// which is to end the conversation, and what only adds to an answer is dropped. Signals
// are never dropped, nor is what ends something: there is one for each effect.
//
// # Invariants
//
// Within a lane the order is that of Post. A signal is never dropped. Partial
// transcripts and signs of life of an answer may stand for several of their
// kind; the count is in the event, and the last one's content counts. Of cursors of
// playback that come one upon another, the last counts.
package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Step is one step that was taken.
type Step struct {
	Envelope csm.Envelope
	Before   csm.Phase
	State    csm.State // after it
	Effects  []csm.Effect
}

// Config says what a Loop works with. Clock and Execute are needed.
type Config struct {
	Clock Clock
	// Execute carries out a step's effects in their order. It is called on the
	// loop's goroutine, and neither blocks nor posts while holding what a poster
	// holds.
	Execute func(Step)
	// Overflow, if set, is told once each time a lane reaches its bound. It may be
	// called from any goroutine that posts, and does not block.
	Overflow func()
	// Journal, if set, gets each event before its step, and the outcome before its
	// effects are carried out. If either panics, it is flushed before the process ends.
	Journal Journal
	// Refused, if set, receives an event with a code that is not in csm.Codes. The
	// core gets internalError in its place.
	Refused func(csm.Kind)
	// Verify has every step checked against the invariants. The first violation
	// is executed as a csm.Report and ends the conversation, as a session that
	// failed with csm.CodeInvariantViolation: in Faulted, fatally.
	Verify bool
}

// Journal records what the loop does. Event and Outcome do not block.
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
	lanes   [2][]csm.Event
	running bool
	full    bool          // a lane reached its bound, and there was no room since
	freed   chan struct{} // closed when there is room; nil without a waiter
	state   csm.State     // written by the loop's goroutine only; mu is for State

	step   func(csm.State, csm.Envelope) (csm.State, []csm.Effect)
	seq    uint64
	timers [csm.NumTimers]func()
	check  func(before csm.State, e csm.Envelope, after csm.State, fx []csm.Effect) error
	broken bool // an invariant was found violated
}

// New makes a loop whose state is csm.Initial.
func New(cfg Config) *Loop {
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1), state: csm.Initial(), step: new(csm.Stepper).Step, check: csm.CheckStep}
}

// Post queues an event on its lane. It never blocks and is safe for concurrent
// use.
func (l *Loop) Post(e csm.Event) {
	lane := csm.LaneOf(e)
	l.mu.Lock()
	q := l.lanes[lane]
	if n := len(q); n > 0 {
		if merged, ok := coalesce(q[n-1], e); ok {
			q[n-1] = merged
			l.mu.Unlock()
			return
		}
	}
	tell := len(q) >= maxLane && !l.full
	l.full = l.full || tell
	if len(q) < maxLane || lane == csm.Signal || !additive(e) {
		l.lanes[lane] = append(q, e)
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

// How long a lane may become.
const (
	roomy   = 1024  // sources that can wait are held up from here on
	maxLane = 16384 // here the conversation ends
)

// additive says whether an event only adds to something whose end follows: without it
// an answer has a hole, and nothing waits for ever.
func additive(e csm.Event) bool {
	switch e.(type) {
	case csm.CopilotDelta, csm.CopilotSegment, csm.Partial, csm.SpeechCursor, csm.ModelProgress:
		return true
	}
	return false
}

// Room waits until Run keeps up with what was posted, and says whether ctx lasted so
// long. It returns at once where Run does not run: who calls Drain makes the room.
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

// roomy says whether both lanes have room. It needs mu.
func (l *Loop) roomy() bool {
	return len(l.lanes[csm.Signal]) < roomy && len(l.lanes[csm.Data]) < roomy
}

// free lets those go on who wait for room. It needs mu.
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

// coalesce merges two neighbours on the data lane that are cumulative and
// tolerate loss.
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
			return e, true
		}
	case csm.SpeechCursor: // only the latest counts
		if p, ok := last.(csm.SpeechCursor); ok && p.Gen == e.Gen {
			return e, true
		}
	}
	return nil, false
}

// State is the state after the last step.
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

// Drain steps until both lanes are empty. Only one goroutine may be in Run or
// Drain.
func (l *Loop) Drain() {
	for {
		e, ok := l.next()
		if !ok {
			return
		}
		l.take(e)
	}
}

// Idle says whether both lanes are empty.
func (l *Loop) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lanes[csm.Signal]) == 0 && len(l.lanes[csm.Data]) == 0
}

func (l *Loop) next() (csm.Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.lanes {
		if q := l.lanes[lane]; len(q) > 0 {
			e := q[0]
			q[0] = nil
			if l.lanes[lane] = q[1:]; len(q) == 1 {
				l.lanes[lane] = nil
			}
			l.free()
			return e, true
		}
	}
	return nil, false
}

func (l *Loop) take(e csm.Event) {
	returned := false
	defer func() {
		if !returned { // a panic is about to end the process
			l.flush()
		}
	}()
	e, refused := closed(e)
	if refused && l.cfg.Refused != nil {
		l.cfg.Refused(csm.KindOf(e))
	}
	l.seq++
	env := csm.Envelope{Seq: l.seq, At: l.cfg.Clock.Now().Truncate(time.Microsecond), Event: e} // what a journal keeps
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

// flushTime bounds how long a slow disk holds up the end of the process.
const flushTime = 2 * time.Second

// flush has the journal keep what it was given.
func (l *Loop) flush() {
	if l.cfg.Journal != nil {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		l.cfg.Journal.Flush(ctx)
	}
}

// own carries out the effects that are the loop's.
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
			panic(fmt.Sprintf("dispatch: the core posts an event that is none: %v", err))
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
