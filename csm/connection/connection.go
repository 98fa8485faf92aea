// Package connection is the connection region: the connection to the realtime service
// that carries both voices.
//
// # Model
//
// A connection instance lives from the start of a conversation to its end. It may be
// replaced during the conversation: each dial has its own epoch, and an event with
// another epoch than the live one is stale. Torn is absorbing; a new conversation starts
// with a new, Disconnected instance.
//
// An expiring connection is replaced make-before-break: its successor is dialled while it
// works, and takes over when it is ready and the old connection is idle. If the old
// connection must be given up before the successor is ready, nothing flows until then.
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
	// Disconnected: no dial yet in this instance.
	Disconnected struct{}
	// Connecting: the first dial of this instance is in progress.
	Connecting struct{ Epoch uint32 }
	// Open: both voices flow. Successor is the epoch of the replacement, 0 for none;
	// SuccessorReady says that it is open.
	Open struct {
		Epoch          uint32
		Successor      uint32 `json:",omitempty"`
		SuccessorReady bool   `json:",omitempty"`
	}
	// Reconnecting: an open connection was lost and is being redialled; Epoch is 0 until
	// the dial starts.
	Reconnecting struct{ Epoch uint32 }
	// Torn: closed for good; nothing in this instance starts again.
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

// state is the only function that builds a state from its name and data.
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

// Input is an input of the region.
type Input uint8

// The inputs. Dial and Succeed carry the epoch of the new dial.
const (
	Dial    Input = iota
	Succeed       // dial a successor
	Swap          // the successor takes over
	Late          // the successor is late
	Ready
	Lost
	Failed
	Close
	numInputs
)

var inputNames = [numInputs]string{"dial", "succeed", "swap", "late", "ready", "lost", "failed", "close"}

func (in Input) String() string { return inputNames[in] }

// Outcome is the meaning of an input.
type Outcome uint8

// The outcomes.
const (
	Stale Outcome = iota // another epoch, or no meaning: the state does not change
	Dialled
	Opened
	Replaceable   // the successor can take over
	Swapped       // the successor took over
	Dropped       // an open connection was lost
	SuccessorGone // the successor was lost
	GaveUp        // a dial failed for good
	Closed
)

// Epoch returns the live epoch of s, 0 for none.
func Epoch(s State) uint32 {
	_, o := s.parts()
	return o.Epoch
}

// Next applies an input. It is total and pure.
func Next(s State, in Input, epoch uint32) (State, Outcome) {
	at, o := s.parts()
	c := change{o, epoch}
	row := table.Choose(at, in, c)
	if row == nil {
		return s, Stale
	}
	return state(row.Next(at), row.Do(c)), row.Means
}

// change is an input and the state's data.
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

// Table returns the rows in order.
func Table() []Row {
	live := when("live epoch", func(c change) bool { return c.epoch == c.Epoch && c.epoch != 0 })
	successor := when("epoch of the successor", func(c change) bool { return c.epoch == c.Successor && c.epoch != 0 })
	alone := when("another epoch, without a successor", func(c change) bool {
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
