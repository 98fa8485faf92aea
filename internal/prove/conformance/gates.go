package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

const scenarioDir = "testdata/csm"

// tests runs all tests of a package without goroutines, as `make test` does, and returns their
// output: if these are the tests that it ran, Go repeats the output only.
func (s *running) tests(pkg string) (string, error) {
	text, err := s.command("env", "CGO_ENABLED=0", "go", "test", "-vet=off", "-timeout", "30m", "-json", pkg)
	var out strings.Builder
	for line := range strings.Lines(text) {
		var e struct{ Output string }
		if json.Unmarshal([]byte(line), &e) == nil {
			out.WriteString(e.Output)
		}
	}
	return out.String(), err
}

func (s *running) scenarios() (result, error) {
	all, err := csmtest.Scenarios(os.DirFS(scenarioDir))
	if err != nil {
		return result{}, err
	}
	_, err = s.tests("./csm/csmtest")
	return result{Said: fmt.Sprintf("%d hold", len(all))}, err
}

// explored is the part of an exploration's report that is used here.
type explored struct {
	States   int      `json:"states"`
	Edges    int      `json:"edges"`
	Stale    int      `json:"stale"`
	Seconds  float64  `json:"seconds"`
	HeapPeak uint64   `json:"heapPeakBytes"`
	Checks   []string `json:"checks"`
	Coverage struct {
		Uncovered []string `json:"uncovered"`
	} `json:"coverage"`
	Met    []string `json:"met"`
	Missed []string `json:"missed"`
	Worlds []struct {
		Name       string            `json:"name"`
		Closed     bool              `json:"closed"`
		Stopped    string            `json:"stopped"`
		Violations []json.RawMessage `json:"violations"`
	} `json:"worlds"`
}

// maxExploreBytes is the memory limit of an exploration in CI.
const maxExploreBytes = 4 << 30

func (s *running) exploration() (result, error) {
	r, err := s.explore()
	if r == nil {
		return result{}, err
	}
	return result{
		Said:     fmt.Sprintf("%d worlds closed: %d states, %d edges, %d stale events, %.0f MiB", len(r.Worlds), r.States, r.Edges, r.Stale, float64(r.HeapPeak)/(1<<20)),
		Summary:  fmt.Sprintf("%d states, %d edges, %d invariants", r.States, r.Edges, len(r.Checks)),
		Explored: r,
	}, errors.Join(err, r.holds(false))
}

// pairStates limits the states of each pair of worlds. `make full` has no limit.
const pairStates = 10000

func (s *running) pairs() (result, error) {
	r, err := s.explore("--pairs", "--states", strconv.Itoa(pairStates))
	if r == nil {
		return result{}, err
	}
	closed := 0
	for _, w := range r.Worlds {
		if w.Closed {
			closed++
		}
	}
	paired := fmt.Sprintf("%d pairs: %d states, %d edges", len(r.Worlds), r.States, r.Edges)
	return result{
		Said:    fmt.Sprintf("%s, %d closed and %d bounded at %d states, %.0f MiB", paired, closed, len(r.Worlds)-closed, pairStates, float64(r.HeapPeak)/(1<<20)),
		Summary: paired,
	}, errors.Join(err, r.holds(true))
}

// explore runs an exploration and returns its report; nil if it printed no report.
func (s *running) explore(args ...string) (*explored, error) {
	out, err := s.command(s.daemon, append([]string{"explore", "--json", "--out", s.out}, args...)...)
	var r explored
	if e := json.Unmarshal([]byte(out), &r); e != nil {
		return nil, errors.Join(err, fmt.Errorf("cannot read the report: %w", e))
	}
	return &r, err
}

var walksLine = regexp.MustCompile(`situations: (\d+) of \d+ met in (\d+) walks`)

// situations checks the situations reached by the previous explorations and by random walks.
func (s *running) situations() (result, error) {
	r := s.explored()
	if r == nil {
		return result{}, errors.New("no exploration to check")
	}
	out, err := s.command("go", "test", "-count=1", "-v", "-run", "^TestWalksMeetSituations$", "./csm/explore")
	n := walksLine.FindStringSubmatch(out)
	if n == nil {
		return result{}, errors.Join(err, errors.New("cannot parse the output of the walks"))
	}
	all := len(r.Met) + len(r.Missed)
	if len(r.Missed) > 0 {
		err = errors.Join(err, fmt.Errorf("no world meets: %s", strings.Join(r.Missed, "; ")))
	}
	return result{
		Said:    fmt.Sprintf("%d of %d are met by the exploration, and %s by %s walks", len(r.Met), all, n[1], n[2]),
		Summary: fmt.Sprintf("%d/%d situations met", len(r.Met), all),
	}, err
}

var (
	serverLine = regexp.MustCompile(`(?m)^machines: (\d+ worlds closed: \d+ states, \d+ edges, \d+ promises)$`)
	serverTest = regexp.MustCompile(`(?m)^--- PASS: TestInvariant(\d+)`)
)

// server explores the tables of the embedded server.
func (s *running) server() (result, error) {
	out, err := s.tests("./audio/localrealtime/machine")
	said, e := serverHolds(out)
	return result{Said: said}, errors.Join(err, e)
}

// serverHolds reads the output of the tests of the tables. It fails if a test is missing,
// was renamed or was skipped.
func serverHolds(out string) (string, error) {
	explored := serverLine.FindStringSubmatch(out)
	if explored == nil {
		return "", errors.New("the exploration printed no result")
	}
	passed := map[string]bool{}
	for _, m := range serverTest.FindAllStringSubmatch(out, -1) {
		passed[m[1]] = true
	}
	for i := range 10 {
		if n := strconv.Itoa(i + 1); !passed[n] {
			return "", fmt.Errorf("no test of invariant %s passed", n)
		}
	}
	if !strings.Contains(out, "\n--- PASS: TestBrokenTablesAreFound") || strings.Contains(out, "--- SKIP") {
		return "", errors.New("the test that finds broken tables did not pass")
	}
	return explored[1], nil
}

// holds returns what is wrong with an exploration. A bounded one need not be complete.
func (r *explored) holds(bounded bool) error {
	var problems []error
	for _, w := range r.Worlds {
		switch {
		case len(w.Violations) > 0:
			problems = append(problems, fmt.Errorf("world %s breaks %d promises", w.Name, len(w.Violations)))
		case !w.Closed && (!bounded || w.Stopped != "states"):
			problems = append(problems, fmt.Errorf("world %s was not explored to its end", w.Name))
		}
	}
	if len(r.Worlds) == 0 || r.States == 0 {
		problems = append(problems, errors.New("nothing was explored"))
	}
	if r.HeapPeak > maxExploreBytes {
		problems = append(problems, fmt.Errorf("it took %d MiB, and may take %d", r.HeapPeak>>20, maxExploreBytes>>20))
	}
	return errors.Join(problems...)
}

var secondLine = regexp.MustCompile(`(?m)^second model: (.*)$`)

// secondModel checks the core against an independent model written from the documents.
func (s *running) secondModel() (result, error) {
	out, err := s.command("go", "run", "./internal/prove", "secondmodel", "check")
	n := secondLine.FindStringSubmatch(out)
	if n == nil {
		return result{}, errors.Join(err, errors.New("the second model returned no verdict"))
	}
	return result{Said: n[1]}, err
}

func (s *running) coverage() (result, error) {
	r := s.explored()
	if r == nil {
		return result{}, errors.New("no exploration to measure")
	}
	seen, err := played(os.DirFS(scenarioDir))
	if err != nil {
		return result{}, err
	}
	m := measure(r.Coverage.Uncovered, seen)
	for _, name := range m.missing {
		fmt.Fprintln(s.log, "not met:", name)
	}
	return result{Said: m.String()}, m.enough()
}

var requirementsLine = regexp.MustCompile(`(?m)^requirements: (\d+) proved, (\d+) owed, (\d+) superseded of (\d+)$`)

func (s *running) requirements() (result, error) {
	out, err := s.command("go", "run", "./internal/prove", "requirements", "prove", "-q")
	var said string
	if n := requirementsLine.FindStringSubmatch(out); n != nil {
		said = fmt.Sprintf("%s of %s requirements proved (%s owed, %s superseded)", n[1], n[4], n[2], n[3])
	} else if err == nil {
		err = errors.New("cannot parse how many requirements are proved")
	}
	return result{Said: said, Summary: said}, err
}

var (
	mutantsLine  = regexp.MustCompile(`(?m)^mutants (of the list|automatic): (\d+)/(\d+) caught`)
	survivedLine = regexp.MustCompile(`(?m)^SURVIVED .*$`)
	seedLine     = regexp.MustCompile(`(?m)^mutants: .*(seed \d+)`)
)

func (s *running) mutants() (result, error) {
	// A small fault that nothing detects means a missing test, or a line without
	// effect. The seed is fixed, so that a run before submission sees what CI will
	// see. `make full` runs all of them.
	return s.survivors("core", "-class", "guard,deadline")
}

// handlers checks the mutants of the code that executes the core's effects, with the
// tests that do not wait in real time.
func (s *running) handlers() (result, error) {
	return s.survivors("handlers", "-by", "package,live,realtime,headless,rpc")
}

// survivors runs the seeded mutants of a target and a sample of automatic ones.
func (s *running) survivors(of string, args ...string) (result, error) {
	out, err := s.command("go", append([]string{"run", "./internal/prove", "mutants", "run", "-of", of, "-auto", "-count", strconv.Itoa(s.sample), "-seed", "1"}, args...)...)
	caught, total := 0, 0
	var parts []string
	for _, n := range mutantsLine.FindAllStringSubmatch(out, -1) {
		c, errC := strconv.Atoi(n[2])
		t, errT := strconv.Atoi(n[3])
		err = errors.Join(err, errC, errT)
		caught, total = caught+c, total+t
		parts = append(parts, fmt.Sprintf("%s/%s %s", n[2], n[3], n[1]))
	}
	if err == nil && total == 0 {
		err = errors.New("cannot parse how many mutants were caught")
	}
	said := strings.Join(parts, " and ") + " were caught"
	for _, line := range survivedLine.FindAllString(out, -1) {
		said += "\n             " + line
	}
	if n := seedLine.FindStringSubmatch(out); n != nil {
		said += ", " + n[1]
	}
	return result{Said: said, Summary: fmt.Sprintf("%d/%d mutants of the %s caught", caught, total, of)}, err
}
