// Behaviour writes down what the core does, cell by cell: for each phase and each
// kind of event how often it was stepped there, and a digest of everything that
// came of it, states and effects.
//
//	behaviour            print it
//	behaviour -update    write it to testdata/mutants/behaviour.txt
//
// It says nothing of what is right; that is for scenarios, requirements and the
// exploration. It is there so that no line of the core changes what the core does
// without anybody noticing: a test holds the core against the file. A change of
// what comes of an event shows in its cells; one that leads walks elsewhere shows
// in most.
//
// The states are found by walks that follow a fixed sequence of random numbers,
// and the events are made from their types: every field with an id gets the ids
// that are live in the state.
package main

import (
	"flag"
	"fmt"
	"os"
)

// path of the file, from the root of the module.
const path = "testdata/mutants/behaviour.txt"

func main() {
	update := flag.Bool("update", false, "write "+path+"; run this at the root of the module")
	flag.Parse()
	told, err := scenarios(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "behaviour: run this at the root of the module:", err)
		os.Exit(1)
	}
	text := head + observe(states, told).String()
	if !*update {
		fmt.Print(text)
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "behaviour:", err)
		os.Exit(1)
	}
}

const head = `# What the core does: phase, event, steps, digest. Written by
#	go run ./internal/tools/behaviour -update
# when a change of what the core does was meant.
`
