package session

import (
	"fmt"
	"slices"
)

// State is one of the seven states of a session.
type State uint8

// The states.
const (
	Inactive     State = iota // no service; the resting state
	Activating                // credentials and resources are being acquired
	Ready                     // a service stands by, no turn runs
	Running                   // the assistant works on a turn
	Waiting                   // the assistant waits for the user (a question, a permission)
	Deactivating              // tear-down runs
	Error                     // failed; left by activating again or by giving up
	numStates
)

var stateNames = [numStates]string{"inactive", "activating", "ready", "running", "waiting", "deactivating", "error"}

func (s State) String() string {
	if s >= numStates {
		return fmt.Sprintf("State(%d)", uint8(s))
	}
	return stateNames[s]
}

// InTurn says that a turn is under way: the assistant works on it, or asked the
// user something for it.
func (s State) InTurn() bool { return s == Running || s == Waiting }

// Status is what a session reports about itself.
type Status uint8

// The statuses and the state each asks for.
const (
	Created           Status = iota // activating
	Connected                       // ready
	TurnStarted                     // running
	TurnComplete                    // ready
	TurnError                       // ready from running or waiting, else error
	QuestionRequested               // waiting
	ApprovalResolved                // running
	TerminationBegun                // deactivating
	Terminated                      // inactive
	Failed                          // error
	numStatuses
)

var statusNames = [numStatuses]string{
	"created", "connected", "turn_started", "turn_complete", "turn_error",
	"question_requested", "approval_resolved", "terminating", "terminated", "error",
}

func (s Status) String() string {
	if s >= numStatuses {
		return fmt.Sprintf("Status(%d)", uint8(s))
	}
	return statusNames[s]
}

// allowed is the guard map: bit t of allowed[s] says that s may become t.
var allowed = [numStates]uint8{
	Inactive:     1 << Activating,
	Activating:   1<<Ready | 1<<Error | 1<<Inactive,
	Ready:        1<<Running | 1<<Deactivating | 1<<Inactive | 1<<Error,
	Running:      1<<Ready | 1<<Waiting | 1<<Error | 1<<Deactivating,
	Waiting:      1<<Running | 1<<Error | 1<<Deactivating,
	Deactivating: 1<<Inactive | 1<<Error,
	Error:        1<<Inactive | 1<<Activating,
}

// Allowed says whether the guard map lets from become to.
func Allowed(from, to State) bool {
	return from < numStates && allowed[from]&(1<<to) != 0
}

// Next applies a status. ok is false, and the state unchanged, where the guard
// map does not allow what the status asks for.
func Next(s State, status Status) (next State, ok bool) {
	next = target(s, status)
	if !Allowed(s, next) {
		return s, false
	}
	return next, true
}

// target is the state that a status asks for. Only a turn's error depends on
// where it happens: in a turn it is the turn that failed, elsewhere the session.
func target(s State, status Status) State {
	switch status {
	case Created:
		return Activating
	case Connected, TurnComplete:
		return Ready
	case TurnStarted, ApprovalResolved:
		return Running
	case TurnError:
		if s.InTurn() {
			return Ready
		}
		return Error
	case QuestionRequested:
		return Waiting
	case TerminationBegun:
		return Deactivating
	case Terminated:
		return Inactive
	default:
		return Error
	}
}

// Path lists the states that lead from one state to another, without the first and
// with the last, by the shortest way that the guard map allows: one state where it
// allows to directly, none where from is to or to cannot be reached. Several statuses
// may be reported at once, as when a turn ends while the user is asked; whoever shows
// the changes shows each.
func Path(from, to State) []State {
	if from == to || from >= numStates || to >= numStates {
		return nil
	}
	paths := [numStates][]State{}
	for todo := []State{from}; len(todo) > 0; todo = todo[1:] {
		for next := range numStates {
			if next == from || paths[next] != nil || !Allowed(todo[0], next) {
				continue
			}
			paths[next] = append(slices.Clone(paths[todo[0]]), next)
			todo = append(todo, next)
		}
	}
	return paths[to]
}
