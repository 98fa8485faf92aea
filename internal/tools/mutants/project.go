package main

import (
	"os"
	"path/filepath"
	"time"
)

// project is what is mutated, and what must notice.
type project struct {
	root       string        // the folder with go.mod
	packages   []string      // whose files are mutated: folders from the root
	detectors  []detector    // the cheapest and most telling first
	copied     []string      // what tests read, from the root
	limit      time.Duration // for one detector on one mutant, beside what it takes without
	seeded     string        // the list of mutants that were written by hand
	equivalent string        // and of automatic ones that change nothing
}

// detector is one way to catch a mutant: some of the tests of one package.
type detector struct {
	Name   string
	pkg    string // folder from the root; own for the package of the mutant
	run    string // which tests, as for go test -run; empty for all
	skip   string // and which not
	binary string
	rapid  bool // it takes the flags of rapid
}

// own is the package that a mutant is in, where it is a region.
const own = "own"

// core is the project: the conversation core of the module at root. A package
// that has no tests detects nothing.
func core(root string) project {
	return project{
		root:     root,
		packages: []string{"csm", "csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/dispatch", "session", "copilot"},
		detectors: []detector{
			{Name: "region", pkg: own},
			{Name: "core", pkg: "csm", skip: "^(TestAny|TestEveryCell)"},
			{Name: "scenario", pkg: "csm/csmtest", run: "^(TestScenarios|TestRegressions)$"},
			{Name: "loop", pkg: "csm/dispatch"},
			{Name: "journal", pkg: "csm/journal", run: "^TestJournalsOfThePast$"},
			{Name: "explore", pkg: "csm/explore", run: "^TestASmallWorldCloses$"},
			{Name: "properties", pkg: "csm", run: "^TestAny"},
			{Name: "behaviour", pkg: "internal/tools/behaviour", run: "^TestTheCoreDoesWhatItDid$"},
			{Name: "table", pkg: "csm", run: "^TestEveryCell"},
		},
		copied: []string{
			"csm", "session", "copilot", "testdata", "docs", "internal/gen", "internal/tools/behaviour",
			"go.mod", "go.sum", "README.md", "ARCHITECTURE.md",
		},
		limit:  10 * time.Second,
		seeded: "testdata/mutants/seeded.txt", equivalent: "testdata/mutants/equivalent.txt",
	}
}

// file reads a file of the project.
func (p project) file(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return string(text), err
}

// moduleRoot is the folder of go.mod at or above dir.
func moduleRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", errNoModule
		}
	}
}
