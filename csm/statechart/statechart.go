// Package statechart is the form of every region's table: the rows, how one is
// chosen, and the chart that a table is when it is drawn.
//
// # Model
//
// A region has a list of rows. Of the rows of one state and input at most one with a
// guard holds, and one without a guard is taken where none does; the rows of a
// superstate serve where none of what is inside of it does. What a row does with the
// region's data is a function in the row. Diagrams, tests and the names on the wire come
// from the rows, so that a transition is written down once.
package statechart

// Name is a state or superstate of a region, or an input to one.
type Name interface {
	~uint8
	String() string
}

// Row is one line of a region's table. S are the region's states, T its inputs, M is
// what an input meant, C what guards see, and A the action.
type Row[S, T Name, M comparable, C, A any] struct {
	From  S
	On    T
	Guard Guard[C]
	To    S // From itself: internal, the state is neither left nor entered
	Means M // the cause that is told, or the outcome for whoever gave the input
	Do    A // nil: nothing but the transition
}

// NewRow is a row. A package gives it a short name for its own types.
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

// When is a guard.
func When[C any](name string, holds func(C) bool) Guard[C] {
	return Guard[C]{Name: name, Holds: holds}
}

// And holds where both do.
func (g Guard[C]) And(h Guard[C]) Guard[C] {
	return When(g.Name+", "+h.Name, func(c C) bool { return g.Holds(c) && h.Holds(c) })
}

// Not holds where g does not.
func (g Guard[C]) Not() Guard[C] {
	return When("not: "+g.Name, func(c C) bool { return !g.Holds(c) })
}

// Cell is what a state does with an input: its rows and then those of its superstates,
// as indices of the table.
type Cell struct {
	Rows   []int
	Always bool // the last of them has no guard
}

// Table finds rows by state and input.
type Table[S, T Name, M comparable, C, A any] struct {
	Rows   []Row[S, T, M, C, A]
	cells  []Cell
	inputs int
}

// New makes a table of rows. Parents are the superstates.
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

// Cell is what state at does with an input.
func (t *Table[S, T, M, C, A]) Cell(at S, on T) Cell {
	if i := int(at)*t.inputs + int(on); int(on) < t.inputs && i < len(t.cells) {
		return t.cells[i]
	}
	return Cell{}
}

// Choose is the row that state at takes on an input, nil for none.
func (t *Table[S, T, M, C, A]) Choose(at S, on T, c C) *Row[S, T, M, C, A] {
	for _, i := range t.Cell(at, on).Rows {
		if r := &t.Rows[i]; r.Guard.Holds == nil || r.Guard.Holds(c) {
			return r
		}
	}
	return nil
}

// Next is the state that a row of the table leads to from at.
func (r *Row[S, T, M, C, A]) Next(at S) S {
	if r.Internal() {
		return at
	}
	return r.To
}
