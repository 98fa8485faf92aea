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

// run is one step in progress: a working copy of the state, the event, and what
// came of it so far. It is also the context of the state machine's callbacks,
// which reach it through Value, and the machine's external storage.
type run struct {
	context.Context
	st  State
	env Envelope
	fx  []Effect
	// room is where fx begins: most steps have no more effects than fit.
	room [8]Effect

	phase   Phase        // the machine's state
	prior   Conversation // the phase that is being left, with its data
	row     *Row         // the row that fired
	cause   Cause        // its cause, unless the row's action found a better one
	told    Cause        // why the approval region had the conversation act
	code    Code         // the failure that a transition is published with
	refused Code         // the answer to a call that cannot be carried out
	replied uint64
	refresh uint32 // timers to restart though they are armed
	newsAt  int    // where the news of a transition belongs among the effects

	raised  []Kind // what the regions are told of next
	retried uint64 // the call that is tried again

	seen *Observation // what StepObserved reports, nil for Step

	speechOut  speech.Outcome     // what the event meant to the speech region
	copilotOut copilot.Outcome    // to the copilot region
	connOut    connection.Outcome // and to the connection
	was        copilot.State      // the copilot region before the event
	words      turn.Utterance     // the utterance that the event is the words of
}

type runKey struct{}

// Value gives the machine's callbacks the run.
func (r *run) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return r
	}
	return nil
}

func runOf(ctx context.Context) *run {
	if r, ok := ctx.(*run); ok { // not wrapped by the library
		return r
	}
	return ctx.Value(runKey{}).(*run)
}

// errUnhandled is how the machine reports an event without a row.
var errUnhandled = errors.New("no transition")

// machine is configured from the table once. It holds no state of its own: the
// storage is the run, so that any number of goroutines may step different
// states.
var (
	table   = statechart.New(Table(), parents)
	machine = configure(table)
)

// entering is what every way into a phase does, after the row.
var entering = [numNames]func(*run){
	PhaseIdle: (*run).reset, PhasePreparing: (*run).prepare, PhaseListening: (*run).listen,
	PhaseFaulted: (*run).fault, PhaseTerminating: (*run).terminate,
}

// configure makes the machine. Each cell is one dynamic transition, and what a phase does
// on entry is told by the transition: the library's own guards, internal transitions and
// entry actions cost two allocations in every step that keeps its phase.
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
			case len(c.Rows) == 0 || t.Rows[c.Rows[0]].From != p: // the library finds those of the superstate
			case c.Always: // there is a row: the library need not ask, which costs it memory
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
			held := rw.Guard.Holds(r)
			if r.seen != nil {
				r.seen.Guards = append(r.seen.Guards, GuardSeen{Row: i, Held: held})
			}
			if !held {
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

// raise has the regions told of something when the present row is through.
func (r *run) raise(on Kind) { r.raised = append(r.raised, on) }

// dispatch has the regions take a trigger, and what is raised meanwhile.
func (r *run) dispatch(on Kind) error {
	err := r.offer(on)
	if err == nil {
		err = r.drain()
	}
	return err
}

// offer has the approval region take a trigger, or the conversation where that has no
// row for it.
func (r *run) offer(on Kind) error {
	if at := r.st.Approval.State.phase(); at != ApprovalNone || on == AnswerAsks {
		if err := r.fire(at, on); !errors.Is(err, errUnhandled) {
			return err
		}
	}
	return r.fire(r.st.Conv.Phase(), on)
}

// drain offers what was raised. What has no row for it has its own way from there.
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

// take runs the chosen row's action. The machine calls it where it stores the state
// it has come to, which an internal row leaves as it was.
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

// enter is the one place where the conversation's phase is assigned.
func (r *run) enter(to Phase) {
	r.phase = to
	r.newsAt = len(r.fx)
	r.cause = r.row.Means
	if r.row.On == ApprovalListens {
		r.cause = r.told
	}
	r.prior = r.st.Conv
	r.st.Conv = plain[to]
}

// complete takes the rows on KindSettled, the approval region's first, until none is
// due.
func (r *run) complete() {
	for range maxCompletions {
		if !r.choose(table.Cell(r.st.Approval.State.phase(), KindSettled)) && !r.choose(table.Cell(r.st.Conv.Phase(), KindSettled)) {
			return
		}
		seen := r.seen
		r.seen = nil // the machine asks the same guards again
		err := r.offer(KindSettled)
		if r.seen = seen; err == nil {
			err = r.drain()
		}
		if err != nil {
			r.emit(Report{What: fmt.Sprintf("settling in %v: %v", r.phase, err)})
			return
		}
	}
	r.emit(Report{What: fmt.Sprintf("nothing settles in %v", r.phase)})
}

// maxCompletions is more than any step takes.
const maxCompletions = 8

// publish tells of the step's transition, as it is shown, where it happened
// (REQ-010).
func (r *run) publish(before *State) {
	st := &r.st
	from, to := before.Phase(), st.Phase()
	if from == to {
		return
	}
	if before.held() != st.held() && st.Conv.Phase().Active() {
		r.cause, r.newsAt = holdCause(KindOf(r.env.Event)), 0
	}
	st.Previous, st.Since, st.Cause, st.CauseSeq = from, r.env.At, r.cause, r.env.Seq
	r.fx = slices.Insert(r.fx, r.newsAt, Effect(PublishState{From: from, To: to, Cause: r.cause, Seq: r.env.Seq, Turn: st.Current.ID, Code: r.code}))
}

func (r *run) emit(e Effect) { r.fx = append(r.fx, e) }
