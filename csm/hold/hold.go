// Package hold is the hold region: the reasons why a conversation is held. Its rows
// concern changes of the set of reasons; rows of the conversation say which events add or
// remove one.
package hold

import "github.com/agentvoice/agentvoice-daemon/csm/statechart"

// Reasons is a set of reasons, and the region's data.
type Reasons uint8

// name says whether there is a reason.
type name uint8

const (
	none name = iota
	held
)

func (n name) String() string { return [...]string{"none", "held"}[n] }

// Input is an input of the region.
type Input uint8

// The inputs.
const (
	Give Input = iota
	Take
)

func (in Input) String() string { return [...]string{"reason given", "reason taken"}[in] }

// change is the current reasons and those to add or remove.
type change struct{ are, which Reasons }

type (
	// Row is one line of the region's table. It has no meaning beyond the transition.
	Row = statechart.Row[name, Input, struct{}, change, func(change) Reasons]
	// Guard is a condition on an input.
	Guard = statechart.Guard[change]
)

var table = statechart.New(Table(), nil)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, nil) }

// Table returns the rows in order.
func Table() []Row {
	row := statechart.NewRow[name, Input, struct{}, change, func(change) Reasons]
	last := statechart.When("last reason", func(c change) bool { return c.are&^c.which == 0 })
	given := func(c change) Reasons { return c.are | c.which }
	taken := func(c change) Reasons { return c.are &^ c.which }
	return []Row{
		row(none, Give, Guard{}, held, struct{}{}, given),
		row(held, Give, Guard{}, held, struct{}{}, given),
		row(held, Take, last, none, struct{}{}, taken),
		row(held, Take, last.Not(), held, struct{}{}, taken),
	}
}

// Next applies an input. It is total and pure.
func Next(are Reasons, in Input, which Reasons) Reasons {
	at := none
	if are != 0 {
		at = held
	}
	c := change{are, which}
	if row := table.Choose(at, in, c); row != nil {
		return row.Do(c)
	}
	return are
}
