// Package mutants tests the tests: it injects small faults, one at a time, into the core or
// (with -of handlers) into the code that executes its effects, and expects a test to
// fail for each.
//
//	prove mutants generate                 write the overlay of a debug build
//	prove mutants list                     print the faults
//	prove mutants run                      run those of testdata/mutants/seeded.txt
//	prove mutants run -auto -count 30      and a sample of 30 automatic ones, by -seed
//	prove mutants run -all                 and all automatic ones; resumes an interrupted run
//	prove mutants run -only NAME,NAME      only these
//	prove mutants run -of handlers -in copilot/editor
//	                                 the same for the handlers, in one package; without -in
//	                                 the automatic ones are those of settled files,
//	                                 which are all caught
//
// There are two kinds. Those of the list are handwritten, for each region and each
// invariant of the design. The automatic ones are derived from each guard, deadline,
// table row, effect and assignment, and in handlers also from each returned error,
// each constant that is a limit and each growing delay. All of them are in one build,
// each behind a switch (package mutant), so that thousands take minutes. The sources
// themselves are not changed.
//
// A mutant is caught if a test fails, crashes or does not end. The exit status is 1
// if one of the list survives, or an automatic one that is not in the list of
// equivalent mutants with a reason.
package mutants

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The errors that tests check.
var (
	errSurvivors = errors.New("mutants survived, or are listed as equivalent but were caught")
	errNoModule  = errors.New("no go.mod at or above the working folder; run this in a checkout")
)

// Main runs a command on mutants, by the arguments that follow "mutants".
func Main(args []string) error {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = moduleRoot(dir)
	}
	if err != nil {
		return err
	}
	return command([]project{core(dir), handlers(dir)}, args, os.Stdout)
}

// options are the command line options.
type options struct {
	of, in    string
	by        string
	out       string
	auto, all bool
	seed      uint64
	count     int
	class     string
	only      string
	jobs      int
	verbose   bool
}

func command(projects []project, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("use generate, list or run")
	}
	var o options
	flags := flag.NewFlagSet("mutants "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.of, "of", projects[0].name, "`what` to mutate: core or handlers")
	flags.StringVar(&o.in, "in", "", "only these `packages`: folders, separated by commas")
	flags.StringVar(&o.by, "by", "", "only these `detectors`, by their names in the summary")
	flags.StringVar(&o.out, "out", "", "`folder` for binaries and reports; out/mutants for the core")
	flags.BoolVar(&o.auto, "auto", false, "also automatic mutants, a sample")
	flags.BoolVar(&o.all, "all", false, "also all automatic mutants; reuses results for the same code")
	flags.Uint64Var(&o.seed, "seed", 0, "`seed` of the sample and of random tests; 0 for a random one")
	flags.IntVar(&o.count, "count", 30, "size of the sample")
	flags.StringVar(&o.class, "class", "", "only automatic mutants of these `classes`: guard, deadline, row, effect, state, error, bound")
	flags.StringVar(&o.only, "only", "", "only these `names`")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "how many to run at a time")
	flags.BoolVar(&o.verbose, "v", false, "print each result")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	i := slices.IndexFunc(projects, func(p project) bool { return p.name == o.of })
	if i < 0 {
		return fmt.Errorf("unknown target %q; use core or handlers", o.of)
	}
	if o.out == "" {
		o.out = projects[i].out
	}
	pr, err := projects[i].narrowed(o.in, o.by)
	if err != nil {
		return err
	}
	p, err := prepare(pr, o)
	if err != nil {
		return err
	}
	switch args[0] {
	case "generate":
		fmt.Fprintf(out, "mutants: %d of the list and %d automatic in %s\n", p.written, len(p.overlay.Mutants)-1-p.written, p.overlay.Path)
		return nil
	case "list":
		for _, m := range p.overlay.Mutants[1:] {
			if m.Class == "seeded" {
				fmt.Fprintf(out, "%s  breaks %s; %s\n", m.Name, strings.Join(m.Breaks, ", "), m.File)
			} else if o.auto || o.all {
				fmt.Fprintf(out, "%s  %s  %s\n", m.Name, m.Class, m.entry())
			}
		}
		return nil
	case "run":
		return p.run(o, out)
	}
	return fmt.Errorf("unknown command %q; use generate, list or run", args[0])
}

// prepared is the state before the first mutant runs.
type prepared struct {
	project
	overlay *overlay
	written int // number of mutants of the list
	excuses map[string]string
}

func prepare(pr project, o options) (*prepared, error) {
	t, err := load(pr)
	if err != nil {
		return nil, err
	}
	text, err := pr.file(pr.seeded)
	if err != nil {
		return nil, err
	}
	seeded, err := parseSeeded(pr.seeded, text)
	if err != nil {
		return nil, err
	}
	seeded = slices.DeleteFunc(seeded, func(m mutant) bool { return o.in != "" && !pr.has(m.File) })
	p := &prepared{project: pr, written: len(seeded)}
	if p.overlay, err = generate(t, seeded, o.out, pr.handlers); err != nil {
		return nil, err
	}
	if text, err = pr.file(pr.equivalent); err != nil {
		return nil, err
	}
	list, err := parseEquivalent(pr.equivalent, text)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e excuse) bool { return o.in != "" && !pr.has(e.file) })
	p.excuses, err = excuses(pr.equivalent, list, p.overlay.Mutants)
	return p, err
}

// chosen returns the mutants to run.
func (p *prepared) chosen(o options) ([]mutant, error) {
	all := p.overlay.Mutants[1:]
	if o.only != "" {
		var out []mutant
		for _, name := range strings.Split(o.only, ",") {
			i := slices.IndexFunc(all, func(m mutant) bool { return m.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("unknown mutant %q; `mutants list -all` prints them", name)
			}
			out = append(out, all[i])
		}
		return out, nil
	}
	out, automatic := slices.Clone(all[:p.written]), slices.Clone(all[p.written:])
	if o.in == "" {
		automatic = slices.DeleteFunc(automatic, func(m mutant) bool { return !p.settles(m.File) })
	}
	if o.class != "" {
		automatic = slices.DeleteFunc(automatic, func(m mutant) bool { return !slices.Contains(strings.Split(o.class, ","), m.Class) })
	}
	switch {
	case o.all:
		return append(out, automatic...), nil
	case o.auto:
		// Equivalent mutants prove nothing.
		automatic = slices.DeleteFunc(automatic, func(m mutant) bool { return p.excuses[m.Name] != "" })
		slices.SortFunc(automatic, func(a, b mutant) int { return cmp.Compare(rank(o.seed, a), rank(o.seed, b)) })
		return append(out, automatic[:min(o.count, len(automatic))]...), nil
	}
	return out, nil
}

// rank places a mutant in the order of the seed's sample. It depends on nothing but the
// mutant, so that a change of the code replaces only its own mutants in the sample.
func rank(seed uint64, m mutant) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.Name))
	return string(sum[:])
}

func (p *prepared) run(o options, out io.Writer) error {
	begin := time.Now()
	if o.seed == 0 {
		o.seed = rand.Uint64() >> 33 // short enough to type
	}
	mutants, err := p.chosen(o)
	if err != nil {
		return err
	}
	b, err := build(p.project, p.overlay, o.out)
	if err != nil {
		return err
	}
	r := &runner{bench: b, limit: p.limit, factor: p.factor, seed: o.seed}
	if err := r.baseline(); err != nil {
		return err
	}
	var known []result
	if o.all {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool {
			res, ok := cached(o.out, b.stamp, m.Name)
			if ok {
				known = append(known, res)
			}
			return ok
		})
	}
	var kept error
	results, err := r.all(mutants, o.jobs, func(res result) {
		if o.all {
			kept = errors.Join(kept, keep(o.out, b.stamp, res))
		}
		if o.verbose {
			fmt.Fprintln(out, res)
		}
	})
	if err := errors.Join(err, kept); err != nil {
		return err
	}
	results = append(known, results...)
	for i := range results {
		results[i].Excuse = p.excuses[results[i].Name]
	}
	return report(p.detectors, results, o, time.Since(begin), out)
}
