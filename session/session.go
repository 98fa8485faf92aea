package session

import (
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// State is one of the seven states of a session.
type State uint8

// The states.
const (
	Inactive     State = iota // no service; the resting state
	Activating                // credentials and resources are being acquired
	Ready                     // the service is available, no turn is running
	Running                   // the assistant is working on a turn
	Waiting                   // the assistant is waiting for the user (question or permission)
	Deactivating              // tearing down
	Error                     // failed; leaves by activating again or giving up
	numStates
)

var stateNames = [numStates]string{"inactive", "activating", "ready", "running", "waiting", "deactivating", "error"}

func (s State) String() string {
	if s >= numStates {
		return fmt.Sprintf("State(%d)", uint8(s))
	}
	return stateNames[s]
}

// InTurn says that a turn is in progress: the assistant is working on it or waiting for
// the user.
func (s State) InTurn() bool { return s == Running || s == Waiting }

// Status is what a session reports about itself.
type Status uint8

// The statuses.
const (
	Created           Status = iota // asks for activating
	Connected                       // ready
	TurnStarted                     // running
	TurnComplete                    // ready
	TurnError                       // ready from running, else error
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

// Row is one line of the region's table, which needs no guards.
type (
	Row   = statechart.Row[State, Status, none, none, none]
	Guard = statechart.Guard[none]
)

type none = struct{}

var table = statechart.New(Table(), nil)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, nil) }

// Table returns the rows in order: the guard map, with the status that requests each
// change.
func Table() []Row {
	row := func(from State, on Status, to State) Row { return Row{From: from, On: on, To: to} }
	return []Row{
		row(Inactive, Created, Activating),

		row(Activating, Connected, Ready),
		row(Activating, TurnComplete, Ready),
		row(Activating, TurnError, Error),
		row(Activating, Failed, Error),
		row(Activating, Terminated, Inactive),

		row(Ready, TurnStarted, Running),
		row(Ready, ApprovalResolved, Running),
		row(Ready, TerminationBegun, Deactivating),
		row(Ready, Terminated, Inactive),
		row(Ready, TurnError, Error),
		row(Ready, Failed, Error),

		row(Running, Connected, Ready),
		row(Running, TurnComplete, Ready),
		row(Running, TurnError, Ready),
		row(Running, QuestionRequested, Waiting),
		row(Running, TerminationBegun, Deactivating),
		row(Running, Failed, Error),

		row(Waiting, TurnStarted, Running),
		row(Waiting, ApprovalResolved, Running),
		row(Waiting, TerminationBegun, Deactivating),
		row(Waiting, Failed, Error),

		row(Deactivating, Terminated, Inactive),
		row(Deactivating, TurnError, Error),
		row(Deactivating, Failed, Error),

		row(Error, Created, Activating),
		row(Error, Terminated, Inactive),
	}
}

// Allowed says whether the guard map allows the change.
func Allowed(from, to State) bool {
	return slices.ContainsFunc(table.Rows, func(r Row) bool { return r.From == from && r.To == to })
}

// Next applies a status. If the guard map forbids it, the state is unchanged and ok is
// false.
func Next(s State, status Status) (next State, ok bool) {
	row := table.Choose(s, status, none{})
	if row == nil {
		return s, false
	}
	return row.To, true
}

// Path returns the shortest sequence of states that the guard map allows from one state
// to another, excluding the first. It is empty if they are equal or to is unreachable.
// Several statuses may be reported at once, for example when a turn ends while the user
// is being asked; clients are shown every step.
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
