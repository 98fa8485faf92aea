package csm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/qmuntal/stateless"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// run is one step in progress: a working copy of the state, the event, and what
// came of it so far. It is also the context of the state machine's callbacks,
// which reach it through Value, and the machine's external storage.
type run struct {
	context.Context
	st  State
	env Envelope
	fx  []Effect

	phase   Phase        // the machine's state
	prior   Conversation // the phase that is being left, with its data
	row     *Row         // the row that fired
	cause   Cause        // its cause, unless the row's action found a better one
	code    Code         // the failure that a transition is published with
	refused Code         // the answer to a call that cannot be carried out
	replied uint64
	refresh uint32                    // timers to be armed anew though they are armed
	saved   *[NumTimers]time.Duration // what was left of deadlines before a suspension

	seen *Observation // what StepObserved reports, nil for Step

	speechOut  speech.Outcome     // what the event meant to the speech region
	copilotOut copilot.Outcome    // to the copilot region
	connOut    connection.Outcome // and to the connection
	was        copilot.State      // the copilot region before the event
	committed  bool               // the event is the words of an utterance that the user ended by hand
}

type runKey struct{}

// Value gives the machine's callbacks the run.
func (r *run) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return r
	}
	return nil
}

func runOf(ctx context.Context) *run { return ctx.Value(runKey{}).(*run) }

// errUnhandled is how the machine reports an event without a row.
var errUnhandled = errors.New("no transition")

// machine is configured from the table once. It holds no state of its own: the
// storage is the run, so that any number of goroutines may step different
// states.
var machine = configure(Table())

func configure(rows []Row) *stateless.StateMachine {
	m := stateless.NewStateMachineWithExternalStorage(
		func(ctx context.Context) (stateless.State, error) { return runOf(ctx).phase, nil },
		func(ctx context.Context, s stateless.State) error {
			runOf(ctx).phase = s.(Phase)
			return nil
		},
		stateless.FiringImmediate)
	m.OnUnhandledTrigger(func(context.Context, stateless.State, stateless.Trigger, []string) error {
		return errUnhandled
	})
	earlier := map[[2]uint8][]Guard{}
	for i := range rows {
		rw := &rows[i]
		cell := [2]uint8{uint8(rw.From), uint8(rw.On)}
		guard := exclusive(rw.Guard, earlier[cell])
		earlier[cell] = append(earlier[cell], rw.Guard)
		pick := func(ctx context.Context, _ ...any) bool {
			r := runOf(ctx)
			if !guard(r, i) {
				return false
			}
			r.row = rw
			if r.seen != nil {
				r.seen.Fired = i
			}
			return true
		}
		cfg := m.Configure(rw.From)
		if rw.Internal() {
			cfg.InternalTransition(rw.On, func(ctx context.Context, _ ...any) error {
				r := runOf(ctx)
				r.cause = r.row.Cause
				r.row.do(r)
				return nil
			}, pick)
			continue
		}
		cfg.Permit(rw.On, rw.To, pick)
	}
	for p := range NumPhases {
		if parent, ok := p.Parent(); ok {
			m.Configure(p).SubstateOf(parent)
		}
		if p != PhaseProcessing {
			m.Configure(p).OnEntry(enter)
		}
	}
	return m
}

// exclusive makes the rows of one cell first-match: a row's guard holds only
// where none before it does. The library panics on two that hold.
func exclusive(own Guard, earlier []Guard) func(*run, int) bool {
	return func(r *run, row int) bool {
		for _, g := range earlier {
			if g.holds == nil || g.holds(r) {
				return false
			}
		}
		if own.holds == nil {
			return true
		}
		held := own.holds(r)
		if r.seen != nil {
			r.seen.Guards = append(r.seen.Guards, GuardSeen{Row: row, Held: held})
		}
		return held
	}
}

// enter is the one place where the conversation's phase is assigned.
func enter(ctx context.Context, _ ...any) error {
	r := runOf(ctx)
	from := r.st.Phase()
	r.st.Previous, r.st.Since, r.st.CauseSeq = from, r.env.At, r.env.Seq
	at := len(r.fx)
	r.emit(nil) // the news of this transition, completed below: the action decides the turn
	r.cause = r.row.Cause
	r.prior = r.st.Conv
	r.st.Conv = plain(r.phase)
	r.row.do(r)
	r.st.Cause = r.cause
	r.fx[at] = PublishState{From: from, To: r.phase, Cause: r.cause, Seq: r.env.Seq, Turn: r.st.Current.ID, Code: r.code}
	if got := r.st.Phase(); got != r.phase {
		r.emit(Report{What: fmt.Sprintf("entering %v left the conversation in %v", r.phase, got)})
	}
	return nil
}

func (r *run) emit(e Effect) { r.fx = append(r.fx, e) }
