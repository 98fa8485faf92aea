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

// none is the number of no mutant.
const none = -1

// active is the number of the active mutant. It is set before anything is
// stepped and not changed while something is, so it needs no lock.
var active = none

// rebuilds make again what packages made when they were initialised.
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

// On says whether the mutant with this number is active. Only files that the tool
// wrote call it.
func On(number int) bool { return active == number }

// Choose is mutated or original.
func Choose[T any](on bool, mutated, original T) T {
	if on {
		return mutated
	}
	return original
}

// Names lists the mutants of this build, those that were written by hand first.
func Names() []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
}

// Select makes the mutant of that name the active one, and the empty name none.
// It must be called before anything is stepped.
func Select(name string) error {
	active = none
	if name != "" {
		active = slices.Index(names, name)
		switch {
		case active == none && len(names) == 0:
			return fmt.Errorf("mutant %q: the build has the tag mutants and not the overlay; `make debug` gives it both", name)
		case active == none:
			return fmt.Errorf("mutant %q: there is none of that name; the named ones are %s", name, strings.Join(written(), ", "))
		}
	}
	for range 2 { // one may be made from another that comes after it
		for _, f := range rebuilds {
			f()
		}
	}
	return nil
}

// written are the mutants that have a name and not only a number.
func written() []string {
	return slices.DeleteFunc(Names(), func(n string) bool { return strings.HasPrefix(n, "auto-") })
}

// Rebuild has f called whenever another mutant is selected: it makes again what a
// package made when it was initialised. Only files that the tool wrote call it.
func Rebuild(f func()) { rebuilds = append(rebuilds, f) }
