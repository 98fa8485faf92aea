// Package secondmodel checks the core against a second model: the conversation, hold,
// playback and approval regions in Promela, written from the documents instead of the
// code (testdata/promela).
//
//	prove secondmodel check     verify the model, and check the core and its mutants against it
//	prove secondmodel explain   print the differences between the model and the core
//	prove secondmodel traces    write this build's trace of each conversation
//
// A check needs spin and a C compiler. It passes if
//
//   - the model's invariants hold in every state of its worlds, each explored
//     completely, and it reaches every listed situation;
//   - it accepts the core's traces of every scenario and journal of the tree, step by
//     step, and is deterministic;
//   - it rejects the core's traces under each seeded fault of these regions, except
//     for those that testdata/promela/unseen.txt lists with a reason.
package secondmodel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Main runs a command of the second model, by the arguments that follow "secondmodel".
func Main(args []string) error {
	if len(args) != 1 {
		return errors.New("use check, explain or traces")
	}
	switch args[0] {
	case "traces":
		all, err := traces(".")
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(write(all))
		return err
	case "explain", "check":
		out, err := filepath.Abs("out/secondmodel")
		if err != nil {
			return err
		}
		c, err := newChecker(out)
		if err != nil {
			return err
		}
		if args[0] == "explain" {
			return c.explain(os.Stdout)
		}
		return c.check(os.Stdout)
	}
	return fmt.Errorf("unknown command %q; use check, explain or traces", args[0])
}
