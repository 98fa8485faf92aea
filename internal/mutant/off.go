//go:build !mutants

package mutant

import (
	"errors"
	"fmt"
)

// ErrNone is returned by Select in a build without mutants.
var ErrNone = errors.New("this build has no mutants; use bin/agentvoice-daemon-debug (`make debug`)")

// Select returns ErrNone.
func Select(name string) error { return fmt.Errorf("mutant %q: %w", name, ErrNone) }

// Names returns nil.
func Names() []string { return nil }
