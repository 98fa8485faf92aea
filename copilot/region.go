// Package copilot is the assistant's side of a conversation: the region that tracks one
// request from start to end, and the Adapter interface for the attempts.
//
// # Model
//
// A model may have to be loaded before a request. At most one request is live. A round
// searches for tools if there are any, is generating until the first sign of an answer,
// and then streaming. If the answer calls tools, the region waits for the user's decision
// on each call, runs the approved ones, and starts the next round of the same request;
// otherwise the request ends.
//
// A cancelled request stays live until the adapter confirms, so that two requests never
// overlap (invariant 1); until then its output is stale. A cancelled tool call may have
// run, so it stays live until its own terminal event (invariant 13).
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

// The states. Their names on the wire are those of the chat state machine.
type (
	// Idle: no conversation.
	Idle struct{}
	// LoadingModel: a model is being loaded, at Percent.
	LoadingModel struct {
		Load    uint32 `json:"load"`
		Model   uint64 `json:"model"`
		Percent int    `json:"percent,omitempty"`
	}
	// LoadFailed: loading failed, for Reason. Loading a model leaves this state.
	LoadFailed struct {
		Reason string `json:"reason,omitempty"` // an error code
	}
	// Ready: a request can be made.
	Ready struct{}
	// SearchingTools: the tools for the round are being chosen.
	SearchingTools struct{ Live }
	// Generating: the round was sent, with no response yet.
	Generating struct{ Live }
	// Streaming: the answer is arriving.
	Streaming struct{ Live }
	// WaitingForApproval: the user is being asked about Calls[0].
	WaitingForApproval struct{ Live }
	// CallingTool: Calls[0] was approved and is running.
	CallingTool struct{ Live }
)

// Live is the request in progress.
type Live struct {
	Request   uint64 `json:"request"`
	Attempt   int    `json:"attempt"`
	Round     int    `json:"round,omitempty"`     // 0 for the first
	Cancelled bool   `json:"cancelled,omitempty"` // cancelled, not yet confirmed
	Calls     []Call `json:"calls,omitempty"`     // undecided calls of the round; never modified in place
}

// Call is one tool call of the assistant. Its input is kept outside of the core.
type Call struct {
	ID          uint64 `json:"id"`
	Destructive bool   `json:"destructive,omitempty"` // irreversible
	Reads       bool   `json:"reads,omitempty"`       // changes nothing
	Allowed     bool   `json:"allowed,omitempty"`     // preapproved: the user is not asked
}

// isNext says whether c is the call being decided or run.
func (l Live) isNext(c Call) bool { return len(l.Calls) > 0 && l.Calls[0].ID == c.ID }

// MaxCalls is the maximum number of calls in a round. Further ones are rejected.
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

// names are those of the chat state machine, as on the wire.
var names = [...]string{
	"idle", "loadingModel", "loadFailed", "ready", "searchingTools", "generatingResponse", "streamingResponse",
	"waitingForToolApproval", "callingTool", "answering", "all",
}

func (n name) String() string { return names[n] }

var parents = map[name]name{
	idle: all, loadingModel: all, loadFailed: all, ready: all, searchingTools: all, waitingForApproval: all, callingTool: all,
	generating: answering, streaming: answering, answering: all,
}

// data is the union of the states' data.
type data struct {
	Live
	load   LoadingModel
	reason string
}

// state is the only function that builds a state from its name and data.
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

// Busy says whether part of a request is running outside of this process. Waiting for the
// user's decision is not.
func Busy(s State) bool {
	_, live := LiveOf(s)
	_, asks := s.(WaitingForApproval)
	return live && !asks
}

// Stage is the stage of a request, which the user may retry.
type Stage uint8

// The stages.
const (
	StageNone       Stage = iota // the whole request
	StageSearch                  // searching tools
	StageGeneration              // waiting for the answer
	StageStream                  // receiving the answer
	StageCall                    // calling a tool
	numStages
)

var stageNames = [numStages]string{"", "search", "generation", "stream", "call"}

func (s Stage) String() string { return stageNames[s] }

// StageOf returns the stage of s.
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

// Failure describes a failed request, for the user's "try again".
type Failure struct {
	Utterance uint64   `json:"utterance"`
	More      []uint64 `json:"more,omitempty"` // utterances merged with it
	Stage     Stage    `json:"stage,omitempty"`
	Call      Call     `json:"call,omitzero"` // the failed call, in StageCall
}
