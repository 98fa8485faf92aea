// Package conformance is the gate for the core: it checks everything that is promised about
// it, in one run.
//
//	prove conformance -daemon bin/agentvoice-daemon
//
// The gates, each with its complete output in a file in the folder -out:
//
// //	scenarios     every scenario passes, and its trace matches the golden one
//
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
// It prints a line per gate and a summary, and exits with 1 if one is red. A gate that passed
// with the same inputs (package memo) is not run again; AGENTVOICE_FRESH=1 runs all.
package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

// errRed is returned if a gate is red.
var errRed = errors.New("the core does not conform")

// gate is one check. inputs adds what it depends on.
type gate struct {
	name   string
	run    func(*running) (result, error)
	inputs func(*session, *memo.Inputs)
	waits  bool // it mostly waits, so it runs beside the others
}

// result is the result of a gate that passed.
type result struct {
	Said     string    `json:"said"`               // for the line of the gate
	Summary  string    `json:"summary,omitempty"`  // for the last line
	Explored *explored `json:"explored,omitempty"` // for later gates
}

var gates = []gate{
	{"scenarios", (*running).scenarios, scenarioInputs, false},
	{"exploration", (*running).exploration, explorationInputs, false},
	{"pairs", (*running).pairs, explorationInputs, false},
	{"situations", (*running).situations, explorationInputs, false},
	{"secondmodel", (*running).secondModel, secondModelInputs, false},
	{"server", (*running).server, serverInputs, false},
	{"coverage", (*running).coverage, explorationInputs, false},
	{"requirements", (*running).requirements, requirementInputs, true},
	{"mutants", (*running).mutants, mutantInputs("core"), false},
	{"handlers", (*running).handlers, mutantInputs("handlers"), false},
}

// session is one run of the gates.
type session struct {
	root   string
	daemon string // the binary
	out    string // folder
	sample int
	only   string

	mu      sync.Mutex
	results map[string]result
}

// running is a gate that runs.
type running struct {
	*session
	log    *os.File
	yields bool // its commands leave the processors to a gate that waits
}

// Main runs the gates, by the arguments that follow "conformance".
func Main(args []string) error {
	s := session{root: "."}
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

// all runs every gate, even after failures. Gates that compute run one after another, at low
// priority, beside those that wait.
func (s *session) all(gates []gate, out io.Writer) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	s.results = map[string]result{}
	begin := time.Now()
	red := map[string]bool{}
	run := func(waits bool) {
		for _, g := range gates {
			if g.waits != waits || s.only != "" && !slices.Contains(strings.Split(s.only, ","), g.name) {
				continue
			}
			line, ok := s.run(g)
			s.mu.Lock()
			red[g.name] = !ok
			fmt.Fprint(out, line)
			s.mu.Unlock()
		}
	}
	var beside sync.WaitGroup
	beside.Go(func() { run(true) })
	run(false)
	beside.Wait()
	fmt.Fprintf(out, "conformance: %s, %.0f s in all\n", s.summary(gates), time.Since(begin).Seconds())
	var names []string
	for _, g := range gates {
		if red[g.name] {
			names = append(names, g.name)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("%w: %s", errRed, strings.Join(names, ", "))
	}
	return nil
}

// run runs a gate, unless it passed before with the same inputs, and returns its line and whether
// it is green.
func (s *session) run(g gate) (line string, ok bool) {
	key := s.key(g)
	if r, at, ok := before(key); ok {
		s.keep(g, r)
		return fmt.Sprintf("%-12s %s, unchanged since %s\n", g.name, r.Said, at.Format(time.DateTime)), true
	}
	r, took, err := s.gate(g)
	if err == nil {
		err = save(key, r)
	}
	s.keep(g, r)
	if err != nil {
		return fmt.Sprintf("%-12s RED after %.0f s; the whole output is in %s\n%s%v\n", g.name, took.Seconds(), s.path(g.name+".log"), s.tail(g.name), err), false
	}
	return fmt.Sprintf("%-12s %s, %.0f s\n", g.name, r.Said, took.Seconds()), true
}

func (s *session) keep(g gate, r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[g.name] = r
}

// explored returns the report of the gate exploration; nil if that has not passed.
func (s *session) explored() *explored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results["exploration"].Explored
}

// key returns the key of a gate's result, or "" if its inputs are unknown, for example
// outside of a git checkout.
func (s *session) key(g gate) string {
	if g.inputs == nil {
		return ""
	}
	in := memo.Of(s.root, fmt.Sprintf("conformance %s, sample %d", g.name, s.sample))
	in.Packages("./internal/prove/conformance")
	g.inputs(s, in)
	key, err := in.Key()
	if err != nil {
		return ""
	}
	return key
}

// before returns the result of a gate that passed with the same inputs.
func before(key string) (r result, at time.Time, ok bool) {
	text, at, ok := memo.Load(key)
	return r, at, ok && json.Unmarshal(text, &r) == nil
}

func save(key string, r result) error {
	if key == "" {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return memo.Save(key, text)
}

func (s *session) gate(g gate) (r result, took time.Duration, err error) {
	begin := time.Now()
	log, err := os.Create(s.path(g.name + ".log"))
	if err != nil {
		return r, 0, err
	}
	r, err = g.run(&running{session: s, log: log, yields: !g.waits})
	return r, time.Since(begin), errors.Join(err, log.Close())
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
func (s *running) command(name string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	if nice, err := exec.LookPath("nice"); err == nil && s.yields {
		cmd = exec.Command(nice, append([]string{"-n", "5", name}, args...)...)
	}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, s.log), s.log
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out.String(), nil
}

// summary returns the last line, with the results of the gates.
func (s *session) summary(gates []gate) string {
	var parts []string
	for _, g := range gates {
		if said := s.results[g.name].Summary; said != "" {
			parts = append(parts, said)
		}
	}
	return strings.Join(parts, "; ")
}
