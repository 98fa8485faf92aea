package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The core does in each cell what the file says. Where a change is meant, write
// the file anew and say in the commit why the cells that differ do.
func TestTheCoreDoesWhatItDid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimPrefix(string(text), head), "\n")
	got := strings.Split(observe(states).String(), "\n")
	cells := map[string]bool{}
	for _, line := range append(slices.Clone(got), want...) {
		if slices.Contains(want, line) != slices.Contains(got, line) {
			f := strings.Fields(line)
			cells[f[0]+" on "+f[1]] = true
		}
	}
	if len(cells) == 0 {
		return
	}
	var names []string
	for name := range cells {
		names = append(names, name)
	}
	slices.Sort(names)
	t.Errorf("the core does something else in %d cells, such as %s; where that is meant, run\n\tgo run ./internal/tools/behaviour -update",
		len(names), strings.Join(names[:min(5, len(names))], ", "))
}

// The walks meet every phase, and most events mean something somewhere.
func TestEveryPhaseIsMet(t *testing.T) {
	r := observe(150)
	again := observe(150)
	if r.String() != again.String() {
		t.Error("two walks differ; there is something in them that no seed decides")
	}
	phases := map[string]bool{}
	for name := range r {
		phases[strings.Fields(name)[0]] = true
	}
	for _, p := range []string{
		"Idle", "Preparing", "Listening", "Analysing", "WaitingForCopilot", "GeneratingResponse",
		"Speaking", "Interrupted", "Suspended", "Faulted", "Terminating",
	} {
		if !phases[p] {
			t.Errorf("%s is never met", p)
		}
	}
}
