// Requirements says what is proved of what was promised.
//
//	requirements list     print every requirement with its status, and check that
//	                      each proof exists
//	requirements prove    and run each proof under the mutants that it names
//
// The requirements are in testdata/requirements/requirements.txt (parse.go says
// how). A proof is a test, or a scenario of testdata/csm, with the mutants under
// which it fails: small faults of testdata/mutants/seeded.txt, or, outside of the
// core, of testdata/mutants/around.txt. A proof that passes under its mutant
// proves nothing and fails here, as does an id without a status, a test that does
// not exist, an id of the specifications that the list leaves out, and one that
// speaks of the product and that no test of the live daemon or the extension proves.
//
// What a proof came to is kept by the hash of everything it depends on, so that
// what did not change is not run again.
package main

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

// Where things are, from the folder of go.mod.
const (
	listFile     = "testdata/requirements/requirements.txt"
	seededFile   = "testdata/mutants/seeded.txt"
	aroundFile   = "testdata/mutants/around.txt"
	scenarioDir  = "testdata/csm"
	scenarioPkg  = "csm/csmtest"
	scenarioTest = "TestScenarios"
	buildTags    = "nolibopusfile"
)

// errUnproved is what main ends with when the list does not hold.
var errUnproved = errors.New("the list of requirements does not hold")

func main() {
	root, err := moduleRoot()
	if err == nil {
		err = command(root, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "requirements:", err)
		os.Exit(1)
	}
}

func command(root string, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "list" && args[0] != "prove" {
		return errors.New("say list or prove")
	}
	flags := flag.NewFlagSet("requirements "+args[0], flag.ContinueOnError)
	folder := flags.String("out", filepath.Join(root, "out", "requirements"), "`folder` for what is built and kept")
	quiet := flags.Bool("q", false, "print the problems and the summary only")
	jobs := flags.Int("jobs", runtime.NumCPU(), "how many proofs to run at a time")
	only := flags.String("only", "", "prove these `ids` only, with commas between them")
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

// chosen are the requirements with one of the ids, which have commas between them; all
// where there is none.
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

// moduleRoot is the folder of go.mod at or above the working folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for at := dir; err == nil; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no go.mod at or above %s; run this in a checkout", dir)
		}
	}
	return "", err
}
