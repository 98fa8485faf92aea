package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
	"github.com/agentvoice/agentvoice-daemon/csm/explore"
)

// Required coverage of the transition table, in percent (002, section 6).
const (
	wantRows   = 95
	wantGuards = 90
	wantFaults = 100
)

// part is a coverable part of the table: a row, or a result of its guard.
type part struct {
	name  string // as in an exploration's report
	row   int
	guard bool
	held  bool // result of the guard
}

// parts returns all coverable parts, in table order.
func parts() []part {
	// An empty exploration reports everything as missing.
	names := explore.Run(explore.Options{Worlds: []explore.World{}}).Coverage.Uncovered
	var out []part
	for i, row := range csm.Table() {
		out = append(out, part{row: i})
		if row.Guard.Name != "" {
			out = append(out, part{row: i, guard: true}, part{row: i, guard: true, held: true})
		}
	}
	if len(names) != len(out) {
		panic(fmt.Sprintf("an exploration names %d parts of the table, and it has %d", len(names), len(out)))
	}
	for i := range out {
		out[i].name = names[i]
	}
	return out
}

// tally counts covered parts.
type tally struct {
	rows   []bool
	guards [][2]bool
}

// played returns what the scenarios cover.
func played(scenarios fs.FS) (tally, error) {
	n := len(csm.Table())
	t := tally{make([]bool, n), make([][2]bool, n)}
	all, err := csmtest.Scenarios(scenarios)
	if err != nil {
		return t, err
	}
	for _, s := range all {
		o, err := csmtest.Play(s)
		if err != nil {
			return t, err
		}
		for _, st := range o.Steps {
			t.step(st.Before, st.Envelope)
		}
	}
	return t, nil
}

func (t *tally) step(s csm.State, e csm.Envelope) {
	_, _, seen := csm.StepObserved(s, e)
	for _, row := range seen.Fired {
		t.rows[row] = true
	}
	for _, g := range seen.Guards {
		held := 0
		if g.Held {
			held = 1
		}
		t.guards[g.Row][held] = true
	}
}

func (t *tally) met(p part) bool {
	if !p.guard {
		return t.rows[p.row]
	}
	held := 0
	if p.held {
		held = 1
	}
	return t.guards[p.row][held]
}

// share returns how many of the given parts are covered.
type share struct{ met, of int }

func (s share) percent() float64 { return 100 * float64(s.met) / float64(max(s.of, 1)) }

// measured returns the coverage of the table by an exploration and the scenarios together.
type measured struct {
	rows, guards, faults share
	missing              []string
}

func measure(uncovered []string, seen tally) measured {
	var m measured
	table := csm.Table()
	count := func(s *share, met bool) {
		s.of++
		if met {
			s.met++
		}
	}
	for _, p := range parts() {
		met := !slices.Contains(uncovered, p.name) || seen.met(p)
		if !met {
			m.missing = append(m.missing, p.name)
		}
		row := table[p.row]
		switch {
		case p.guard:
			count(&m.guards, met)
		case row.To == csm.PhaseFaulted && !row.Internal():
			count(&m.faults, met)
			fallthrough
		default:
			count(&m.rows, met)
		}
	}
	return m
}

func (m measured) String() string {
	return fmt.Sprintf("%.1f %% of %d transitions, %.1f %% of %d guard branches, %.0f %% of %d ways to Faulted",
		m.rows.percent(), m.rows.of, m.guards.percent(), m.guards.of, m.faults.percent(), m.faults.of)
}

// enough returns an error that says what is missing.
func (m measured) enough() error {
	var problems []error
	for _, c := range []struct {
		what string
		is   share
		want float64
	}{{"transitions", m.rows, wantRows}, {"guard branches", m.guards, wantGuards}, {"ways to Faulted", m.faults, wantFaults}} {
		if c.is.percent() < c.want {
			problems = append(problems, fmt.Errorf("%d of %d %s were met, and %.0f %% must be", c.is.met, c.is.of, c.what, c.want))
		}
	}
	return errors.Join(problems...)
}
