package csmtest_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

var update = flag.Bool("update", false, "rewrite the golden traces of testdata/csm")

const (
	scenarioDir   = "../../testdata/csm"
	regressionDir = "../../testdata/regressions"
)

// Failures of properties are kept as scenarios, so rapid's own failure files are not
// needed.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { asked[f.Name] = true })
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "500ms", "rapid.checks": "400"} {
		if asked[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Every scenario passes and matches its golden trace.
func TestScenarios(t *testing.T) {
	for _, file := range files(t, scenarioDir) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if *update {
				if err := csmtest.Update(file); err != nil {
					t.Fatal(err)
				}
			}
			csmtest.Run(t, file)
		})
	}
}

// Every sequence that once violated an invariant is replayed.
func TestRegressions(t *testing.T) {
	for _, file := range files(t, regressionDir) {
		t.Run(filepath.Base(file), func(t *testing.T) { csmtest.Run(t, file) })
	}
}

var anID = regexp.MustCompile(`^(REQ|INT|PER|SEC|CON|GUD|PAT|AC)-0\d\d$|^00[0-4]\.[a-zA-Z0-9.]+$|^never\.[a-zA-Z]+$|^design\.[0-9]+$|^git\.[0-9a-f]{7}$`)

// Each scenario names what it proves, by specification ids: those of 002, "000.4.2" for
// an item of another seed, "never.twice" for a promise to users, "design.3" for an
// invariant, "git.ecbb8d8" for a commit's fix.
func TestScenariosNameRequirements(t *testing.T) {
	all := scenarios(t)
	names := map[string]bool{}
	for _, s := range all {
		if len(s.Proves) == 0 || s.Title == "" {
			t.Errorf("%s:%d: %s does not say what it proves; start it with a comment and a line \"proves: REQ-004 AC-002\"", s.File, s.Line, s.Name)
		}
		for _, id := range s.Proves {
			if !anID.MatchString(id) {
				t.Errorf("%s:%d: %q is not an id", s.File, s.Line, id)
			}
		}
		if names[s.Name] {
			t.Errorf("%s:%d: duplicate scenario %s", s.File, s.Line, s.Name)
		}
		names[s.Name] = true
	}
	// All acceptance criteria are covered, and all other items of 002 that the core can
	// show.
	proved := func(id string) bool {
		return slices.ContainsFunc(all, func(s csmtest.Scenario) bool { return slices.Contains(s.Proves, id) })
	}
	for _, id := range []string{
		"AC-001", "AC-002", "AC-003", "AC-004", "AC-005", "AC-006", "AC-007", "AC-008",
		"REQ-001", "REQ-002", "REQ-003", "REQ-004", "REQ-005", "REQ-006", "REQ-007", "REQ-008", "REQ-009", "REQ-010",
		"INT-001", "INT-002", "INT-003", "INT-004", "INT-005", "PER-001", "PER-002", "PER-003", "PER-004", "SEC-003",
		"CON-002", "GUD-003", "GUD-004", "PAT-001", "PAT-003", "PAT-004",
	} {
		if !proved(id) {
			t.Errorf("no scenario proves %s", id)
		}
	}
}

func scenarios(t testing.TB) []csmtest.Scenario {
	t.Helper()
	all, err := csmtest.Scenarios(os.DirFS(scenarioDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no scenarios")
	}
	return all
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
