package headless

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Epoch is the wall-clock time of the clock's zero.
var Epoch = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// patience limits the real time for all work at one virtual time.
const patience = 10 * time.Second

// Stage drives a daemon with a script. It is safe for concurrent use.
type Stage struct {
	clock *dispatch.Virtual
	d     *daemon.Daemon
	world *World

	mu      sync.Mutex // serialises the driving
	rest    []statement
	sleeps  bool // the script waits until the time until, when it must be woken
	until   time.Duration
	failed  error
	stopped bool

	seenMu sync.Mutex
	seen   map[occurrence]int // count of occurrences not awaited yet
	states map[string]bool    // entered since the last await
	state  string
}

type occurrence struct {
	of   awaited
	name string
}

// New creates a daemon on a stage. The stage replaces World, Clock and Started in cfg.
func New(script *Script, clock *dispatch.Virtual, cfg daemon.Config) *Stage {
	s := &Stage{
		clock: clock, rest: script.statements, seen: map[occurrence]int{}, states: map[string]bool{},
		state: string(protocol.StateIdle),
	}
	notify := cfg.Notify
	cfg.Notify = func(method string, params any) {
		if p, ok := params.(protocol.StateParams); ok {
			s.entered(string(p.State))
		}
		notify(method, params)
	}
	cfg.Clock, cfg.Started = clock, Epoch
	cfg.World = func(port daemon.Port) daemon.World {
		s.world = newWorld(port, clock)
		return s.world
	}
	s.d = daemon.New(cfg)
	s.world.state, s.world.settle = s.d.State, s.d.Drain
	return s
}

// Daemon returns the daemon on the stage.
func (s *Stage) Daemon() *daemon.Daemon { return s.d }

// World returns the daemon's world.
func (s *Stage) World() *World { return s.world }

func (s *Stage) entered(state string) {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	s.state = state
	s.states[state] = true
}

func (s *Stage) note(of awaited, name string) {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	s.seen[occurrence{of, name}]++
}

// Saw records that a client message was handled.
func (s *Stage) Saw(method string) { s.note(handled, method) }

// Asked records that a request was sent to the client.
func (s *Stage) Asked(method string) { s.note(handled, method) }

// Answered records that the client answered a request.
func (s *Stage) Answered(method string) { s.note(answered, method) }

// came reports whether the awaited occurrence has happened, and consumes it.
func (s *Stage) came(st statement) bool {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	if st.of == entered {
		if s.state != st.name && !s.states[st.name] {
			return false
		}
	} else {
		o := occurrence{st.of, st.name}
		if s.seen[o] == 0 {
			return false
		}
		s.seen[o]--
	}
	clear(s.states)
	return true
}

// Settle does all work that is due now, and advances the clock for a script that waits
// for it. The error names the statement of the script that is invalid in the current
// state.
func (s *Stage) Settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped {
		s.quiesce()
		if !s.sleeps || s.failed != nil {
			break
		}
		s.clock.Advance(s.until-s.clock.Now(), s.quiesce)
	}
	return s.failed
}

// Advance advances the clock by d and returns the new time.
func (s *Stage) Advance(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped && s.failed == nil {
		s.clock.Advance(d, s.quiesce)
	}
	return s.clock.Now()
}

// Stop ends the conversation and closes the daemon. Resources that close on their own
// are given enough time.
func (s *Stage) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped, s.rest, s.sleeps = true, nil, false
	s.d.Post(csm.UserStop{})
	s.quiesce()
	if s.d.State().Phase() != csm.PhaseIdle {
		s.clock.Advance(csm.DefaultConfig().Terminate, s.quiesce)
	}
	return s.d.Close()
}

// quiesce steps the core and runs the script until nothing is pending at the current
// time.
func (s *Stage) quiesce() {
	for s.failed == nil {
		s.d.Drain()
		if !s.d.Settle(patience) {
			s.failed = errors.New("the assistant does not come to rest; please report this")
			return
		}
		if s.d.Idle() && !s.play() {
			return
		}
	}
}

// play runs the next statement of the script, unless it must wait.
func (s *Stage) play() bool {
	if s.sleeps || len(s.rest) == 0 {
		return false
	}
	st := s.rest[0]
	switch st.verb {
	case "await":
		if !s.came(st) {
			return false
		}
	case "after":
		s.sleeps, s.until = true, s.clock.Now()+st.delay
		s.clock.AfterFunc(st.delay, func() {
			// After everything else that is due at that time.
			s.clock.AfterFunc(0, func() { s.sleeps = false })
		})
	default:
		if err := s.happen(st); err != nil {
			s.failed = fmt.Errorf("script line %d: %s: %w", st.line, st.verb, err)
			return false
		}
	}
	s.rest = s.rest[1:]
	return true
}

// happen executes a statement. If the core rejects the event, that is an error in the
// script, which would otherwise go unnoticed.
func (s *Stage) happen(st statement) error {
	before := s.d.State()
	if err := s.world.play(st); err != nil {
		return err
	}
	s.d.Drain()
	if after := s.d.State(); after.Counters != before.Counters {
		return fmt.Errorf("it means nothing in the state %v", before.Phase())
	}
	return nil
}
