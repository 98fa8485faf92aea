// Package statechart defines the tables of all regions: their rows, how a row is chosen,
// and the chart for drawing a table.
//
// # Model
//
// A region has a list of rows. Of the rows for one state and input, at most one with a
// guard holds, and the one without a guard is the default; rows of a superstate apply if
// no row of its descendants does. A row's action on the region's data is a function in
// the row. Diagrams, tests and names on the wire derive from the rows, so that a
// transition is defined once.
package statechart

// Name is a state, superstate or input of a region.
type Name interface {
	~uint8
	String() string
}

// Row is one line of a region's table. S are the region's states, T its inputs, M the
// meaning of an input, C the context of guards, and A the action.
type Row[S, T Name, M comparable, C, A any] struct {
	From  S
	On    T
	Guard Guard[C]
	To    S // same as From: an internal transition, without exit and entry
	Means M // the published cause, or the outcome for the caller
	Do    A // nil: only the transition
}

// NewRow returns a row. Packages give it a short name for their own types.
func NewRow[S, T Name, M comparable, C, A any](from S, on T, g Guard[C], to S, means M, do A) Row[S, T, M, C, A] {
	return Row[S, T, M, C, A]{From: from, On: on, Guard: g, To: to, Means: means, Do: do}
}

// Internal says whether the row keeps the state.
func (r *Row[S, T, M, C, A]) Internal() bool { return r.From == r.To }

// Guard is a named condition. The zero Guard always holds.
type Guard[C any] struct {
	Name  string
	Holds func(C) bool
}

// When returns a guard.
func When[C any](name string, holds func(C) bool) Guard[C] {
	return Guard[C]{Name: name, Holds: holds}
}

// And returns a guard that holds if both do.
func (g Guard[C]) And(h Guard[C]) Guard[C] {
	return When(g.Name+", "+h.Name, func(c C) bool { return g.Holds(c) && h.Holds(c) })
}

// Not returns a guard that holds if g does not.
func (g Guard[C]) Not() Guard[C] {
	return When("not: "+g.Name, func(c C) bool { return !g.Holds(c) })
}

// Cell is the list of rows for a state and input, followed by those of its superstates,
// as indices into the table.
type Cell struct {
	Rows   []int
	Always bool // the last row has no guard
}

// Table finds rows by state and input.
type Table[S, T Name, M comparable, C, A any] struct {
	Rows   []Row[S, T, M, C, A]
	cells  []Cell
	inputs int
}

// New returns a table of rows. Parents maps states to superstates.
func New[S, T Name, M comparable, C, A any](rows []Row[S, T, M, C, A], parents map[S]S) *Table[S, T, M, C, A] {
	t := &Table[S, T, M, C, A]{Rows: rows}
	states := 0
	for _, r := range rows {
		states = max(states, int(r.From)+1, int(r.To)+1)
		t.inputs = max(t.inputs, int(r.On)+1)
	}
	for s := range parents {
		states = max(states, int(s)+1)
	}
	t.cells = make([]Cell, states*t.inputs)
	for i := range t.cells {
		c := &t.cells[i]
		for at, ok := S(i/t.inputs), true; ok && !c.Always; at, ok = parents[at] {
			for j, r := range rows {
				if r.From == at && int(r.On) == i%t.inputs {
					c.Rows = append(c.Rows, j)
					c.Always = r.Guard.Holds == nil
				}
			}
		}
	}
	return t
}

// Cell returns the cell of state at and input on.
func (t *Table[S, T, M, C, A]) Cell(at S, on T) Cell {
	if i := int(at)*t.inputs + int(on); int(on) < t.inputs && i < len(t.cells) {
		return t.cells[i]
	}
	return Cell{}
}

// Choose returns the row that state at takes on an input, nil for none.
func (t *Table[S, T, M, C, A]) Choose(at S, on T, c C) *Row[S, T, M, C, A] {
	for _, i := range t.Cell(at, on).Rows {
		if r := &t.Rows[i]; r.Guard.Holds == nil || r.Guard.Holds(c) {
			return r
		}
	}
	return nil
}

// Next returns the state after the row is taken in at.
func (r *Row[S, T, M, C, A]) Next(at S) S {
	if r.Internal() {
		return at
	}
	return r.To
}
