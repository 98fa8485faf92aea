// Package copilot is the assistant's side of a conversation: the region that
// follows one request from its hand-over to its terminal, and the Adapter that
// makes the attempts.
//
// # Model
//
// At most one request is live. It is generating until its first sign of life,
// then streaming, and ends with exactly one terminal. A cancelled request stays
// live until the adapter confirmed it, so that two never overlap (invariant 1);
// whatever it still says is stale.
package copilot

import "fmt"

// State is a closed sum: Idle, Ready, Generating or Streaming.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	state()
}

// The states. Their names on the wire are those of the chat machine.
type (
	// Idle: no conversation.
	Idle struct{}
	// Ready: a request may be made.
	Ready struct{}
	// Generating: a request was made, nothing came back yet.
	Generating struct{ Live }
	// Streaming: the answer is coming.
	Streaming struct{ Live }
)

// Live is the request that is under way.
type Live struct {
	Request   uint64 `json:"request"`
	Attempt   int    `json:"attempt"`
	Cancelled bool   `json:"cancelled,omitempty"` // told to stop, not yet confirmed
}

func (Idle) state()       {}
func (Ready) state()      {}
func (Generating) state() {}
func (Streaming) state()  {}

func (Idle) String() string       { return "idle" }
func (Ready) String() string      { return "ready" }
func (Generating) String() string { return "generatingResponse" }
func (Streaming) String() string  { return "streamingResponse" }

// LiveOf returns the live request of s, and whether there is one.
func LiveOf(s State) (Live, bool) {
	switch s := s.(type) {
	case Generating:
		return s.Live, true
	case Streaming:
		return s.Live, true
	default:
		return Live{}, false
	}
}

// Input is what happens to the region.
type Input uint8

// The inputs.
const (
	Open     Input = iota // a conversation begins
	Send                  // a request is handed over
	Attempt               // the adapter makes attempt n
	Progress              // a sign of life
	Terminal              // the request ended
	Cancel                // the request is to stop
	Shut                  // the conversation is over
)

// Outcome is what an input meant.
type Outcome uint8

// The outcomes. Stale and Ignored leave the state as it was.
const (
	Stale Outcome = iota
	Ignored
	Changed
	First     // the first sign of life
	More      // a further one
	Ended     // the terminal of the live request
	Confirmed // the terminal of a cancelled one
)

// Next is total and pure. request is the id that the input is about; attempt is
// for Attempt only.
func Next(s State, in Input, request uint64, attempt int) (State, Outcome) {
	live, busy := LiveOf(s)
	switch in {
	case Open:
		if _, idle := s.(Idle); idle {
			return Ready{}, Changed
		}
		return s, Ignored
	case Shut:
		return Idle{}, Changed
	case Send:
		if _, ready := s.(Ready); !ready {
			return s, Ignored
		}
		return Generating{Live{Request: request, Attempt: 1}}, Changed
	}
	if !busy || live.Request != request {
		return s, Stale
	}
	if in == Terminal {
		if live.Cancelled {
			return Ready{}, Confirmed
		}
		return Ready{}, Ended
	}
	if live.Cancelled {
		return s, Stale
	}
	_, generating := s.(Generating)
	switch {
	case in == Cancel:
		live.Cancelled = true
		if generating {
			return Generating{live}, Changed
		}
		return Streaming{live}, Changed
	case in == Attempt && generating && attempt > live.Attempt:
		live.Attempt = attempt
		return Generating{live}, Changed
	case in == Attempt:
		return s, Ignored
	case generating:
		return Streaming{live}, First
	default:
		return s, More
	}
}
