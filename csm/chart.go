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
	table   = Table()
	machine = configure(table)
)

func configure(rows []Row) *stateless.StateMachine {
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
	for _, c := range cells(rows) {
		if c.on == KindSettled {
			settled[c.from] = c.rows
		}
		choose := func(ctx context.Context, _ ...any) bool { return runOf(ctx).choose(rows, c.rows) }
		to := func(ctx context.Context, args ...any) (stateless.State, error) {
			if c.always {
				choose(ctx, args...)
			}
			return runOf(ctx).row.To, nil
		}
		if c.always { // there is a row: the library need not ask, which costs it memory
			m.Configure(c.from).PermitDynamic(c.on, to)
		} else {
			m.Configure(c.from).PermitDynamic(c.on, to, choose)
		}
	}
	for p := range numNames {
		if parent, ok := p.Parent(); ok {
			m.Configure(p).SubstateOf(parent)
		}
	}
	return m
}

// settled are the rows on KindSettled of each phase, as indices of the table.
var settled [numNames][]int

// cell is the rows of one state and event, as indices of the table.
type cell struct {
	from   Phase
	on     Kind
	rows   []int
	always bool // the last of them has no guard
}

// cells groups rows by state and event, in the order of the table.
func cells(rows []Row) []*cell {
	var out []*cell
	at := map[[2]uint8]*cell{}
	for i, row := range rows {
		key := [2]uint8{uint8(row.From), uint8(row.On)}
		c := at[key]
		if c == nil {
			c = &cell{from: row.From, on: row.On}
			at[key] = c
			out = append(out, c)
		}
		c.rows = append(c.rows, i)
		c.always = row.Guard.holds == nil
	}
	// A cell also has the rows of its superstates: the library would look there, but
	// only after it has made a list of the guards that did not hold.
	own := make([][]int, len(out))
	for i, c := range out {
		own[i] = c.rows
	}
	for _, c := range out {
		for p, ok := c.from.Parent(); ok && !c.always; p, ok = p.Parent() {
			if i := slices.IndexFunc(out, func(s *cell) bool { return s.from == p && s.on == c.on }); i >= 0 {
				c.rows = append(c.rows[:len(c.rows):len(c.rows)], own[i]...)
				c.always = rows[own[i][len(own[i])-1]].Guard.holds == nil
			}
		}
	}
	return out
}

// choose takes the first row whose guard holds.
func (r *run) choose(rows []Row, among []int) bool {
	for _, i := range among {
		rw := &rows[i]
		if rw.Guard.holds != nil {
			held := rw.Guard.holds(r)
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
		r.row.do(r)
	case to.In(PhaseAny):
		r.enter(to)
	default:
		r.st.Approval.State, r.told = ApprovalState(to-ApprovalNone), r.row.Cause
		r.row.do(r)
	}
}

// enter is the one place where the conversation's phase is assigned.
func (r *run) enter(to Phase) {
	r.phase = to
	r.newsAt = len(r.fx)
	r.cause = r.row.Cause
	if r.row.On == ApprovalListens || r.row.On == ApprovalDecided {
		r.cause = r.told
	}
	r.prior = r.st.Conv
	r.st.Conv = plain(to)
	r.row.do(r)
	if got := r.st.Conv.Phase(); got != to {
		r.emit(Report{What: fmt.Sprintf("entering %v left the conversation in %v", to, got)})
	}
}

// complete takes the rows on KindSettled, the approval region's first, until none is
// due.
func (r *run) complete() {
	for range maxCompletions {
		if !r.choose(table, settled[r.st.Approval.State.phase()]) && !r.choose(table, settled[r.st.Conv.Phase()]) {
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
		r.cause, r.newsAt = holdCause(r.env.Event.Kind()), 0
	}
	st.Previous, st.Since, st.Cause, st.CauseSeq = from, r.env.At, r.cause, r.env.Seq
	r.fx = slices.Insert(r.fx, r.newsAt, Effect(PublishState{From: from, To: to, Cause: r.cause, Seq: r.env.Seq, Turn: st.Current.ID, Code: r.code}))
}

func (r *run) emit(e Effect) { r.fx = append(r.fx, e) }
