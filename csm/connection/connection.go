// Package connection is the connection region: the one link to the realtime
// service that carries both voices.
//
// # Model
//
// A connection instance lives from the start of a conversation to its end. It
// may be replaced while the conversation goes on: each dial has its own epoch,
// and whatever arrives with another epoch than the live one is stale. Torn is
// absorbing; a new conversation begins with a new, Disconnected instance.
//
// A connection that is about to expire is replaced make-before-break: its
// successor is dialled while it works, and takes over when both stand and nothing
// is on the way over the old one. A successor that is late takes over when it is
// there, and until then nothing flows.
package connection

import "fmt"

// State is a closed sum: Disconnected, Connecting, Open, Reconnecting or Torn.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	state()
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

func (Disconnected) state() {}
func (Connecting) state()   {}
func (Open) state()         {}
func (Reconnecting) state() {}
func (Torn) state()         {}

func (Disconnected) String() string { return "disconnected" }
func (Connecting) String() string   { return "connecting" }
func (Open) String() string         { return "open" }
func (Reconnecting) String() string { return "reconnecting" }
func (Torn) String() string         { return "torn" }

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

// The outcomes. Stale and Ignored leave the state as it was.
const (
	Stale   Outcome = iota // of another epoch
	Ignored                // has no meaning in this state
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
	switch s := s.(type) {
	case Connecting:
		return s.Epoch
	case Open:
		return s.Epoch
	case Reconnecting:
		return s.Epoch
	default:
		return 0
	}
}

// Next is total and pure.
func Next(s State, in Input, epoch uint32) (State, Outcome) {
	if _, torn := s.(Torn); torn {
		return s, Ignored
	}
	switch in {
	case Close:
		return Torn{}, Closed
	case Dial:
		switch s.(type) {
		case Disconnected, Connecting:
			return Connecting{Epoch: epoch}, Dialled
		default:
			return Reconnecting{Epoch: epoch}, Dialled
		}
	}
	if o, open := s.(Open); open && (in != Lost || epoch == o.Successor) {
		return renewing(o, in, epoch)
	}
	if epoch != Epoch(s) || epoch == 0 {
		return s, Stale
	}
	_, open := s.(Open)
	switch {
	case open: // and lost: the rest is renewing's
		return Reconnecting{}, Dropped
	case in == Ready:
		return Open{Epoch: epoch}, Opened
	case in == Failed:
		return Disconnected{}, GaveUp
	default:
		return s, Ignored
	}
}

// renewing is what happens to an open connection, but for its loss.
func renewing(o Open, in Input, epoch uint32) (State, Outcome) {
	switch in {
	case Succeed:
		if o.Successor == 0 && epoch != 0 && epoch != o.Epoch {
			return Open{Epoch: o.Epoch, Successor: epoch}, Dialled
		}
		return o, Ignored
	case Swap:
		if o.SuccessorReady {
			return Open{Epoch: o.Successor}, Swapped
		}
		return o, Ignored
	case Late:
		if o.Successor != 0 && !o.SuccessorReady {
			return Reconnecting{Epoch: o.Successor}, Dropped
		}
		return o, Ignored
	}
	switch {
	case epoch == 0 || epoch != o.Successor && epoch != o.Epoch:
		return o, Stale
	case epoch == o.Epoch || in == Ready && o.SuccessorReady:
		return o, Ignored
	case in == Ready:
		o.SuccessorReady = true
		return o, Replaceable
	default:
		return Open{Epoch: o.Epoch}, SuccessorGone
	}
}
