package session

import (
	"fmt"
	"strings"
)

// legacyNames are the state names of the older four-state model (idle, running,
// awaiting_question, error) that no longer exist. An idle session had no turn, with or
// without a service; it is read as the state without a service.
var legacyNames = map[string]State{"idle": Inactive, "awaiting_question": Waiting}

// Parse returns the state of a recorded name, current or legacy. Names are
// case-sensitive.
func Parse(name string) (State, error) {
	for s, n := range stateNames {
		if n == name {
			return State(s), nil
		}
	}
	if s, ok := legacyNames[name]; ok {
		return s, nil
	}
	return Inactive, fmt.Errorf("session: unknown state %.40q; use one of %s (or the legacy idle, awaiting_question)",
		name, strings.Join(stateNames[:], ", "))
}

// MarshalText writes the current name of the state.
func (s State) MarshalText() ([]byte, error) {
	if s >= numStates {
		return nil, fmt.Errorf("session: cannot encode %v: there are only %d states", s, numStates)
	}
	return []byte(s.String()), nil
}

// UnmarshalText accepts the names of MarshalText and legacy names.
func (s *State) UnmarshalText(text []byte) error {
	state, err := Parse(string(text))
	if err == nil {
		*s = state
	}
	return err
}

// Reconcile returns the state of a session at startup, given its recorded state:
// Inactive, since no service survives a restart. This is not a change of a live session,
// so the guard map does not apply.
func Reconcile(State) State { return Inactive }

// Stale says that Reconcile changes s: the previous process exited in the middle of the
// session, and the user is informed of the reset.
func Stale(s State) bool { return s != Reconcile(s) }
