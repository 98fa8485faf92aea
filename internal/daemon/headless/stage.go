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

// Epoch is what the clock's zero is on the wire.
var Epoch = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// patience is how long real time may pass until this process has done what there
// is to do at a virtual time.
const patience = 10 * time.Second

// Stage drives a daemon with a script. It is safe for concurrent use.
type Stage struct {
	clock *dispatch.Virtual
	d     *daemon.Daemon
	world *World

	mu      sync.Mutex // of the driving
	rest    []statement
	sleeps  bool // the script waits for the time until, and to be woken then
	until   time.Duration
	failed  error
	stopped bool

	seenMu sync.Mutex
	seen   map[occurrence]int // how often, and not awaited yet
	states map[string]bool    // that were entered since the last await
	state  string
}

type occurrence struct {
	of   awaited
	name string
}

// New makes a daemon on a stage. The World, the clock and Started of cfg are the
// stage's.
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

// Daemon is the daemon on the stage.
func (s *Stage) Daemon() *daemon.Daemon { return s.d }

// World is its world.
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

// Saw notes that a message of the client was handled.
func (s *Stage) Saw(method string) { s.note(handled, method) }

// Asked notes that a request was sent to the client.
func (s *Stage) Asked(method string) { s.note(handled, method) }

// Answered notes that the client answered one.
func (s *Stage) Answered(method string) { s.note(answered, method) }

// came says whether what an await waits for has happened, and takes it.
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

// Settle does what can be done now, and moves the time for a script that waits
// for it. The error says which statement of the script makes no sense where it
// stands.
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

// Advance moves the time by d, and returns where it stands.
func (s *Stage) Advance(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped && s.failed == nil {
		s.clock.Advance(d, s.quiesce)
	}
	return s.clock.Now()
}

// Stop ends the conversation and closes the daemon. Resources that close by
// themselves are given the time that they need.
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

// quiesce steps the core and runs the script until nothing is left to do at this
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

// play runs the next statement of the script, if it need not wait.
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
			// Behind everything else that is due at that time.
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

// happen has what a statement says happen. What the core has no use for is an
// error of the script: it would go unnoticed otherwise.
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
