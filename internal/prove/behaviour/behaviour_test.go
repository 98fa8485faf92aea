package behaviour

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The core behaves in each cell as recorded in the file. For an intended change,
// update the file and describe the change in the commit.
func TestBehaviourIsUnchanged(t *testing.T) {
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
	t.Errorf("the core behaves differently in %d cells, such as %s; if intended, run\n\tgo run ./internal/prove behaviour -update",
		len(names), strings.Join(names[:min(5, len(names))], ", "))
}

// whole is the observed behaviour, shared by all tests.
var whole = sync.OnceValue(func() string {
	told, err := scenarios(filepath.Join("..", "..", ".."))
	if err != nil {
		panic(err)
	}
	return observe(states, told).String()
})

// Two observations are the same; otherwise the file would be useless.
func TestObservationsAreTheSame(t *testing.T) {
	if once := observe(60, nil).String(); once != observe(60, nil).String() {
		t.Error("two walks differ; something in them does not depend on the seed")
	}
}

// The walks reach every phase.
func TestEveryPhaseIsReached(t *testing.T) {
	met := map[string]bool{}
	for line := range strings.Lines(whole()) {
		met[strings.Fields(line)[0]] = true
	}
	for p := range csm.NumPhases {
		if p != csm.PhaseProcessing && !met[p.String()] { // only a parent state
			t.Errorf("%v is never reached", p)
		}
	}
}
