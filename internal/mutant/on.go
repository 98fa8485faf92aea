//go:build mutants

package mutant

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that selects a mutant for a whole process.
const Variable = "AGENTVOICE_MUTANT"

// none means that no mutant is active.
const none = -1

// active is the number of the active mutant. It is set before the core's first step
// and does not change during a run, so it needs no lock.
var active = none

// rebuilds reinitializes package variables that depend on the mutant.
var rebuilds []func()

func init() {
	name, set := os.LookupEnv(Variable)
	if !set || name == "" {
		return
	}
	if err := Select(name); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
}

// On reports whether the mutant with this number is active. Only generated files call
// it.
func On(number int) bool { return active == number }

// Choose returns mutated if on, otherwise original.
func Choose[T any](on bool, mutated, original T) T {
	if on {
		return mutated
	}
	return original
}

// Names lists the mutants of this build, handwritten ones first.
func Names() []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
}

// Select activates the mutant with that name; the empty name deactivates all. Call it
// before the core's first step.
func Select(name string) error {
	active = none
	if name != "" {
		active = slices.Index(names, name)
		switch {
		case active == none && len(names) == 0:
			return fmt.Errorf("mutant %q: the build has the tag mutants but not the overlay; use `make debug`", name)
		case active == none:
			return fmt.Errorf("mutant %q: unknown name; the named ones are %s", name, strings.Join(written(), ", "))
		}
	}
	for range 2 { // one may depend on another that comes after it
		for _, f := range rebuilds {
			f()
		}
	}
	return nil
}

// written lists the mutants with a name, not just a number.
func written() []string {
	return slices.DeleteFunc(Names(), func(n string) bool { return strings.HasPrefix(n, "auto-") })
}

// Rebuild registers f to be called whenever a mutant is selected, to reinitialize
// package variables. Only generated files call it.
func Rebuild(f func()) { rebuilds = append(rebuilds, f) }
