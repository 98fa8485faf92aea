package protocol

// InterruptSource says how the user interrupted.
type InterruptSource string

// The sources.
const (
	InterruptVoice    InterruptSource = "voice"
	InterruptButton   InterruptSource = "button"
	InterruptKeyboard InterruptSource = "keyboard"
	InterruptCommand  InterruptSource = "command"
)

// InterruptSources lists every source.
var InterruptSources = []InterruptSource{InterruptVoice, InterruptButton, InterruptKeyboard, InterruptCommand}

// EndReason says why a conversation ended.
type EndReason string

// The reasons.
const (
	EndUserStop   EndReason = "user-stop"
	EndFatalError EndReason = "fatal-error"
	EndClientGone EndReason = "client-gone"
	EndShutdown   EndReason = "shutdown"
)

// EndReasons lists every reason.
var EndReasons = []EndReason{EndUserStop, EndFatalError, EndClientGone, EndShutdown}

// SuspendReason is a reason for a pause (REQ-008). The conversation resumes when no
// reason is left.
type SuspendReason string

// The reasons.
const (
	SuspendUser           SuspendReason = "user"
	SuspendSessionRenewal SuspendReason = "session-renewal"
	SuspendConnection     SuspendReason = "connection"
	SuspendDevice         SuspendReason = "device"
	SuspendDiagnostics    SuspendReason = "diagnostics"
	SuspendHeartbeat      SuspendReason = "heartbeat"
)

// SuspendReasons lists every reason.
var SuspendReasons = []SuspendReason{
	SuspendUser, SuspendSessionRenewal, SuspendConnection, SuspendDevice, SuspendDiagnostics, SuspendHeartbeat,
}

// StartParams are the params of conversation/start. Context is the editor's description of
// the conversation. Its folder is the path of the workspace's folder in which a coding agent works, of
// the next conversations too; by default the active one. Other members are not used.
type StartParams struct {
	Context map[string]Any `json:"context,omitempty"`
	// TakeOver takes the microphone from another window. Without it, a busy microphone is
	// an error (microphoneBusy).
	TakeOver bool `json:"takeOver,omitempty"`
}

// EndParams are the params of conversation/end. The default reason is user-stop.
type EndParams struct {
	Reason EndReason `json:"reason,omitempty"`
}

// InterruptParams are the params of conversation/interrupt.
type InterruptParams struct {
	Source InterruptSource `json:"source"`
}

// SuspendParams are the params of conversation/suspend and conversation/resume. The
// default reason is user.
type SuspendParams struct {
	Reason SuspendReason `json:"reason,omitempty"`
}

// SendTextParams are the params of conversation/sendText. A text without words is
// rejected with textEmpty.
type SendTextParams struct {
	Text string `json:"text"`
}

// RetryStage is the stage at which a request failed.
type RetryStage string

// The stages of a request.
const (
	RetrySearch     RetryStage = "search"     // selecting tools
	RetryGeneration RetryStage = "generation" // waiting for the answer
	RetryStream     RetryStage = "stream"     // receiving the answer
	RetryCall       RetryStage = "call"       // calling a tool; a retry asks for approval again
)

// RetryStages lists every stage.
var RetryStages = []RetryStage{RetrySearch, RetryGeneration, RetryStream, RetryCall}

// RetryParams are the params of conversation/retry. With a stage, only a failure at that
// stage is retried.
type RetryParams struct {
	Stage RetryStage `json:"stage,omitempty"`
}

// TurnResult is the turn that a request started.
type TurnResult struct {
	TurnID string `json:"turnId"`
}

// HistoryResult is the result of conversation/history: at most the last 20 transitions,
// oldest first (CON-003).
type HistoryResult struct {
	Transitions List[Transition] `json:"transitions"`
}

// PushToTalkParams are the params of conversation/pushToTalk.
type PushToTalkParams struct {
	Down bool `json:"down"`
}

// SpeakParams are the params of conversation/speak. Source says where the text comes
// from.
type SpeakParams struct {
	Text   string      `json:"text"`
	Source SpeakSource `json:"source,omitempty"`
}

// SpeakSource says where a text that is read aloud comes from.
type SpeakSource string

// The sources.
const (
	SpeakSelection SpeakSource = "selection"
	SpeakAnswer    SpeakSource = "answer"
)

// SpeakSources lists every source.
var SpeakSources = []SpeakSource{SpeakSelection, SpeakAnswer}

// PlaybackAction is an action on the speech that is playing.
type PlaybackAction string

// The actions.
const (
	PlaybackPause    PlaybackAction = "pause"
	PlaybackContinue PlaybackAction = "continue"
	PlaybackRepeat   PlaybackAction = "repeat"
	PlaybackSkip     PlaybackAction = "skip"
)

// PlaybackActions lists every action.
var PlaybackActions = []PlaybackAction{PlaybackPause, PlaybackContinue, PlaybackRepeat, PlaybackSkip}

// PlaybackParams are the params of conversation/playback. Rate is the speed of the voice
// from the next sentence until the end of the conversation: 1 is normal; without it the
// speed does not change.
type PlaybackParams struct {
	Action PlaybackAction `json:"action"`
	Rate   float64        `json:"rate,omitempty" jsonschema:"minimum=0.5,maximum=3"`
}

func (p PlaybackParams) validate() []FieldError {
	if p.Rate != 0 && (p.Rate < 0.5 || p.Rate > 3) {
		return []FieldError{{Field: "rate", Problem: "is out of range", Allowed: "a number from 0.5 to 3"}}
	}
	return nil
}

// UndoCorrectionParams are the params of conversation/undoCorrection. Correction is that
// of a transcript.
type UndoCorrectionParams struct {
	Correction string `json:"correction"`
}

// TranscriptRequestParams are the params of conversation/transcript. Since is the seq of
// the client's last entry; 0 requests all entries.
type TranscriptRequestParams struct {
	Since int64 `json:"since,omitempty" jsonschema:"minimum=0"`
}

// TranscriptResult is the transcript of the live conversation, oldest first, and the
// state of its tool calls: all that a client needs to catch up.
type TranscriptResult struct {
	Entries List[TranscriptEntry] `json:"entries"`
	Tools   []ToolParams          `json:"tools,omitempty"`
}

// TranscriptEntry is the text of one half of a turn.
type TranscriptEntry struct {
	TurnID     string    `json:"turnId"`
	Role       Role      `json:"role"`
	Text       string    `json:"text"`
	Heard      string    `json:"heard,omitempty"`      // of the user's half: the recognised text, if names in it were corrected, or if words before and after a pause were recognised as one
	Correction string    `json:"correction,omitempty"` // names a correction for conversation/undoCorrection
	Final      bool      `json:"final"`
	Seq        int64     `json:"seq"`
	End        AnswerEnd `json:"end,omitempty"`        // of the assistant's half: why it was cut off; absent for others
	HeardChars *int      `json:"heardChars,omitempty"` // of the assistant's half: how much was heard, in characters
	Timestamp  Timestamp `json:"timestamp"`
}

// AdvanceParams are the params of headless/advance: how far to advance virtual time.
type AdvanceParams struct {
	Milliseconds int64 `json:"ms" jsonschema:"minimum=0"`
}

func (p AdvanceParams) validate() []FieldError {
	if p.Milliseconds < 0 {
		return []FieldError{{Field: "ms", Problem: "is negative", Allowed: "a whole number of milliseconds, 0 or more"}}
	}
	return nil
}

// AdvanceResult is the virtual time, in milliseconds since the start.
type AdvanceResult struct {
	Now int64 `json:"nowMs"`
}
