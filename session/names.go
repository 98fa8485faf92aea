package session

import (
	"fmt"
	"strings"
)

// legacyNames are the names of the older model of four states (idle, running,
// awaiting_question, error) that are not also names of today. An idle session had
// no turn, with or without a service; it is read as the state that presumes no
// service.
var legacyNames = map[string]State{"idle": Inactive, "awaiting_question": Waiting}

// Parse returns the state of a recorded name, of today's model or of the older
// one. Names are written as they are: no other case, no blanks.
func Parse(name string) (State, error) {
	for s, n := range stateNames {
		if n == name {
			return State(s), nil
		}
	}
	if s, ok := legacyNames[name]; ok {
		return s, nil
	}
	return Inactive, fmt.Errorf("session: there is no state %.40q; it must be one of %s (or of the older idle, awaiting_question)",
		name, strings.Join(stateNames[:], ", "))
}

// MarshalText writes the state's name, always of today's model.
func (s State) MarshalText() ([]byte, error) {
	if s >= numStates {
		return nil, fmt.Errorf("session: cannot write %v: there are only %d states", s, numStates)
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads what MarshalText wrote, and the older names.
func (s *State) UnmarshalText(text []byte) error {
	state, err := Parse(string(text))
	if err == nil {
		*s = state
	}
	return err
}

// Reconcile returns the state of a session whose recorded state is s, when the
// process starts: Inactive, since no service outlived the last one. This is no
// change of a live session, so the guard map does not apply.
func Reconcile(State) State { return Inactive }

// Stale says that Reconcile changes s: the last process ended in the middle of
// the session, and people are to be told that it was reset.
func Stale(s State) bool { return s != Reconcile(s) }
