// Command prove checks what is promised of the core and of what carries out its effects.
//
//	prove requirements   what was promised, and what of it is proved
//	prove mutants        small faults, for each of which a test has to fail
//	prove behaviour      what the core does, cell by cell, against the recorded digest
//	prove secondmodel    the core beside a Promela model that was written from the documents
//	prove conformance    all gates in one run
//
// Each command's package says what its arguments are.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/prove/behaviour"
	"github.com/agentvoice/agentvoice-daemon/internal/prove/conformance"
	"github.com/agentvoice/agentvoice-daemon/internal/prove/mutants"
	"github.com/agentvoice/agentvoice-daemon/internal/prove/requirements"
	"github.com/agentvoice/agentvoice-daemon/internal/prove/secondmodel"
)

var commands = map[string]func(args []string) error{
	"requirements": requirements.Main,
	"mutants":      mutants.Main,
	"behaviour":    behaviour.Main,
	"secondmodel":  secondmodel.Main,
	"conformance":  conformance.Main,
}

func main() {
	var name string
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	run, ok := commands[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "prove: give a command: %s\n", strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
		os.Exit(2)
	}
	if err := run(os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "prove %s: %v\n", name, err)
		os.Exit(1)
	}
}
