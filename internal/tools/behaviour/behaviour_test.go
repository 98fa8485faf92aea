package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The core does in each cell what the file says. Where a change is meant, write
// the file anew and say in the commit what changed.
func TestTheCoreDoesWhatItDid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimPrefix(string(text), head), "\n")
	got := strings.Split(whole(), "\n")
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

// whole is what the core does, observed once for all tests.
var whole = sync.OnceValue(func() string {
	told, err := scenarios(filepath.Join("..", "..", ".."))
	if err != nil {
		panic(err)
	}
	return observe(states, told).String()
})

// Two observations are the same, or the file would say nothing.
func TestObservationsAreTheSame(t *testing.T) {
	if once := observe(60, nil).String(); once != observe(60, nil).String() {
		t.Error("two walks differ; there is something in them that no seed decides")
	}
}

// The walks meet every phase.
func TestEveryPhaseIsMet(t *testing.T) {
	met := map[string]bool{}
	for line := range strings.Lines(whole()) {
		met[strings.Fields(line)[0]] = true
	}
	for p := range csm.NumPhases {
		if p != csm.PhaseProcessing && !met[p.String()] { // which is only a parent
			t.Errorf("%v is never met", p)
		}
	}
}
