// Package dispatch owns the conversation's state: the two lanes that events wait
// in, the loop that steps the core, and the clock that its deadlines run on.
//
// # Model
//
// Sources post events from any goroutine. The loop takes one at a time, signals
// before data, records it, steps the core, and hands the effects on. Timers and
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
	// Record, if set, gets each step before its effects are carried out.
	Record func(Step)
	// Verify has every step checked against the invariants. The first violation
	// is executed as a csm.Report and ends the conversation, as a session that
	// failed with csm.CodeInvariantViolation: in Faulted, fatally.
	Verify bool
}

// Loop owns a conversation's state.
type Loop struct {
	cfg  Config
	wake chan struct{}

	mu    sync.Mutex
	lanes [2][]csm.Event
	state csm.State // written by the loop's goroutine only; mu is for State

	core   csm.Stepper
	seq    uint64
	timers [csm.NumTimers]func()
	check  func(before csm.State, e csm.Envelope, after csm.State, fx []csm.Effect) error
	broken bool // an invariant was found violated
}

// New makes a loop whose state is csm.Initial.
func New(cfg Config) *Loop {
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1), state: csm.Initial(), check: csm.CheckStep}
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
	l.lanes[lane] = append(q, e)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
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
	defer l.stopTimers()
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
		l.step(e)
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
			return e, true
		}
	}
	return nil, false
}

func (l *Loop) step(e csm.Event) {
	l.seq++
	env := csm.Envelope{Seq: l.seq, At: l.cfg.Clock.Now().Truncate(time.Microsecond), Event: e} // what a journal keeps
	before := l.state
	after, fx := l.core.Step(before, env)
	l.mu.Lock()
	l.state = after
	l.mu.Unlock()
	s := Step{Envelope: env, Before: before.Phase(), State: after, Effects: fx}
	if l.cfg.Record != nil {
		l.cfg.Record(s)
	}
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
