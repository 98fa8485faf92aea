package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/explore"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/mutant"
)

// exploration holds the command-line options.
type exploration struct {
	worlds  []string
	deep    bool
	pairs   bool
	states  int
	budget  time.Duration
	out     string
	mutant  string
	most    int
	asJSON  bool
	verbose bool
}

func newExplore() *cobra.Command {
	var x exploration
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Model-check the conversation core",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return x.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&x.worlds, "world", nil, "worlds to explore: "+strings.Join(worldNames(), ", ")+" (default all)")
	f.BoolVar(&x.deep, "deep", false, "use larger bounds")
	f.BoolVar(&x.pairs, "pairs", false, "explore every pair of worlds; --world ONE+OTHER names one pair")
	f.IntVar(&x.states, "states", 0, "stop each world after this many states; 0 for no limit")
	f.DurationVar(&x.budget, "budget", 0, "stop after this time; 0 for no limit")
	f.StringVar(&x.out, "out", ".", "folder for the journal and scenario of a violation")
	f.StringVar(&x.mutant, "mutant", "", "explore with this seeded fault; needs a debug build")
	f.IntVar(&x.most, "violations", 1, "stop a world after this many different violations")
	f.BoolVar(&x.asJSON, "json", false, "print one JSON object")
	f.BoolVar(&x.verbose, "progress", false, "print progress to stderr")
	return cmd
}

func worldNames() (names []string) {
	for _, w := range explore.Worlds() {
		names = append(names, w.Name)
	}
	return names
}

func (x *exploration) run(ctx context.Context, stdout, stderr io.Writer) error {
	if x.mutant != "" {
		if err := mutant.Select(x.mutant); err != nil {
			return misuse{fmt.Errorf("--mutant %s: %w", x.mutant, err)}
		}
	}
	if err := x.check(); err != nil {
		return misuse{err}
	}
	worlds, err := x.chosen()
	if err != nil {
		return err
	}
	debug.SetGCPercent(400) // it allocates much and retains little, so trade memory for GC time
	begin := time.Now()
	o := explore.Options{
		Worlds: worlds, Workers: runtime.GOMAXPROCS(0), MaxViolations: x.most, MaxStates: x.states,
		Now:     func() time.Duration { return time.Since(begin) },
		Expired: func() bool { return x.budget > 0 && time.Since(begin) > x.budget || ctx.Err() != nil },
	}
	if x.verbose {
		o.Progress = func(world string, states, edges, frontier int) {
			fmt.Fprintf(stderr, "%-12s %9d states %10d edges %8d to go %8.1f s\n", world, states, edges, frontier, time.Since(begin).Seconds())
		}
	}
	r := explore.Run(o)
	if x.asJSON {
		err = json.NewEncoder(stdout).Encode(r)
	} else {
		_, err = fmt.Fprint(stdout, r)
	}
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if ctx.Err() != nil {
		return errors.New("explore: stopped before the end")
	}
	return x.verdict(r, stdout)
}

// check returns an error for the first invalid flag.
func (x *exploration) check() error {
	switch info, err := os.Stat(x.out); {
	case x.states < 0:
		return fmt.Errorf("--states %d: use a number above 0, or 0 for no limit", x.states)
	case x.budget < 0:
		return fmt.Errorf("--budget %v: use a duration such as 90s, or 0 for no limit", x.budget)
	case x.most < 1:
		return fmt.Errorf("--violations %d: use a number above 0", x.most)
	case err != nil || !info.IsDir():
		return fmt.Errorf("--out %s: the folder does not exist; create it or use another", x.out)
	}
	return nil
}

// chosen returns the worlds that were named, or all.
func (x *exploration) chosen() ([]explore.World, error) {
	all := explore.Worlds()
	if x.deep {
		all = explore.DeepWorlds()
	}
	pairs := explore.Pairs(all)
	switch {
	case len(x.worlds) == 0 && x.pairs:
		return pairs, nil
	case len(x.worlds) == 0:
		return all, nil
	}
	var out []explore.World
	for _, name := range x.worlds {
		n := len(out)
		for _, w := range append(all, pairs...) {
			if w.Name == name {
				out = append(out, w)
			}
		}
		if len(out) == n {
			return nil, misuse{fmt.Errorf("--world %s: use one of %s", name, strings.Join(worldNames(), ", "))}
		}
	}
	return out, nil
}

// verdict saves each violation. It returns an error for a violation, or if the exploration is
// incomplete although it had no limit.
func (x *exploration) verdict(r *explore.Report, stdout io.Writer) error {
	var first error
	for i, v := range r.Violations() {
		base := filepath.Join(x.out, fmt.Sprintf("explore-%s-%s-%d", v.World, v.Check, i+1))
		if err := errors.Join(save(base+".jsonl", v, writeJournal), save(base+".txt", v, explore.WriteScenario)); err != nil {
			return err
		}
		if !x.asJSON {
			fmt.Fprintf(stdout, "\n%s.jsonl\n", base)
			if err := explore.WriteScenario(stdout, v); err != nil {
				return err
			}
		}
		if first == nil {
			first = fmt.Errorf("explore: %w; the events are in %s.jsonl and %s.txt", v, base, base)
		}
	}
	if first == nil && x.budget == 0 && x.states == 0 && !r.Closed() {
		return errors.New("explore: some worlds were not fully explored")
	}
	return first
}

func save(path string, v *explore.Violation, write func(io.Writer, *explore.Violation) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("save the violation: %w", err)
	}
	return errors.Join(write(file, v), file.Close())
}

// writeJournal records the events of v and the core's reaction to them.
func writeJournal(out io.Writer, v *explore.Violation) error {
	w, err := journal.NewWriter(out, journal.Header{Build: version(), Content: journal.Redacted, Started: time.Now(), Speed: 1})
	if err != nil {
		return err
	}
	s := csm.Initial()
	for _, e := range v.Steps {
		w.Event(e)
		var fx []csm.Effect
		s, fx = csm.Step(s, e)
		w.Outcome(s, fx)
	}
	return w.Close()
}
