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

import "fmt"

// State is a closed sum: Idle, LoadingModel, LoadFailed, Ready, SearchingTools,
// Generating, Streaming, WaitingForApproval or CallingTool.
//
//sumtype:decl
type State interface {
	fmt.Stringer
	parts() (name, data)
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
	Destructive bool   `json:"destructive,omitempty"` // irreversible
	Allowed     bool   `json:"allowed,omitempty"`     // beforehand: the user is not asked
}

// isNext says whether c is the call that is to be decided about, or runs.
func (l Live) isNext(c Call) bool { return len(l.Calls) > 0 && l.Calls[0].ID == c.ID }

// MaxCalls is how many calls one round may ask for. More are refused.
const MaxCalls = 16

// name is a state without its data, or a superstate.
type name uint8

const (
	idle name = iota
	loadingModel
	loadFailed
	ready
	searchingTools
	generating
	streaming
	waitingForApproval
	callingTool
	answering // generating, streaming
	all
)

// names are those of the chat machine, as on the wire.
var names = [...]string{
	"idle", "loadingModel", "loadFailed", "ready", "searchingTools", "generatingResponse", "streamingResponse",
	"waitingForToolApproval", "callingTool", "answering", "all",
}

func (n name) String() string { return names[n] }

var parents = map[name]name{
	idle: all, loadingModel: all, loadFailed: all, ready: all, searchingTools: all, waitingForApproval: all, callingTool: all,
	generating: answering, streaming: answering, answering: all,
}

// data is what a state may know.
type data struct {
	Live
	load   LoadingModel
	reason string
}

// state is the one place where a state is made of its name and data.
func state(n name, d data) State {
	switch n {
	case loadingModel:
		return d.load
	case loadFailed:
		return LoadFailed{Reason: d.reason}
	case ready:
		return Ready{}
	case searchingTools:
		return SearchingTools{d.Live}
	case generating:
		return Generating{d.Live}
	case streaming:
		return Streaming{d.Live}
	case waitingForApproval:
		return WaitingForApproval{d.Live}
	case callingTool:
		return CallingTool{d.Live}
	default:
		return Idle{}
	}
}

func (Idle) parts() (name, data)                 { return idle, data{} }
func (s LoadingModel) parts() (name, data)       { return loadingModel, data{load: s} }
func (s LoadFailed) parts() (name, data)         { return loadFailed, data{reason: s.Reason} }
func (Ready) parts() (name, data)                { return ready, data{} }
func (s SearchingTools) parts() (name, data)     { return searchingTools, data{Live: s.Live} }
func (s Generating) parts() (name, data)         { return generating, data{Live: s.Live} }
func (s Streaming) parts() (name, data)          { return streaming, data{Live: s.Live} }
func (s WaitingForApproval) parts() (name, data) { return waitingForApproval, data{Live: s.Live} }
func (s CallingTool) parts() (name, data)        { return callingTool, data{Live: s.Live} }

func (Idle) String() string               { return idle.String() }
func (LoadingModel) String() string       { return loadingModel.String() }
func (LoadFailed) String() string         { return loadFailed.String() }
func (Ready) String() string              { return ready.String() }
func (SearchingTools) String() string     { return searchingTools.String() }
func (Generating) String() string         { return generating.String() }
func (Streaming) String() string          { return streaming.String() }
func (WaitingForApproval) String() string { return waitingForApproval.String() }
func (CallingTool) String() string        { return callingTool.String() }

// LiveOf returns the live request of s, and whether there is one.
func LiveOf(s State) (Live, bool) {
	at, d := s.parts()
	return d.Live, at >= searchingTools
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
