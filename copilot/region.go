// Package copilot is the assistant's side of a conversation: the region that
// follows one request from its hand-over to its terminal, and the Adapter that
// makes the attempts.
//
// # Model
//
// A model may have to be loaded before a request can be made. At most one
// request is live. Its round begins with a search for tools where there are any,
// is generating until its first sign of life, then streaming. An answer that
// asks for tools waits for the user's decision on each call, calls what was
// allowed, and begins the next round of the same request; an answer that asks for
// none ends it.
//
// What was told to stop stays live until that is confirmed, so that two never
// overlap (invariant 1); whatever it still says is stale. A tool call that was
// told to stop may have run: it stays live until its own terminal (invariant 13).
package copilot

import (
	"fmt"
	"slices"
)

// State is a closed sum: Idle, LoadingModel, LoadFailed, Ready, SearchingTools,
// Generating, Streaming, WaitingForApproval or CallingTool.
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
	// LoadingModel: a model is being loaded, and Percent of it is.
	LoadingModel struct {
		Load    uint32 `json:"load"`
		Model   uint64 `json:"model"`
		Percent int    `json:"percent,omitempty"`
	}
	// LoadFailed: there is no model, for a reason. It is left by loading one.
	LoadFailed struct {
		Reason string `json:"reason,omitempty"` // a code of the closed list
	}
	// Ready: a request may be made.
	Ready struct{}
	// SearchingTools: the tools for the round are being chosen.
	SearchingTools struct{ Live }
	// Generating: the round was handed over, nothing came back yet.
	Generating struct{ Live }
	// Streaming: the answer is coming.
	Streaming struct{ Live }
	// WaitingForApproval: the user is asked about the first of Calls.
	WaitingForApproval struct{ Live }
	// CallingTool: the first of Calls was allowed, and runs.
	CallingTool struct{ Live }
)

// Live is the request that is under way.
type Live struct {
	Request   uint64 `json:"request"`
	Attempt   int    `json:"attempt"`
	Round     int    `json:"round,omitempty"`     // 0 for the first
	Cancelled bool   `json:"cancelled,omitempty"` // told to stop, not yet confirmed
	Calls     []Call `json:"calls,omitempty"`     // that the round asks for, not decided yet; never modified in place
}

// Call is one call of a tool that the assistant asks for. What it would do is
// beside the core.
type Call struct {
	ID          uint64 `json:"id"`
	Destructive bool   `json:"destructive,omitempty"` // it changes what cannot be had back
}

// isNext says whether c is the call that is to be decided about, or runs.
func (l Live) isNext(c Call) bool { return len(l.Calls) > 0 && l.Calls[0].ID == c.ID }

// MaxCalls is how many calls one round may ask for. More are refused.
const MaxCalls = 16

func (Idle) state()               {}
func (LoadingModel) state()       {}
func (LoadFailed) state()         {}
func (Ready) state()              {}
func (SearchingTools) state()     {}
func (Generating) state()         {}
func (Streaming) state()          {}
func (WaitingForApproval) state() {}
func (CallingTool) state()        {}

func (Idle) String() string               { return "idle" }
func (LoadingModel) String() string       { return "loadingModel" }
func (LoadFailed) String() string         { return "loadFailed" }
func (Ready) String() string              { return "ready" }
func (SearchingTools) String() string     { return "searchingTools" }
func (Generating) String() string         { return "generatingResponse" }
func (Streaming) String() string          { return "streamingResponse" }
func (WaitingForApproval) String() string { return "waitingForToolApproval" }
func (CallingTool) String() string        { return "callingTool" }

// LiveOf returns the live request of s, and whether there is one.
func LiveOf(s State) (Live, bool) {
	switch s := s.(type) {
	case SearchingTools:
		return s.Live, true
	case Generating:
		return s.Live, true
	case Streaming:
		return s.Live, true
	case WaitingForApproval:
		return s.Live, true
	case CallingTool:
		return s.Live, true
	default:
		return Live{}, false
	}
}

// Busy says whether something of a request is under way outside of this process:
// what waits for the user's decision is not.
func Busy(s State) bool {
	_, live := LiveOf(s)
	_, asks := s.(WaitingForApproval)
	return live && !asks
}

// Stage is what a request was at, and what the user may have tried again.
type Stage uint8

// The stages.
const (
	StageNone       Stage = iota // the whole request
	StageSearch                  // the search for tools
	StageGeneration              // the wait for the answer
	StageStream                  // the answer, in the middle
	StageCall                    // a call of a tool
	numStages
)

var stageNames = [numStages]string{"", "search", "generation", "stream", "call"}

func (s Stage) String() string { return stageNames[s] }

// StageOf is the stage that s is at.
func StageOf(s State) Stage {
	switch s.(type) {
	case SearchingTools:
		return StageSearch
	case Generating:
		return StageGeneration
	case Streaming:
		return StageStream
	case CallingTool:
		return StageCall
	default:
		return StageNone
	}
}

// Failure is what is kept of a request that failed, for the user's "try again".
type Failure struct {
	Utterance uint64   `json:"utterance"`
	More      []uint64 `json:"more,omitempty"` // merged with it
	Stage     Stage    `json:"stage,omitempty"`
	Call      Call     `json:"call,omitzero"` // that failed, in StageCall
}

// Input is what happens to the region. Which of the fields after Do matter is
// said where Do is.
type Input struct {
	Do      Do
	Request uint64
	Round   int
	Attempt int
	Call    Call
	Load    uint32
	Model   uint64
	Percent int
	Reason  string
}

// Do is the kind of an input.
type Do uint8

// The inputs. Those from Attempt on are about the live request, and stale when
// they name another one or another round of it.
const (
	Open     Do = iota // a conversation begins
	Load               // Model is to be loaded, as Load; from Idle on it is not
	Progress           // Percent of Load is loaded
	Loaded             // Load is done
	Unloaded           // Load failed, for Reason
	Search             // Request is begun with a search for tools
	Send               // Request is handed over, without a search
	Ask                // Request is begun with the question about Call
	Shut               // the conversation is over
	Attempt            // the adapter makes Attempt
	Sign               // a sign of life
	Wants              // the answer asks for Call
	Found              // the tools of the round are chosen
	NotFound           // or not, or the search was cancelled
	Terminal           // the answer of the round is whole
	Fail               // or has failed, or was cancelled
	Cancel             // the request is to stop
	Approve            // Call is allowed
	Reject             // Call is not
	ToolDone           // Call has ended well
	ToolFail           // Call has failed, or was cancelled
	numDos
)

var doNames = [numDos]string{
	"open", "load", "progress", "loaded", "unloaded", "search", "send", "ask", "shut", "attempt", "sign", "wants", "found", "notFound",
	"terminal", "fail", "cancel", "approve", "reject", "toolDone", "toolFail",
}

func (d Do) String() string { return doNames[d] }

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
	Asks      // the user is to be asked about the first of Calls
	NextRound // the request goes on with another round
	Refused   // the round asks for more calls than it may
)

// Next is total and pure.
func Next(s State, in Input) (State, Outcome) {
	switch in.Do {
	case Open, Load, Progress, Loaded, Unloaded, Search, Send, Ask, Shut:
		return between(s, in)
	}
	live, busy := LiveOf(s)
	_, asks := s.(WaitingForApproval)
	_, calls := s.(CallingTool)
	switch in.Do {
	case Approve, Reject:
		if !asks || !live.isNext(in.Call) {
			return s, Stale
		}
	case ToolDone, ToolFail:
		if !calls || !live.isNext(in.Call) {
			return s, Stale
		}
	default:
		if !busy || live.Request != in.Request {
			return s, Stale
		}
	}
	switch s := s.(type) { //nolint:gochecksumtype // of the others no request is live
	case SearchingTools:
		return searching(s, in)
	case Generating, Streaming:
		return answering(s, live, in)
	case WaitingForApproval:
		return asking(s, in)
	case CallingTool:
		return calling(s, in)
	}
	return s, Ignored
}

// between is what happens while no request is under way, and what begins one.
func between(s State, in Input) (State, Outcome) {
	load, loading := s.(LoadingModel)
	_, ready := s.(Ready)
	switch in.Do {
	case Shut:
		return Idle{}, Changed
	case Open:
		if _, idle := s.(Idle); idle {
			return Ready{}, Changed
		}
	case Load:
		if _, failed := s.(LoadFailed); ready || failed || loading {
			return LoadingModel{Load: in.Load, Model: in.Model}, Changed
		}
	case Progress, Loaded, Unloaded:
		switch {
		case !loading || load.Load != in.Load:
			return s, Stale
		case in.Do == Loaded:
			return Ready{}, Changed
		case in.Do == Unloaded:
			return LoadFailed{Reason: in.Reason}, Changed
		case min(in.Percent, 100) > load.Percent:
			load.Percent = min(in.Percent, 100)
			return load, Changed
		}
	case Search:
		if ready {
			return SearchingTools{Live{Request: in.Request, Attempt: 1}}, Changed
		}
	case Send:
		if ready {
			return Generating{Live{Request: in.Request, Attempt: 1}}, Changed
		}
	case Ask:
		if ready {
			return WaitingForApproval{Live{Request: in.Request, Attempt: 1, Calls: []Call{in.Call}}}, Asks
		}
	}
	return s, Ignored
}

func searching(s SearchingTools, in Input) (State, Outcome) {
	switch in.Do {
	case Found, NotFound:
		switch {
		case in.Round != s.Round:
			return s, Stale
		case s.Cancelled:
			return Ready{}, Confirmed
		case in.Do == NotFound:
			return Ready{}, Ended
		}
		s.Attempt = 1
		return Generating{s.Live}, Changed
	case Cancel:
		if !s.Cancelled {
			s.Cancelled = true
			return s, Changed
		}
	case Attempt, Sign, Wants, Terminal, Fail: // the round was not handed over
		return s, Stale
	}
	return s, Ignored
}

// answering is Generating and Streaming.
func answering(s State, live Live, in Input) (State, Outcome) {
	if in.Round != live.Round && in.Do != Cancel || in.Do == Found || in.Do == NotFound {
		return s, Stale
	}
	with := func(l Live) State {
		if _, generating := s.(Generating); generating {
			return Generating{l}
		}
		return Streaming{l}
	}
	switch in.Do {
	case Terminal, Fail:
		switch {
		case live.Cancelled:
			return Ready{}, Confirmed
		case in.Do == Terminal && len(live.Calls) > 0:
			return WaitingForApproval{live}, Asks
		}
		return Ready{}, Ended
	case Cancel:
		if live.Cancelled {
			return s, Ignored
		}
		live.Cancelled, live.Calls = true, nil
		return with(live), Changed
	}
	if live.Cancelled {
		return s, Stale
	}
	_, generating := s.(Generating)
	switch {
	case in.Do == Attempt && generating && in.Attempt > live.Attempt:
		live.Attempt = in.Attempt
		return Generating{live}, Changed
	case in.Do == Wants:
		if slices.ContainsFunc(live.Calls, func(c Call) bool { return c.ID == in.Call.ID }) {
			return s, Ignored
		}
		if len(live.Calls) == MaxCalls {
			return s, Refused
		}
		live.Calls = append(live.Calls[:len(live.Calls):len(live.Calls)], in.Call)
		return Streaming{live}, More
	case in.Do == Sign && generating:
		return Streaming{live}, First
	case in.Do == Sign:
		return s, More
	default:
		return s, Ignored
	}
}

func asking(s WaitingForApproval, in Input) (State, Outcome) {
	switch in.Do {
	case Approve:
		return CallingTool{s.Live}, Changed
	case Reject:
		return decided(s.Live)
	case Cancel: // nothing runs that would have to confirm it
		return Ready{}, Ended
	case Attempt, Sign, Wants, Found, NotFound, Terminal, Fail: // the round is over
		return s, Stale
	default:
		return s, Ignored
	}
}

// decided goes on after the first of the calls was rejected or has ended well:
// with the next of them, or with the next round.
func decided(l Live) (State, Outcome) {
	if len(l.Calls) > 1 {
		l.Calls = l.Calls[1:]
		return WaitingForApproval{l}, Asks
	}
	return SearchingTools{Live{Request: l.Request, Attempt: 1, Round: l.Round + 1}}, NextRound
}

func calling(s CallingTool, in Input) (State, Outcome) {
	switch in.Do {
	case ToolDone, ToolFail:
		switch {
		case s.Cancelled:
			return Ready{}, Confirmed
		case in.Do == ToolFail:
			return Ready{}, Ended
		}
		return decided(s.Live)
	case Cancel:
		if !s.Cancelled {
			s.Cancelled = true
			return s, Changed
		}
	case Attempt, Sign, Wants, Found, NotFound, Terminal, Fail:
		return s, Stale
	}
	return s, Ignored
}
