// Package connection is the connection region: the one link to the realtime
// service that carries both voices.
//
// # Model
//
// A connection instance lives from the start of a conversation to its end. It
// may be replaced while the conversation goes on: each dial has its own epoch,
// and whatever arrives with another epoch than the live one is stale. Torn is
// absorbing; a new conversation begins with a new, Disconnected instance.
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
	// Open: both voices flow.
	Open struct{ Epoch uint32 }
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

// The inputs. Dial carries the epoch of the new dial.
const (
	Dial Input = iota
	Ready
	Lost
	Failed
	Close
)

// Outcome is what an input meant.
type Outcome uint8

// The outcomes. Stale and Ignored leave the state as it was.
const (
	Stale   Outcome = iota // of another epoch
	Ignored                // has no meaning in this state
	Dialled
	Opened
	Dropped // an open connection is gone
	GaveUp  // a dial failed for good
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
	if epoch != Epoch(s) || epoch == 0 {
		return s, Stale
	}
	_, open := s.(Open)
	switch {
	case in == Ready && !open:
		return Open{Epoch: epoch}, Opened
	case in == Lost && open:
		return Reconnecting{}, Dropped
	case in == Failed && !open:
		return Disconnected{}, GaveUp
	default:
		return s, Ignored
	}
}
