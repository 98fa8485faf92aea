// Package connection is the connection region: the one link to the realtime
// service that carries both voices.
//
// # Model
//
// A connection instance lives from the start of a conversation to its end. It
// may be replaced while the conversation continues: each dial has its own epoch,
// and whatever arrives with another epoch than the live one is stale. Torn is
// absorbing; a new conversation begins with a new, Disconnected instance.
//
// A connection that is about to expire is replaced make-before-break: its
// successor is dialled while it works, and takes over when both stand and nothing
// is on the way over the old one. A successor that is late takes over when it is
// there, and until then nothing flows.
package connection

import (
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// State is a closed sum: Disconnected, Connecting, Open, Reconnecting or Torn.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	parts() (name, Open)
}

// The states.
type (
	// Disconnected: no dial was made in this instance.
	Disconnected struct{}
	// Connecting: the first dial of this instance is under way.
	Connecting struct{ Epoch uint32 }
	// Open: both voices flow. Successor is the connection that is to replace this
	// one, 0 for none; SuccessorReady says that it can.
	Open struct {
		Epoch          uint32
		Successor      uint32 `json:",omitempty"`
		SuccessorReady bool   `json:",omitempty"`
	}
	// Reconnecting: an open connection was lost and its successor is dialled;
	// Epoch is 0 until it is.
	Reconnecting struct{ Epoch uint32 }
	// Torn: closed for good; nothing of this instance starts again.
	Torn struct{}
)

// name is a state without its data, or a superstate.
type name uint8

const (
	disconnected name = iota
	connecting
	open
	reconnecting
	alive
	torn
)

var names = [...]string{"disconnected", "connecting", "open", "reconnecting", "alive", "torn"}

func (n name) String() string { return names[n] }

var parents = map[name]name{disconnected: alive, connecting: alive, open: alive, reconnecting: alive}

// state is the one place where a state is made of its name and data.
func state(n name, o Open) State {
	switch n {
	case connecting:
		return Connecting{Epoch: o.Epoch}
	case open:
		return o
	case reconnecting:
		return Reconnecting{Epoch: o.Epoch}
	case torn:
		return Torn{}
	default:
		return Disconnected{}
	}
}

func (Disconnected) parts() (name, Open)   { return disconnected, Open{} }
func (s Connecting) parts() (name, Open)   { return connecting, Open{Epoch: s.Epoch} }
func (s Open) parts() (name, Open)         { return open, s }
func (s Reconnecting) parts() (name, Open) { return reconnecting, Open{Epoch: s.Epoch} }
func (Torn) parts() (name, Open)           { return torn, Open{} }

func (Disconnected) String() string { return disconnected.String() }
func (Connecting) String() string   { return connecting.String() }
func (Open) String() string         { return open.String() }
func (Reconnecting) String() string { return reconnecting.String() }
func (Torn) String() string         { return torn.String() }

// Input is what happens to a connection.
type Input uint8

// The inputs. Dial and Succeed carry the epoch of the new dial.
const (
	Dial    Input = iota
	Succeed       // a successor is dialled
	Swap          // the successor takes over
	Late          // the successor is not there in time
	Ready
	Lost
	Failed
	Close
	numInputs
)

var inputNames = [numInputs]string{"dial", "succeed", "swap", "late", "ready", "lost", "failed", "close"}

func (in Input) String() string { return inputNames[in] }

// Outcome is what an input meant.
type Outcome uint8

// The outcomes.
const (
	Stale Outcome = iota // of another epoch, or without a meaning: the state is as it was
	Dialled
	Opened
	Replaceable   // the successor can take over
	Swapped       // and has
	Dropped       // an open connection is gone
	SuccessorGone // there is no successor any more
	GaveUp        // a dial failed for good
	Closed
)

// Epoch is the live epoch of s, 0 for none.
func Epoch(s State) uint32 {
	_, o := s.parts()
	return o.Epoch
}

// Next is total and pure.
func Next(s State, in Input, epoch uint32) (State, Outcome) {
	at, o := s.parts()
	c := change{o, epoch}
	row := table.Choose(at, in, c)
	if row == nil {
		return s, Stale
	}
	return state(row.Next(at), row.Do(c)), row.Means
}

// change is an input to a connection, in a state with data.
type change struct {
	Open
	epoch uint32
}

type (
	// Row is one line of the region's table.
	Row = statechart.Row[name, Input, Outcome, change, func(change) Open]
	// Guard is a condition on an input.
	Guard = statechart.Guard[change]
)

var (
	row   = statechart.NewRow[name, Input, Outcome, change, func(change) Open]
	when  = statechart.When[change]
	table = statechart.New(Table(), parents)
)

// Chart is the region's table.
func Chart(of statechart.Region) statechart.Chart { return statechart.ChartOf(of, table, parents) }

// Table returns the rows, in their order.
func Table() []Row {
	live := when("of it", func(c change) bool { return c.epoch == c.Epoch && c.epoch != 0 })
	successor := when("of the successor", func(c change) bool { return c.epoch == c.Successor && c.epoch != 0 })
	alone := when("of another epoch, without a successor", func(c change) bool {
		return c.Successor == 0 && c.epoch != 0 && c.epoch != c.Epoch
	})
	ready := when("the successor is ready", func(c change) bool { return c.SuccessorReady })
	late := when("the successor is not ready", func(c change) bool { return c.Successor != 0 && !c.SuccessorReady })
	again := func(c change) Open { return Open{Epoch: c.epoch} }
	nothing := func(change) Open { return Open{} }
	stays := func(c change) Open { return Open{Epoch: c.Epoch} }
	takesOver := func(c change) Open { return Open{Epoch: c.Successor} }
	return []Row{
		row(disconnected, Dial, Guard{}, connecting, Dialled, again),
		row(connecting, Dial, Guard{}, connecting, Dialled, again),
		row(connecting, Ready, live, open, Opened, again),
		row(connecting, Failed, live, disconnected, GaveUp, nothing),

		row(open, Lost, live, reconnecting, Dropped, nothing),
		row(open, Dial, Guard{}, reconnecting, Dialled, again),
		row(open, Succeed, alone, open, Dialled, func(c change) Open { return Open{Epoch: c.Epoch, Successor: c.epoch} }),
		row(open, Ready, successor.And(late), open, Replaceable, func(c change) Open { c.SuccessorReady = true; return c.Open }),
		row(open, Lost, successor, open, SuccessorGone, stays),
		row(open, Failed, successor, open, SuccessorGone, stays),
		row(open, Swap, ready, open, Swapped, takesOver),
		row(open, Late, late, reconnecting, Dropped, takesOver),

		row(reconnecting, Dial, Guard{}, reconnecting, Dialled, again),
		row(reconnecting, Ready, live, open, Opened, again),
		row(reconnecting, Failed, live, disconnected, GaveUp, nothing),

		row(alive, Close, Guard{}, torn, Closed, nothing),
	}
}
