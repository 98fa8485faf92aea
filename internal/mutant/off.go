//go:build !mutants

package mutant

import (
	"errors"
	"fmt"
)

// ErrNone says that this build has no mutants.
var ErrNone = errors.New("this build has no mutants; `make debug` builds bin/agentvoice-daemon-debug, which has")

// Select fails: this build has no mutants.
func Select(name string) error { return fmt.Errorf("mutant %q: %w", name, ErrNone) }

// Names is empty: this build has no mutants.
func Names() []string { return nil }
