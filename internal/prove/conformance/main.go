// Package conformance is the gate for the core: it checks everything that is promised about
// it, in one run.
//
//	prove conformance -daemon bin/agentvoice-daemon
//
// The gates, each with its complete output in a file in the folder -out:
//
//	generated     diagrams, wire types and generated docs match the code
//	scenarios     every scenario passes, and its trace matches the golden one
//	exploration   every state within the bounds was reached, and every invariant holds
//	pairs         the same for all pairs of worlds in one, up to a bound of states
//	situations    each of a list of past faults' situations is reached, most of them by chance
//	secondmodel   the Promela model's invariants hold, and the core agrees with it (internal/prove/secondmodel)
//	server        every state of a call to the embedded server is reached, and its ten invariants hold
//	coverage      of the table of transitions, by exploration and scenarios together
//	requirements  each proof exists, and fails under the faults that it names
//	mutants       each seeded fault of the core is caught, and a sample of small ones
//	handlers      the same for the code that executes the core's effects
//
// It prints a line per gate and a summary, and exits with 1 if one is red.
package conformance

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// errRed is returned if a gate is red.
var errRed = errors.New("the core does not conform")

// gate is one check.
type gate struct {
	name string
	run  func(*session) (said string, err error)
}

var gates = []gate{
	{"generated", (*session).generated},
	{"scenarios", (*session).scenarios},
	{"exploration", (*session).exploration},
	{"pairs", (*session).pairs},
	{"situations", (*session).situations},
	{"secondmodel", (*session).secondModel},
	{"server", (*session).server},
	{"coverage", (*session).coverage},
	{"requirements", (*session).requirements},
	{"mutants", (*session).mutants},
	{"handlers", (*session).handlers},
}

// session is one run of the gates, with results that later gates use.
type session struct {
	daemon string // the binary
	out    string // folder
	sample int
	only   string

	log     *os.File // log of the running gate
	explore *explored
	paired  string
	met     string
	proofs  string
	caught  []string
}

// Main runs the gates, by the arguments that follow "conformance".
func Main(args []string) error {
	var s session
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.StringVar(&s.daemon, "daemon", "bin/agentvoice-daemon", "the `binary` that explores")
	flags.StringVar(&s.out, "out", "out/conformance", "`folder` for the output of the gates")
	flags.IntVar(&s.sample, "sample", 30, "how many automatic mutants to try, each of the core and of the handlers")
	flags.StringVar(&s.only, "only", "", "run only these `gates`, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return s.all(gates, os.Stdout)
}

// all runs every gate, even after failures.
func (s *session) all(gates []gate, out io.Writer) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	begin := time.Now()
	var red []string
	for _, g := range gates {
		if s.only != "" && !slices.Contains(strings.Split(s.only, ","), g.name) {
			continue
		}
		said, took, err := s.gate(g)
		if err != nil {
			red = append(red, g.name)
			fmt.Fprintf(out, "%-12s RED after %.0f s; the whole output is in %s\n%s%v\n", g.name, took.Seconds(), s.path(g.name+".log"), s.tail(g.name), err)
			continue
		}
		fmt.Fprintf(out, "%-12s %s, %.0f s\n", g.name, said, took.Seconds())
	}
	fmt.Fprintf(out, "conformance: %s, %.0f s in all\n", s.summary(), time.Since(begin).Seconds())
	if len(red) > 0 {
		return fmt.Errorf("%w: %s", errRed, strings.Join(red, ", "))
	}
	return nil
}

func (s *session) gate(g gate) (said string, took time.Duration, err error) {
	begin := time.Now()
	if s.log, err = os.Create(s.path(g.name + ".log")); err != nil {
		return "", 0, err
	}
	said, err = g.run(s)
	return said, time.Since(begin), errors.Join(err, s.log.Close())
}

func (s *session) path(name string) string { return filepath.Join(s.out, name) }

// tail returns the end of a gate's output.
func (s *session) tail(name string) string {
	text, err := os.ReadFile(s.path(name + ".log"))
	if err != nil {
		return ""
	}
	const lines = 40
	all := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	end := string(bytes.Join(all[max(0, len(all)-lines):], nil))
	if end != "" {
		end += "\n"
	}
	return end
}

// command runs a command, logs its output, and returns its standard output.
func (s *session) command(name string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, s.log), s.log
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out.String(), nil
}

// summary returns the last line, with the results of the gates.
func (s *session) summary() string {
	var parts []string
	if s.explore != nil {
		r := s.explore
		parts = append(parts, fmt.Sprintf("%d states, %d edges, %d invariants", r.States, r.Edges, len(r.Checks)))
	}
	for _, p := range append([]string{s.paired, s.met, s.proofs}, s.caught...) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "; ")
}
