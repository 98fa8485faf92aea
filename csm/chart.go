package csm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/qmuntal/stateless"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// run is one step in progress: a working copy of the state, the event, and the results so
// far. It is also the context of the state machine's callbacks, which reach it through
// Value, and the machine's external storage.
type run struct {
	context.Context
	st  State
	env Envelope
	fx  []Effect
	// room is the initial backing array of fx: most steps have no more effects.
	room [8]Effect

	phase   Phase        // the machine's state
	prior   Conversation // the phase being left, with its data
	row     *Row         // the row that fired
	cause   Cause        // its cause, unless the row's action overrode it
	told    Cause        // the cause given by the approval region
	code    Code         // failure code published with the transition
	refused Code         // reply code of a rejected call
	replied uint64
	refresh uint32 // armed timers to restart
	newsAt  int    // index in fx at which the transition is published

	raised  []Kind // triggers to dispatch next
	retried uint64 // the call being retried

	seen *Observation // what StepObserved reports, nil for Step

	speechOut  speech.Outcome     // meaning of the event to the speech region
	copilotOut copilot.Outcome    // to the copilot region
	connOut    connection.Outcome // and to the connection
	was        copilot.State      // the copilot region before the event
	words      turn.Utterance     // the utterance whose words the event carries
	lost       bool               // words of the user were lost or not understood
}

type runKey struct{}

// Value returns the run to the machine's callbacks.
func (r *run) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return r
	}
	return nil
}

func runOf(ctx context.Context) *run {
	if r, ok := ctx.(*run); ok { // fast path: not wrapped by the library
		return r
	}
	return ctx.Value(runKey{}).(*run)
}

// errUnhandled is the machine's error for an event without a row.
var errUnhandled = errors.New("no transition")

// machine is configured once from the table. It has no state of its own: its storage is
// the run, so that any number of goroutines may step different states.
var (
	table   = statechart.New(Table(), parents)
	machine = configure(table)
)

// entering holds the entry actions of the phases, which run after the row's action.
var entering = [numNames]func(*run){
	PhaseIdle: (*run).reset, PhasePreparing: (*run).prepare, PhaseListening: (*run).listen,
	PhaseFaulted: (*run).fault, PhaseTerminating: (*run).terminate,
}

// configure builds the machine. Each cell is one dynamic transition, and entry actions
// run as part of it: the library's own guards, internal transitions and entry actions
// would cost two allocations in every step that keeps its phase.
func configure(t *statechart.Table[Phase, Kind, Cause, *run, func(*run)]) *stateless.StateMachine {
	m := stateless.NewStateMachineWithExternalStorage(
		func(ctx context.Context) (stateless.State, error) { return runOf(ctx).phase, nil },
		func(ctx context.Context, s stateless.State) error {
			runOf(ctx).take(s.(Phase))
			return nil
		},
		stateless.FiringImmediate)
	m.OnUnhandledTrigger(func(context.Context, stateless.State, stateless.Trigger, []string) error {
		return errUnhandled
	})
	m.OnTransitioned(func(ctx context.Context, _ stateless.Transition) {
		if r := runOf(ctx); !r.row.Internal() && entering[r.row.To] != nil {
			entering[r.row.To](r)
		}
	})
	for p := range numNames {
		state := m.Configure(p)
		if parent, ok := p.Parent(); ok {
			state.SubstateOf(parent)
		}
		for on := range numTriggers {
			c := t.Cell(p, on)
			choose := func(ctx context.Context, _ ...any) bool { return runOf(ctx).choose(c) }
			to := func(ctx context.Context, args ...any) (stateless.State, error) {
				if c.Always {
					choose(ctx, args...)
				}
				r := runOf(ctx)
				return r.row.Next(r.phase), nil
			}
			switch {
			case len(c.Rows) == 0 || t.Rows[c.Rows[0]].From != p: // the library uses the superstate's
			case c.Always: // unconditional, which spares the library an allocation
				state.PermitDynamic(on, to)
			default:
				state.PermitDynamic(on, to, choose)
			}
		}
	}
	return m
}

// choose takes the first row whose guard holds.
func (r *run) choose(c statechart.Cell) bool {
	for _, i := range c.Rows {
		rw := &table.Rows[i]
		if rw.Guard.Holds != nil {
			holds := rw.Guard.Holds(r)
			if r.seen != nil {
				r.seen.Guards = append(r.seen.Guards, GuardSeen{Row: i, Held: holds})
			}
			if !holds {
				continue
			}
		}
		r.row = rw
		if r.seen != nil {
			r.seen.Fired = append(r.seen.Fired, i)
		}
		return true
	}
	return false
}

// raise dispatches a trigger after the current row.
func (r *run) raise(on Kind) { r.raised = append(r.raised, on) }

// dispatch offers a trigger to the regions, followed by the triggers raised meanwhile.
func (r *run) dispatch(on Kind) error {
	err := r.offer(on)
	if err == nil {
		err = r.drain()
	}
	return err
}

// offer passes a trigger to the approval region, or to the conversation if that has no
// row for it.
func (r *run) offer(on Kind) error {
	if at := r.st.Approval.State.phase(); at != ApprovalNone || on == AnswerAsks {
		if err := r.fire(at, on); !errors.Is(err, errUnhandled) {
			return err
		}
	}
	return r.fire(r.st.Conv.Phase(), on)
}

// drain offers the raised triggers. A trigger without a row is dropped.
func (r *run) drain() error {
	for len(r.raised) > 0 {
		next := r.raised[0]
		r.raised = r.raised[1:]
		if err := r.offer(next); err != nil && !errors.Is(err, errUnhandled) {
			return err
		}
	}
	return nil
}

func (r *run) fire(at Phase, on Kind) error {
	r.phase = at
	return machine.FireCtx(r, on)
}

// take runs the chosen row's action. The machine calls it to store the new state, which
// an internal transition does not change.
func (r *run) take(to Phase) {
	switch {
	case r.row.Internal():
	case to < NumPhases:
		r.enter(to)
	default:
		r.st.Approval.State, r.told = ApprovalState(to-ApprovalNone), r.row.Means
	}
	if r.row.Do != nil {
		r.row.Do(r)
	}
}

// enter changes the conversation's phase; the action adds the new phase's data. What is left of an
// interrupted turn goes when Interrupted is left.
func (r *run) enter(to Phase) {
	r.phase = to
	r.newsAt = len(r.fx)
	r.cause = r.row.Means
	if r.row.On == ApprovalListens {
		r.cause = r.told
	}
	r.prior = r.st.Conv
	if in, _ := r.prior.(Interrupted); r.st.Cleared() {
		r.cleared(in)
	}
	r.st.Conv = plain[to]
}

// complete takes rows on KindSettled, the approval region's first, until none applies.
func (r *run) complete() {
	for range maxCompletions {
		if !r.choose(table.Cell(r.st.Approval.State.phase(), KindSettled)) && !r.choose(table.Cell(r.st.Conv.Phase(), KindSettled)) {
			return
		}
		seen := r.seen
		r.seen = nil // the machine evaluates the same guards again
		err := r.offer(KindSettled)
		if r.seen = seen; err == nil {
			err = r.drain()
		}
		if err != nil {
			r.emit(Report{What: fmt.Sprintf("settling in %v: %v", r.phase, err)})
			return
		}
	}
	r.emit(Report{What: fmt.Sprintf("settling does not terminate in %v", r.phase)})
}

// maxCompletions is more than any step needs.
const maxCompletions = 8

// publish publishes the step's transition at the place where it happened (REQ-010).
func (r *run) publish(before *State) {
	st := &r.st
	from, to := before.Phase(), st.Phase()
	if from == to {
		return
	}
	if before.Hold != st.Hold && (from == PhaseSuspended) != (to == PhaseSuspended) && st.Conv.Phase().Active() {
		r.cause, r.newsAt = holdCause(KindOf(r.env.Event)), 0
	}
	st.Previous, st.Since, st.Cause, st.CauseSeq = from, r.env.At, r.cause, r.env.Seq
	r.fx = slices.Insert(r.fx, r.newsAt, Effect(PublishState{From: from, To: to, Cause: r.cause, Seq: r.env.Seq, Turn: st.Current.ID, Code: r.code}))
}

func (r *run) emit(e Effect) { r.fx = append(r.fx, e) }
