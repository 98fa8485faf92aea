package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// Effect is a closed sum: one struct for each request to the world. Effects are data; the
// caller executes them.
//
//sumtype:decl
type Effect interface {
	name() string // NameOf
}

// NameOf is an effect's name in journals and scenarios.
func NameOf(e Effect) string { return e.name() }

// Resources. Each is answered by one terminal event.
type (
	// ActivateSession acquires credentials. Answered by SessionReady or SessionFailed.
	ActivateSession struct {
		Instance uint32 `json:"instance"`
	}
	// DeactivateSession releases them. Answered by SessionClosed.
	DeactivateSession struct {
		Instance uint32 `json:"instance"`
	}
	// OpenAudio opens the devices. TakeOver takes the microphone from another window.
	// A conversation that begins with typed text does not listen: the microphone is muted
	// until the user unmutes it. Answered by AudioPrimed or AudioFailed.
	OpenAudio struct {
		Instance uint32 `json:"instance"`
		TakeOver bool   `json:"takeOver,omitempty"`
		Typed    bool   `json:"typed,omitempty"`
	}
	// StartCapture starts the microphone. Answered by AudioReady or AudioFailed.
	StartCapture struct {
		Instance uint32 `json:"instance"`
	}
	// HoldCapture and ReleaseCapture stop and restart the flow of captured audio
	// without closing the device.
	HoldCapture    struct{}
	ReleaseCapture struct{}
	// CloseAudio closes the devices. Answered by AudioClosed.
	CloseAudio struct {
		Instance uint32 `json:"instance"`
	}
	// OpenConnection dials, with the handler's own retries, and is answered by ConnReady
	// or ConnFailed. It ends all earlier dials and connections, unless it is a Successor,
	// which coexists with the current one until CloseConnection names the old one.
	OpenConnection struct {
		Instance  uint32 `json:"instance"`
		Epoch     uint32 `json:"epoch"`
		Successor bool   `json:"successor,omitempty"`
	}
	// CloseConnection closes the connection of Epoch, or all if Epoch is 0. Answered by
	// ConnClosed.
	CloseConnection struct {
		Instance uint32 `json:"instance"`
		Epoch    uint32 `json:"epoch,omitempty"`
	}
)

// The user's voice.
type (
	// CommitInput makes the service finish the open utterance now.
	CommitInput struct {
		Epoch uint32 `json:"epoch"`
	}
	// ClearInput makes the service discard the open utterance.
	ClearInput struct {
		Epoch uint32 `json:"epoch"`
	}
)

// The assistant.
type (
	// LoadModel loads a model and supersedes an earlier load. Answered by ModelLoaded or
	// ModelFailed.
	LoadModel struct {
		Load  uint32 `json:"load"`
		Model uint64 `json:"model"`
	}
	// SearchTools selects the tools of a round. Answered by exactly one ToolSearchDone.
	SearchTools struct {
		Request   uint64 `json:"request"`
		Round     int    `json:"round,omitempty"`
		Turn      uint64 `json:"turn"`
		Utterance uint64 `json:"utterance"`
	}
	// CancelSearch cancels the search; its ToolSearchDone still arrives.
	CancelSearch struct {
		Request uint64 `json:"request"`
	}
	// SendCopilot sends one round of a request, for one utterance and those merged with
	// it. Answered by exactly one CopilotDone. History is the conversation so far, oldest
	// first, following Summary; from the second round on it includes the utterance and
	// the tool calls.
	SendCopilot struct {
		Request   uint64         `json:"request"`
		Round     int            `json:"round,omitempty"`
		Turn      uint64         `json:"turn"`
		Utterance uint64         `json:"utterance"`
		More      []uint64       `json:"more,omitempty"`
		Deadline  time.Duration  `json:"deadline"` // for the first sign of an answer, from now
		Summary   uint32         `json:"summary,omitempty"`
		History   []history.Item `json:"history,omitempty"`
	}
	// CancelCopilot cancels a request; its CopilotDone still arrives.
	CancelCopilot struct {
		Request uint64 `json:"request"`
	}
	// CallTool runs an approved tool call, at most once. Answered by exactly one
	// ToolDone.
	CallTool struct {
		ToolCall uint64 `json:"toolCall"`
		Request  uint64 `json:"request"`
		Turn     uint64 `json:"turn"`
	}
	// CancelTool stops the call if possible; its ToolDone still arrives.
	CancelTool struct {
		ToolCall uint64 `json:"toolCall"`
	}
	// Summarise summarises the oldest items of the history, together with the previous
	// summary, if any. Answered by exactly one Summarised.
	Summarise struct {
		Job      uint32         `json:"job"`
		Previous uint32         `json:"previous,omitempty"`
		Items    []history.Item `json:"items"`
	}
	// CancelSummary cancels it; its Summarised still arrives and is ignored.
	CancelSummary struct {
		Job uint32 `json:"job"`
	}
)

// The assistant's voice.
type (
	// Speak synthesises a segment. Answered by SpeechBuffered, SpeechPlayed and
	// SpeechDrained, or by SpeechFailed.
	Speak struct {
		Gen     uint32         `json:"gen"`
		Turn    uint64         `json:"turn"`
		Segment speech.Segment `json:"segment"`
	}
	// StartPlayback starts playing buffered audio.
	StartPlayback struct {
		Gen uint32 `json:"gen"`
	}
	// PausePlayback pauses it.
	PausePlayback struct {
		Gen uint32 `json:"gen"`
	}
	// ResumePlayback resumes it.
	ResumePlayback struct {
		Gen uint32 `json:"gen"`
	}
	// Flush immediately drops all audio of generations before Gen. Answered by
	// SpeechFlushed.
	Flush struct {
		Gen uint32 `json:"gen"`
	}
)

// ToolStatus is the status of a tool call.
type ToolStatus string

// The statuses of a call.
const (
	ToolPending   ToolStatus = "pending" // the user is being asked
	ToolRunning   ToolStatus = "running"
	ToolRejected  ToolStatus = "rejected"
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
	ToolCancelled ToolStatus = "cancelled"
)

// Timers and follow-ups.
type (
	// StartTimer requests TimerFired{Timer, Gen} after After.
	StartTimer struct {
		Timer Timer         `json:"timer"`
		Gen   uint32        `json:"gen"`
		After time.Duration `json:"after"`
	}
	// StopTimer cancels it.
	StopTimer struct {
		Timer Timer  `json:"timer"`
		Gen   uint32 `json:"gen"`
	}
	// Post posts one of the core's own events.
	Post struct {
		Event Kind `json:"event"`
	}
)

// TurnEnd is how a turn ended.
type TurnEnd string

// The ends of a turn.
const (
	Answered    TurnEnd = "answered"
	TurnFailed  TurnEnd = "failed"
	TurnDropped TurnEnd = "dropped"
	TurnCutOff  TurnEnd = "interrupted"
)

// Notifications for observers (PAT-002), in the order of the transitions.
type (
	// Reply replies to a call; Code is empty on success.
	Reply struct {
		Call Call   `json:"call"`
		Turn uint64 `json:"turn,omitempty"`
		Code Code   `json:"code,omitempty"`
	}
	// PublishState says that the phase changed (REQ-010).
	PublishState struct {
		From  Phase  `json:"from"`
		To    Phase  `json:"to"`
		Cause Cause  `json:"cause"`
		Seq   uint64 `json:"seq"` // the event that caused it
		Turn  uint64 `json:"turn,omitempty"`
		Code  Code   `json:"code,omitempty"`
	}
	// PublishTurn says that a turn started (End is empty) or ended.
	PublishTurn struct {
		Turn     Turn          `json:"turn"`
		End      TurnEnd       `json:"end,omitempty"`
		Duration time.Duration `json:"duration"`
	}
	// PublishHeard is how much of an answer was heard, in characters.
	PublishHeard struct {
		Turn    uint64 `json:"turn"`
		Request uint64 `json:"request"`
		Chars   int    `json:"chars"`
	}
	// PublishQueue is the number of queued utterances.
	PublishQueue struct {
		Waiting int `json:"waiting"`
	}
	// PublishTool is the status of a tool call. Of is the call that it retries, 0 for
	// none.
	PublishTool struct {
		Turn        uint64     `json:"turn"`
		Request     uint64     `json:"request"`
		ToolCall    uint64     `json:"toolCall"`
		Of          uint64     `json:"of,omitempty"`
		Status      ToolStatus `json:"status"`
		Destructive bool       `json:"destructive,omitempty"`
	}
	// PublishModel is the loading status of a model.
	PublishModel struct {
		Model   uint64 `json:"model"`
		Percent int    `json:"percent"`
		Code    Code   `json:"code,omitempty"`
	}
	// Notify informs the user of a code; the publisher has the text in the user's
	// language.
	Notify struct {
		Turn uint64 `json:"turn,omitempty"`
		Code Code   `json:"code"`
	}
	// PublishError informs the user of a fault and its remedy (AC-006, SEC-003).
	PublishError struct {
		Code  Code `json:"code"`
		Fatal bool `json:"fatal,omitempty"`
	}
	// Report says that the core contradicted itself: a bug, to be reported with the
	// journal.
	Report struct {
		What string `json:"what"`
	}
)

func (ActivateSession) name() string   { return "ActivateSession" }
func (DeactivateSession) name() string { return "DeactivateSession" }
func (OpenAudio) name() string         { return "OpenAudio" }
func (StartCapture) name() string      { return "StartCapture" }
func (HoldCapture) name() string       { return "HoldCapture" }
func (ReleaseCapture) name() string    { return "ReleaseCapture" }
func (CloseAudio) name() string        { return "CloseAudio" }
func (OpenConnection) name() string    { return "OpenConnection" }
func (CloseConnection) name() string   { return "CloseConnection" }
func (CommitInput) name() string       { return "CommitInput" }
func (ClearInput) name() string        { return "ClearInput" }
func (SendCopilot) name() string       { return "SendCopilot" }
func (CancelCopilot) name() string     { return "CancelCopilot" }
func (Speak) name() string             { return "Speak" }
func (StartPlayback) name() string     { return "StartPlayback" }
func (PausePlayback) name() string     { return "PausePlayback" }
func (ResumePlayback) name() string    { return "ResumePlayback" }
func (Flush) name() string             { return "Flush" }
func (StartTimer) name() string        { return "StartTimer" }
func (StopTimer) name() string         { return "StopTimer" }
func (Post) name() string              { return "Post" }
func (Reply) name() string             { return "Reply" }
func (PublishState) name() string      { return "PublishState" }
func (PublishTurn) name() string       { return "PublishTurn" }
func (PublishHeard) name() string      { return "PublishHeard" }
func (PublishQueue) name() string      { return "PublishQueue" }
func (Notify) name() string            { return "Notify" }
func (PublishError) name() string      { return "PublishError" }
func (Report) name() string            { return "Report" }
func (LoadModel) name() string         { return "LoadModel" }
func (SearchTools) name() string       { return "SearchTools" }
func (CancelSearch) name() string      { return "CancelSearch" }
func (CallTool) name() string          { return "CallTool" }
func (CancelTool) name() string        { return "CancelTool" }
func (Summarise) name() string         { return "Summarise" }
func (CancelSummary) name() string     { return "CancelSummary" }
func (PublishTool) name() string       { return "PublishTool" }
func (PublishModel) name() string      { return "PublishModel" }
