package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// Effect is a closed sum: one struct for each thing the core asks of the world.
// Effects are data; executing them is the caller's.
//
//sumtype:decl
type Effect interface {
	name() string // NameOf
}

// NameOf is an effect's name in journals and scenarios.
func NameOf(e Effect) string { return e.name() }

// Resources. Each is answered by one terminal event.
type (
	// ActivateSession acquires credentials: SessionReady or SessionFailed.
	ActivateSession struct {
		Instance uint32 `json:"instance"`
	}
	// DeactivateSession gives them up: SessionClosed.
	DeactivateSession struct {
		Instance uint32 `json:"instance"`
	}
	// OpenAudio opens the devices: AudioPrimed or AudioFailed. TakeOver takes the
	// microphone from another window that listens.
	OpenAudio struct {
		Instance uint32 `json:"instance"`
		TakeOver bool   `json:"takeOver,omitempty"`
	}
	// StartCapture starts the microphone: AudioReady or AudioFailed.
	StartCapture struct {
		Instance uint32 `json:"instance"`
	}
	// HoldCapture and ReleaseCapture stop and restart the flow of captured audio
	// without closing the device.
	HoldCapture    struct{}
	ReleaseCapture struct{}
	// CloseAudio closes the devices: AudioClosed.
	CloseAudio struct {
		Instance uint32 `json:"instance"`
	}
	// OpenConnection dials, with the handler's own retries: ConnReady or ConnFailed.
	// It ends every dial and connection before it, unless it is a Successor: that
	// one stands beside the present one until CloseConnection names the old.
	OpenConnection struct {
		Instance  uint32 `json:"instance"`
		Epoch     uint32 `json:"epoch"`
		Successor bool   `json:"successor,omitempty"`
	}
	// CloseConnection hangs up, the one of Epoch or, where that is 0, all:
	// ConnClosed.
	CloseConnection struct {
		Instance uint32 `json:"instance"`
		Epoch    uint32 `json:"epoch,omitempty"`
	}
)

// The user's voice.
type (
	// CommitInput has the service finish the open utterance now.
	CommitInput struct {
		Epoch uint32 `json:"epoch"`
	}
	// ClearInput has the service forget the open utterance.
	ClearInput struct {
		Epoch uint32 `json:"epoch"`
	}
)

// The assistant.
type (
	// LoadModel has a model loaded: ModelLoaded or ModelFailed. It supersedes one
	// before it.
	LoadModel struct {
		Load  uint32 `json:"load"`
		Model uint64 `json:"model"`
	}
	// SearchTools has the tools of a round chosen: ToolSearchDone, exactly once.
	SearchTools struct {
		Request   uint64 `json:"request"`
		Round     int    `json:"round,omitempty"`
		Turn      uint64 `json:"turn"`
		Utterance uint64 `json:"utterance"`
	}
	// CancelSearch has it stop; its ToolSearchDone still comes.
	CancelSearch struct {
		Request uint64 `json:"request"`
	}
	// SendCopilot hands over one round of a request, for one utterance and those
	// merged with it: CopilotDone, exactly once. History is what was said before,
	// oldest first, after what Summary stands for; from the second round on it
	// holds the utterance and the calls of tools.
	SendCopilot struct {
		Request   uint64         `json:"request"`
		Round     int            `json:"round,omitempty"`
		Turn      uint64         `json:"turn"`
		Utterance uint64         `json:"utterance"`
		More      []uint64       `json:"more,omitempty"`
		Deadline  time.Duration  `json:"deadline"` // for the first sign of life, from now
		Summary   uint32         `json:"summary,omitempty"`
		History   []history.Item `json:"history,omitempty"`
	}
	// CancelCopilot has a request stop; its CopilotDone still comes.
	CancelCopilot struct {
		Request uint64 `json:"request"`
	}
	// CallTool has a call carried out that the user allowed: ToolDone, exactly
	// once. No call is asked for twice.
	CallTool struct {
		ToolCall uint64 `json:"toolCall"`
		Request  uint64 `json:"request"`
		Turn     uint64 `json:"turn"`
	}
	// CancelTool has it stop if it can; its ToolDone still comes.
	CancelTool struct {
		ToolCall uint64 `json:"toolCall"`
	}
	// Summarise has the oldest items of the history put into few words, together
	// with the summary before, if there is one: Summarised, exactly once.
	Summarise struct {
		Job      uint32         `json:"job"`
		Previous uint32         `json:"previous,omitempty"`
		Items    []history.Item `json:"items"`
	}
	// CancelSummary has it stop; its Summarised still comes, and means nothing.
	CancelSummary struct {
		Job uint32 `json:"job"`
	}
)

// The assistant's voice.
type (
	// Speak has a segment synthesised: SpeechBuffered, SpeechPlayed and
	// SpeechDrained, or SpeechFailed.
	Speak struct {
		Gen     uint32         `json:"gen"`
		Turn    uint64         `json:"turn"`
		Segment speech.Segment `json:"segment"`
	}
	// StartPlayback lets what is buffered be heard.
	StartPlayback struct {
		Gen uint32 `json:"gen"`
	}
	// PausePlayback stops it where it is.
	PausePlayback struct {
		Gen uint32 `json:"gen"`
	}
	// ResumePlayback continues from there.
	ResumePlayback struct {
		Gen uint32 `json:"gen"`
	}
	// Flush drops everything of a generation before Gen, at once: SpeechFlushed.
	Flush struct {
		Gen uint32 `json:"gen"`
	}
)

// ToolStatus is how a call of a tool stands.
type ToolStatus string

// The statuses of a call.
const (
	ToolPending   ToolStatus = "pending" // the user is asked
	ToolRunning   ToolStatus = "running"
	ToolRejected  ToolStatus = "rejected"
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
	ToolCancelled ToolStatus = "cancelled"
)

// Timers and follow-ups.
type (
	// StartTimer asks for TimerFired{Timer, Gen} after After.
	StartTimer struct {
		Timer Timer         `json:"timer"`
		Gen   uint32        `json:"gen"`
		After time.Duration `json:"after"`
	}
	// StopTimer takes it back.
	StopTimer struct {
		Timer Timer  `json:"timer"`
		Gen   uint32 `json:"gen"`
	}
	// Post asks for an event of the core's own.
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

// News for observers (PAT-002), in the order of the transitions.
type (
	// Reply answers a call; Code is empty for success.
	Reply struct {
		Call Call   `json:"call"`
		Turn uint64 `json:"turn,omitempty"`
		Code Code   `json:"code,omitempty"`
	}
	// PublishState says that the conversation changed its phase (REQ-010).
	PublishState struct {
		From  Phase  `json:"from"`
		To    Phase  `json:"to"`
		Cause Cause  `json:"cause"`
		Seq   uint64 `json:"seq"` // the event that did it
		Turn  uint64 `json:"turn,omitempty"`
		Code  Code   `json:"code,omitempty"`
	}
	// PublishTurn says that a turn began (End is empty) or ended.
	PublishTurn struct {
		Turn     Turn          `json:"turn"`
		End      TurnEnd       `json:"end,omitempty"`
		Duration time.Duration `json:"duration"`
	}
	// PublishHeard says how much of an answer was heard, in characters.
	PublishHeard struct {
		Turn    uint64 `json:"turn"`
		Request uint64 `json:"request"`
		Chars   int    `json:"chars"`
	}
	// PublishQueue says how many utterances wait.
	PublishQueue struct {
		Waiting int `json:"waiting"`
	}
	// PublishTool says how a call of a tool stands. Of is the call that it tries
	// again, 0 for none.
	PublishTool struct {
		Turn        uint64     `json:"turn"`
		Request     uint64     `json:"request"`
		ToolCall    uint64     `json:"toolCall"`
		Of          uint64     `json:"of,omitempty"`
		Status      ToolStatus `json:"status"`
		Destructive bool       `json:"destructive,omitempty"`
	}
	// PublishModel says how loading a model goes.
	PublishModel struct {
		Model   uint64 `json:"model"`
		Percent int    `json:"percent"`
		Code    Code   `json:"code,omitempty"`
	}
	// Notify tells the user of something by its code; the words are the
	// publisher's, in the user's language.
	Notify struct {
		Turn uint64 `json:"turn,omitempty"`
		Code Code   `json:"code"`
	}
	// PublishError tells the user of a fault with its remedy (AC-006, SEC-003).
	PublishError struct {
		Code  Code `json:"code"`
		Fatal bool `json:"fatal,omitempty"`
	}
	// Report says that the core contradicted itself: a bug, to be reported with
	// the journal.
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
