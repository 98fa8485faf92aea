// Secondmodel has the core judged by a second model of it: the conversation, hold,
// playback and approval regions in Promela, written from the documents and not from
// the code (testdata/promela).
//
//	secondmodel check     verify the model, and have it judge the core and its mutants
//	secondmodel explain   print where the model and the core differ
//	secondmodel traces    write what this build's core makes of each conversation
//
// A check needs spin and a C compiler. It is green when
//
//   - the model keeps its promises in every state of its worlds, each explored to its
//     end, and reaches every situation that is listed;
//   - it accepts what the core makes of every scenario and journal of the tree, step by
//     step, and has one answer for each step;
//   - it rejects what the core makes of them under each seeded fault of these regions,
//     but for those that testdata/promela/unseen.txt names with a reason.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "secondmodel:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) != 1 {
		return errors.New("say check, explain or traces")
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
	return fmt.Errorf("%q is no command; say check, explain or traces", args[0])
}
