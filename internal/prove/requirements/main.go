// Package requirements reports which requirements are proved.
//
//	prove requirements list     print every requirement with its status, and check that
//	                      each proof exists
//	prove requirements prove    also run each proof under the mutants that it names
//
// The requirements are in testdata/requirements/requirements.txt (format: parse.go).
// A proof is a test, or a scenario of testdata/csm, with the mutants under which it
// fails: small faults of testdata/mutants/seeded.txt, or, outside of the core, of
// testdata/mutants/around.txt. It is an error if a proof passes under its mutant, an
// id has no status, a test does not exist, an id of the specifications is missing
// from the list, or a requirement about the product is not proved by a test of the
// live daemon or the extension.
//
// The result of a proof is stored under the hash of everything that it depends on, so
// that unchanged proofs are not repeated.
package requirements

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Paths relative to the folder of go.mod.
const (
	listFile     = "testdata/requirements/requirements.txt"
	seededFile   = "testdata/mutants/seeded.txt"
	aroundFile   = "testdata/mutants/around.txt"
	scenarioDir  = "testdata/csm"
	scenarioPkg  = "csm/csmtest"
	scenarioTest = "TestScenarios"
	buildTags    = "nolibopusfile"
)

// errUnproved is returned if the list has problems.
var errUnproved = errors.New("the list of requirements has problems")

// Main runs a command of the list, by the arguments that follow "requirements".
func Main(args []string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	return command(root, args, os.Stdout)
}

func command(root string, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "list" && args[0] != "prove" {
		return errors.New("use list or prove")
	}
	flags := flag.NewFlagSet("requirements "+args[0], flag.ContinueOnError)
	folder := flags.String("out", filepath.Join(root, "out", "requirements"), "`folder` for binaries and results")
	quiet := flags.Bool("q", false, "print only the problems and the summary")
	jobs := flags.Int("jobs", runtime.NumCPU(), "how many proofs to run at a time")
	only := flags.String("only", "", "prove only these `ids`, separated by commas")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(listFile)))
	if err != nil {
		return err
	}
	list, problems := parse(listFile, string(text))
	problems = append(problems, missing(list, expected())...)
	w, err := look(root, list)
	if err != nil {
		return err
	}
	problems = append(problems, w.check(list)...)
	problems = append(problems, atTheProduct(list)...)
	if args[0] == "prove" && len(problems) == 0 {
		more, err := prove(root, *folder, *jobs, chosen(list, *only), w, out)
		if err != nil {
			return err
		}
		problems = append(problems, more...)
	}
	if !*quiet {
		show(out, list)
	}
	for _, p := range problems {
		fmt.Fprintln(out, p)
	}
	fmt.Fprintln(out, summary(list))
	if len(problems) > 0 {
		return fmt.Errorf("%w: %d problems", errUnproved, len(problems))
	}
	return nil
}

// chosen returns the requirements with the given comma-separated ids, or all if ids
// is empty.
func chosen(list []requirement, ids string) (some []requirement) {
	if ids == "" {
		return list
	}
	for _, r := range list {
		if slices.Contains(strings.Split(ids, ","), r.id) {
			some = append(some, r)
		}
	}
	return some
}

// moduleRoot returns the folder of go.mod at or above the working folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for at := dir; err == nil; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod at or above %s; run this in a checkout", dir)
		}
	}
	return "", err
}
