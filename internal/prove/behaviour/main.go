// Package behaviour records the behaviour of the core, cell by cell: for each phase and each
// kind of event, how often it was stepped, and a digest of all resulting states and
// effects.
//
//	prove behaviour            print it
//	prove behaviour -update    write it to testdata/mutants/behaviour.txt
//
// It does not say what is right; scenarios, requirements and exploration do. It
// ensures that no change of the core's behaviour goes unnoticed: a test compares the
// core with the file. A change in the result of an event shows in its cells; one that
// redirects walks shows in most cells.
//
// The states are found by walks that follow a fixed sequence of random numbers, and
// the events are generated from their types: every id field gets the ids that are
// live in the state.
package behaviour

import (
	"flag"
	"fmt"
	"os"
)

// path of the file, relative to the module root.
const path = "testdata/mutants/behaviour.txt"

// Main prints or updates the record, by the arguments that follow "behaviour".
func Main(args []string) error {
	flags := flag.NewFlagSet("behaviour", flag.ContinueOnError)
	update := flags.Bool("update", false, "write "+path+"; run it in the module root")
	if err := flags.Parse(args); err != nil {
		return err
	}
	told, err := scenarios(".")
	if err != nil {
		return fmt.Errorf("run this in the module root: %w", err)
	}
	text := head + observe(states, told).String()
	if !*update {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

const head = `# What the core does: phase, event, steps, digest. Written by
#	go run ./internal/prove behaviour -update
# when a change of what the core does was meant.
`
