package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/explore"
	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

// Coverage counts rows and guard results, not lines: an empty exploration covers
// nothing, a complete one everything, and a missing part is reported by name.
func TestCoverageIsMeasuredFromTheTable(t *testing.T) {
	table := csm.Table()
	none := tally{make([]bool, len(table)), make([][2]bool, len(table))}
	var all []string
	for _, p := range parts() {
		all = append(all, p.name)
	}
	m := measure(all, none)
	if m.rows.met+m.guards.met+m.faults.met != 0 || m.rows.of != len(table) || len(m.missing) != len(all) || m.enough() == nil {
		t.Errorf("of nothing: %v, %v", m, m.enough())
	}
	// The gate reads what an exploration did not cover from its report.
	report, err := json.Marshal(explore.Run(explore.Options{Worlds: []explore.World{}}))
	if err != nil {
		t.Fatal(err)
	}
	var read explored
	if err := json.Unmarshal(report, &read); err != nil || !slices.Equal(read.Coverage.Uncovered, all) {
		t.Errorf("of a report that lacks %d parts %d are read: %v", len(all), len(read.Coverage.Uncovered), err)
	}
	if m = measure(nil, none); m.rows.met != len(table) || m.enough() != nil || len(m.missing) != 0 {
		t.Errorf("of everything: %v, %v", m, m.enough())
	}
	// Parts that the scenarios cover need not be covered by the exploration.
	seen, err := played(os.DirFS("../../../" + scenarioDir))
	if err != nil {
		t.Fatal(err)
	}
	alone := measure(all, seen)
	if alone.rows.percent() < 50 || alone.faults.percent() < 50 {
		t.Errorf("the scenarios alone: %v", alone)
	}
	if len(alone.missing) == 0 {
		return
	}
	together := measure(alone.missing[1:], seen)
	if len(together.missing) != len(alone.missing)-1 {
		t.Errorf("%d are missing, %d with what was explored", len(alone.missing), len(together.missing))
	}
}

// 002, section 6: "≥95% transition coverage, ≥90% branch coverage for guard
// functions, 100% coverage on error pathways leading to Faulted". The allowed number
// of missing parts passes, one more fails; a branch of a guard is one result, yes or
// no.
func TestInsufficientCoverage(t *testing.T) {
	var faults, rows, branches []string
	for _, p := range parts() {
		row := csm.Table()[p.row]
		switch {
		case p.guard:
			branches = append(branches, p.name)
		case row.To == csm.PhaseFaulted && !row.Internal():
			faults = append(faults, p.name)
		default:
			rows = append(rows, p.name)
		}
	}
	guarded := 0
	for _, row := range csm.Table() {
		if row.Guard.Name != "" {
			guarded++
		}
	}
	if len(branches) != 2*guarded || len(rows)+len(faults) != len(csm.Table()) {
		t.Errorf("%d branches of %d guards and %d rows are counted, of %d", len(branches), guarded, len(rows)+len(faults), len(csm.Table()))
	}
	n := len(csm.Table())
	none := tally{make([]bool, n), make([][2]bool, n)}
	for _, c := range []struct {
		what   string
		parts  []string
		of     int
		may    int // percentage that may be missing
		refuse string
	}{
		{"transitions", rows, n, 5, "transitions were met, and 95 % must be"},
		{"guards", branches, len(branches), 10, "guard branches were met, and 90 % must be"},
		{"faults", faults, len(faults), 0, "ways to Faulted were met, and 100 % must be"},
	} {
		t.Run(c.what, func(t *testing.T) {
			may := c.of * c.may / 100
			if err := measure(c.parts[:may], none).enough(); err != nil {
				t.Errorf("without %d of %d: %v", may, c.of, err)
			}
			if err := measure(c.parts[:may+1], none).enough(); err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("without %d of %d: %v", may+1, c.of, err)
			}
		})
	}
}

func TestExplorationHolds(t *testing.T) {
	for report, want := range map[string]string{
		`{"states":9,"worlds":[{"name":"a","closed":true}]}`:                   "",
		`{"states":9,"worlds":[{"name":"a","closed":true},{"name":"b"}]}`:      "world b was not explored to its end",
		`{"states":9,"worlds":[{"name":"a","violations":[{"check":"core"}]}]}`: "world a breaks 1 promises",
		`{}`: "nothing was explored",
		`{"states":9,"worlds":[{"name":"a","closed":true}],"heapPeakBytes":8589934592}`: "it took 8192 MiB, and may take 4096",
	} {
		var r explored
		if err := json.Unmarshal([]byte(report), &r); err != nil {
			t.Fatal(err)
		}
		err := r.holds(false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", report, err, want)
		}
	}
}

// A pair of worlds may stop at the bound of states, but not for any other reason.
func TestABoundedExplorationHolds(t *testing.T) {
	for stopped, want := range map[string]bool{"states": true, "time": false, "": false} {
		var r explored
		report := fmt.Sprintf(`{"states":9,"worlds":[{"name":"a","closed":true},{"name":"a+b","stopped":%q}]}`, stopped)
		if err := json.Unmarshal([]byte(report), &r); err != nil {
			t.Fatal(err)
		}
		if err := r.holds(true); (err == nil) != want {
			t.Errorf("stopped by %q: %v", stopped, err)
		}
	}
}

// A gate that passed is not run again until its inputs change; a red one is.
func TestGatesRunAgainWhenTheirInputsChange(t *testing.T) {
	t.Setenv(memo.FolderEnv, t.TempDir())
	t.Setenv(memo.FreshEnv, "")
	value, broken, runs := "one", errors.New("it is broken"), 0
	g := gate{"only", func(*running) (result, error) {
		runs++
		return result{Said: "all is well", Explored: &explored{States: 7}}, broken
	}, func(_ *session, in *memo.Inputs) { in.Value("of the test", value) }, false}
	all := func() (string, error) {
		s := session{root: "../../..", out: t.TempDir()}
		var out strings.Builder
		err := s.all([]gate{g}, &out)
		if err == nil && s.results["only"].Explored.States != 7 {
			t.Errorf("the result is %+v", s.results["only"])
		}
		return out.String(), err
	}
	for range 2 { // a failure is not remembered
		if _, err := all(); !errors.Is(err, errRed) {
			t.Fatal(err)
		}
	}
	broken = nil
	for i, want := range []int{3, 3, 4, 5} {
		if i == 2 {
			value = "two"
		}
		if i == 3 {
			t.Setenv(memo.FreshEnv, "1")
		}
		out, err := all()
		if err != nil || runs != want || !strings.Contains(out, "all is well") || strings.Contains(out, "unchanged since") != (i == 1) {
			t.Errorf("run %d: it ran %d times, want %d: %q, %v", i, runs, want, out, err)
		}
	}
}

// A red gate fails the run and shows the end of its output, and the other gates still
// run.
func TestARedGate(t *testing.T) {
	s := session{out: t.TempDir()}
	ran := false
	var out strings.Builder
	err := s.all([]gate{
		{"first", func(s *running) (result, error) {
			for i := range 100 {
				fmt.Fprintf(s.log, "line %d\n", i)
			}
			return result{}, errors.New("it is broken")
		}, nil, false},
		{"second", func(*running) (result, error) {
			ran = true
			return result{Said: "all is well", Summary: "3/3 mutants caught"}, nil
		}, nil, false},
	}, &out)
	if !errors.Is(err, errRed) || !strings.HasSuffix(err.Error(), ": first") || !ran {
		t.Errorf("%v, the second ran: %v", err, ran)
	}
	for _, part := range []string{"first        RED", filepath.Join(s.out, "first.log"), "line 99\nit is broken", "second       all is well, ", "conformance: 3/3 mutants caught, "} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the output lacks %q:\n%s", part, out.String())
		}
	}
	if strings.Contains(out.String(), "line 10\n") {
		t.Errorf("the output has the complete log:\n%s", out.String())
	}
}

func TestCountsAreReadFromTheTools(t *testing.T) {
	n := requirementsLine.FindStringSubmatch("x\nrequirements: 101 proved, 9 owed, 4 superseded of 114\n")
	if n == nil || n[1] != "101" || n[4] != "114" {
		t.Errorf("%q", n)
	}
	all := mutantsLine.FindAllStringSubmatch("mutants of the list: 201/202 caught (core 201)\nmutants automatic: 30/30 caught\n", -1)
	if len(all) != 2 || all[0][2] != "201" || all[1][3] != "30" {
		t.Errorf("%q", all)
	}
}

// The gate of the embedded server fails closed: what its tests do not say does not hold.
func TestServerGateFailsClosed(t *testing.T) {
	var all strings.Builder
	all.WriteString("machines: 4 worlds closed: 21 states, 1143 edges, 12 promises\n--- PASS: TestBrokenTablesAreFound (1.00s)\n")
	for i := range 10 {
		fmt.Fprintf(&all, "--- PASS: TestInvariant%dSomething (0.00s)\n", i+1)
	}
	if said, err := serverHolds(all.String()); err != nil || said != "4 worlds closed: 21 states, 1143 edges, 12 promises" {
		t.Errorf("all passed: %q, %v", said, err)
	}
	for _, gone := range []string{"machines: ", "--- PASS: TestBrokenTablesAreFound", "--- PASS: TestInvariant1S", "--- PASS: TestInvariant10S"} {
		for _, instead := range []string{"", "--- SKIP: ", "--- FAIL: "} {
			if said, err := serverHolds(strings.Replace(all.String(), gone, instead, 1)); err == nil {
				t.Errorf("with %q for %q it says %q", instead, gone, said)
			}
		}
	}
	if said, err := serverHolds(""); err == nil {
		t.Errorf("of nothing it says %q", said)
	}
}
