package protocol

// InterruptSource says what the user interrupted with.
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

// SuspendReason is one reason for a pause (REQ-008). A conversation continues when
// none is left.
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

// StartParams of conversation/start. Context is what the editor wants to say
// about the conversation; version 1.0 of the wire gives it no meaning.
type StartParams struct {
	Context map[string]Any `json:"context,omitempty"`
	// TakeOver takes the microphone from another window that listens; without it
	// the conversation is refused then (microphoneBusy).
	TakeOver bool `json:"takeOver,omitempty"`
}

// EndParams of conversation/end. No reason is user-stop.
type EndParams struct {
	Reason EndReason `json:"reason,omitempty"`
}

// InterruptParams of conversation/interrupt.
type InterruptParams struct {
	Source InterruptSource `json:"source"`
}

// SuspendParams of conversation/suspend and conversation/resume. No reason is
// user.
type SuspendParams struct {
	Reason SuspendReason `json:"reason,omitempty"`
}

// SendTextParams of conversation/sendText. A text without words is refused with
// textEmpty.
type SendTextParams struct {
	Text string `json:"text"`
}

// RetryStage is what a question failed at.
type RetryStage string

// The stages of a question.
const (
	RetrySearch     RetryStage = "search"     // the choice of tools
	RetryGeneration RetryStage = "generation" // the wait for an answer
	RetryStream     RetryStage = "stream"     // the answer, in the middle
	RetryCall       RetryStage = "call"       // a call of a tool: it is asked about again
)

// RetryStages lists every stage.
var RetryStages = []RetryStage{RetrySearch, RetryGeneration, RetryStream, RetryCall}

// RetryParams of conversation/retry. With a stage, only a failure at that stage is
// tried again.
type RetryParams struct {
	Stage RetryStage `json:"stage,omitempty"`
}

// TurnResult names the turn that a request opened.
type TurnResult struct {
	TurnID string `json:"turnId"`
}

// HistoryResult of conversation/history: at most the last 20 transitions, oldest
// first (CON-003).
type HistoryResult struct {
	Transitions List[Transition] `json:"transitions"`
}

// PushToTalkParams of conversation/pushToTalk.
type PushToTalkParams struct {
	Down bool `json:"down"`
}

// SpeakParams of conversation/speak. Source says what the text is.
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

// PlaybackAction is what to do with what is being said.
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

// PlaybackParams of conversation/playback. Rate is the speed of the voice from the
// next sentence on, until the conversation ends: 1 is normal, no rate keeps it.
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

// TranscriptRequestParams of conversation/transcript. Since is the seq of the
// last entry that the client has; 0 asks for all.
type TranscriptRequestParams struct {
	Since int64 `json:"since,omitempty" jsonschema:"minimum=0"`
}

// TranscriptResult is what was said in the live conversation, oldest first, and the
// calls of tools as they stand: all that a client needs that fell behind.
type TranscriptResult struct {
	Entries List[TranscriptEntry] `json:"entries"`
	Tools   []ToolParams          `json:"tools,omitempty"`
}

// TranscriptEntry is the words of one half of a turn.
type TranscriptEntry struct {
	TurnID     string    `json:"turnId"`
	Role       Role      `json:"role"`
	Text       string    `json:"text"`
	Heard      string    `json:"heard,omitempty"` // of the user's words: what was recognised, where names in it were corrected
	Final      bool      `json:"final"`
	Seq        int64     `json:"seq"`
	HeardChars *int      `json:"heardChars,omitempty"` // of the assistant's text: how much was heard, in characters
	Timestamp  Timestamp `json:"timestamp"`
}

// AdvanceParams of headless/advance: how far virtual time moves.
type AdvanceParams struct {
	Milliseconds int64 `json:"ms" jsonschema:"minimum=0"`
}

func (p AdvanceParams) validate() []FieldError {
	if p.Milliseconds < 0 {
		return []FieldError{{Field: "ms", Problem: "is negative", Allowed: "a whole number of milliseconds, 0 or more"}}
	}
	return nil
}

// AdvanceResult says where virtual time stands, in milliseconds since the start.
type AdvanceResult struct {
	Now int64 `json:"nowMs"`
}
