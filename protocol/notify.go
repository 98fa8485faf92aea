package protocol

// TurnEvent is what happened to a turn (conversation specification, section 4).
type TurnEvent string

// The events.
const (
	TurnStarted     TurnEvent = "turn-started"
	TurnCompleted   TurnEvent = "turn-completed"
	TurnInterrupted TurnEvent = "turn-interrupted"
)

// TurnEvents lists every event.
var TurnEvents = []TurnEvent{TurnStarted, TurnCompleted, TurnInterrupted}

// TurnOutcome is how a turn ended.
type TurnOutcome string

// The outcomes. Dropped means that the user dropped the turn.
const (
	OutcomeAnswered    TurnOutcome = "answered"
	OutcomeFailed      TurnOutcome = "failed"
	OutcomeDropped     TurnOutcome = "dropped"
	OutcomeInterrupted TurnOutcome = "interrupted"
)

// TurnOutcomes lists every outcome.
var TurnOutcomes = []TurnOutcome{OutcomeAnswered, OutcomeFailed, OutcomeDropped, OutcomeInterrupted}

// TurnParams is the payload of agentvoice.turn. DurationMs and Outcome are absent in
// turn-started; Confidence is absent if speech recognition reported none.
type TurnParams struct {
	Event      TurnEvent   `json:"event"`
	TurnID     string      `json:"turnId"`
	Role       Role        `json:"role"` // whose half started or ended
	DurationMs *int64      `json:"durationMs,omitempty" jsonschema:"minimum=0"`
	Confidence *float64    `json:"confidence,omitempty" jsonschema:"minimum=0,maximum=1"`
	Outcome    TurnOutcome `json:"outcome,omitempty"`
	Code       ErrorCode   `json:"code,omitempty"` // why it failed
	// End is how the answer ended, if there is one or it was cut off before its first word.
	End               AnswerEnd `json:"end,omitempty"`
	CopilotRequestID  string    `json:"copilotRequestId,omitempty"`
	InterruptionCount int       `json:"interruptionCount,omitempty"`
	Timestamp         Timestamp `json:"timestamp"`
}

// Severity of a notification.
type Severity string

// The severities.
const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning"
	SeverityError   Severity = "error"
)

// Severities lists every severity.
var Severities = []Severity{SeverityInfo, SeverityWarning, SeverityError}

// NotificationKind says what a notification is about, for clients that act on it.
type NotificationKind string

// The kinds. A message is only shown. Resync says that the client fell behind, that
// notifications were dropped, and that the snapshot replaces them.
const (
	NotificationMessage      NotificationKind = "message"
	NotificationModelLoading NotificationKind = "modelLoading"
	NotificationResync       NotificationKind = "resync"
)

// NotificationKinds lists every kind.
var NotificationKinds = []NotificationKind{NotificationMessage, NotificationModelLoading, NotificationResync}

// NotificationParams is the payload of agentvoice.notification: a message for the user,
// in the locale of initialize.
type NotificationParams struct {
	Message     string           `json:"message"`
	Severity    Severity         `json:"severity"`
	Kind        NotificationKind `json:"kind"`
	Code        ErrorCode        `json:"code,omitempty"`                                      // the failure that it explains
	Remediation string           `json:"remediation,omitempty"`                               // what the user can do about it
	Progress    *float64         `json:"progress,omitempty" jsonschema:"minimum=0,maximum=1"` // for modelLoading
	TurnID      string           `json:"turnId,omitempty"`
	Snapshot    *Snapshot        `json:"snapshot,omitempty"`                       // for resync
	Dropped     int              `json:"dropped,omitempty" jsonschema:"minimum=0"` // for a watcher's resync: the number of dropped messages
}

// TranscriptParams is the payload of agentvoice.transcript: the text so far of one half
// of a turn. A later one replaces it; a final one is the last, unless a later one has its
// seq in Replaces. If After is set, the text
// is appended to that of the transcript with this seq. That is sent only to clients with
// capabilities.transcriptAppend; a client that lacks the earlier transcript requests
// conversation/transcript.
type TranscriptParams struct {
	TurnID string `json:"turnId"`
	Role   Role   `json:"role"`
	Text   string `json:"text"`
	Final  bool   `json:"final"`
	Seq    int64  `json:"seq"`
	After  int64  `json:"after,omitempty"` // seq of the transcript to append to
	Heard  string `json:"heard,omitempty"` // of the user's half: the recognised text, if names in it were corrected, or if words before and after a pause were recognised as one
	// Correction names a correction for conversation/undoCorrection.
	Correction string `json:"correction,omitempty"`
	// End says why an answer was cut off; absent for others.
	End      AnswerEnd `json:"end,omitempty"`
	Replaces int64     `json:"replaces,omitempty"` // seq of the final transcript that it replaces: its correction was undone, or both are one sentence
}

// CaptionParams is the payload of agentvoice.caption: the segment that is being spoken.
// HeardChars counts the characters of Text that were certainly heard.
type CaptionParams struct {
	TurnID     string `json:"turnId"`
	Text       string `json:"text"`
	HeardChars int    `json:"heardChars"`
}

// ToolStatus is the status of a tool call.
type ToolStatus string

// The statuses. The last four are terminal.
const (
	ToolRequested ToolStatus = "requested"
	ToolWaiting   ToolStatus = "waitingForApproval"
	ToolRunning   ToolStatus = "running"
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
	ToolRejected  ToolStatus = "rejected"
	ToolCancelled ToolStatus = "cancelled" // it may still have run
)

// ToolStatuses lists every status.
var ToolStatuses = []ToolStatus{ToolRequested, ToolWaiting, ToolRunning, ToolCompleted, ToolFailed, ToolRejected, ToolCancelled}

// ToolParams is the payload of agentvoice.tool.
type ToolParams struct {
	CallID    string     `json:"callId"`
	TurnID    string     `json:"turnId"`
	RequestID string     `json:"requestId"`
	Name      string     `json:"name"`
	Status    ToolStatus `json:"status"`
	Question  string     `json:"question,omitempty"` // the spoken question that awaits an answer
	// A spoken yes must name the action; the question says how.
	Destructive bool `json:"destructive,omitempty"`
	// The call cannot be approved by voice, only by copilot/approveTool.
	Click bool `json:"click,omitempty"`
	// Commands are the command texts in the input, Programs the programs that they run.
	Commands []string `json:"commands,omitempty"`
	Programs []string `json:"programs,omitempty"`
	// Input is exactly what copilot/invokeTool would carry. It is sent with the statuses
	// requested and waitingForApproval.
	Input Any `json:"input,omitempty"`
	// Hash identifies the whole call: the SHA-256, in hexadecimal, of the canonical JSON
	// (RFC 8785) of agent, tool, kind, input, files, diffs and folder, without those that
	// are empty.
	Hash  string `json:"hash,omitempty"`
	Agent string `json:"agent,omitempty"` // editor, acp:codex-acp
	// Of a coding agent's call: its kind as the agent names it, what the agent says about
	// it, the files that it is about, the changes that it would make, and the agent's folder.
	Kind    string     `json:"kind,omitempty"`
	Title   string     `json:"title,omitempty"`
	Files   []string   `json:"files,omitempty"`
	Diffs   []ToolDiff `json:"diffs,omitempty"`
	Folder  string     `json:"folder,omitempty"`
	RetryOf string     `json:"retryOf,omitempty"` // callId of the failed call that this one retries
}

// ToolDiff is the change of a file that a call would make.
type ToolDiff struct {
	Path string  `json:"path"`
	Old  *string `json:"oldText,omitempty"` // absent for a new file
	New  string  `json:"newText"`
}

// PausedParams is the payload of agentvoice.paused: Paused of the snapshot, and the
// matching label.
type PausedParams struct {
	Conversation bool   `json:"conversation"`
	Voice        bool   `json:"voice"`
	Label        string `json:"localizedLabel"` // of the state, in the locale of initialize
}

// SessionParams is the payload of agentvoice.session.
type SessionParams struct {
	State         SessionState `json:"state"`
	PreviousState SessionState `json:"previousState"`
	ID            string       `json:"id,omitempty"`
	Provider      Provider     `json:"provider"` // the recognition service
	ExpiresAt     Timestamp    `json:"expiresAt,omitzero"`
	Renewing      bool         `json:"renewing,omitempty"`
	Path          string       `json:"path,omitempty"` // of the voice: udp, tcp, relay or websocket
	Code          ErrorCode    `json:"code,omitempty"` // for the state error
}

// LevelParams is the payload of agentvoice.level, sent at most 20 times a second: the
// root mean square of both voices since the previous one, as a share of full scale.
type LevelParams struct {
	Input  float64 `json:"input" jsonschema:"minimum=0,maximum=1"`
	Output float64 `json:"output" jsonschema:"minimum=0,maximum=1"`
}

// ErrorParams is the payload of agentvoice.error: a failure that is not the response to a
// request. Message and Remediation are in the locale of initialize and contain no secret
// (SEC-003).
type ErrorParams struct {
	Code        ErrorCode `json:"code"`
	Message     string    `json:"message"`
	Remediation string    `json:"remediation"`
	Retryable   bool      `json:"retryable"`
	HasHelp     bool      `json:"hasHelp,omitempty"` // window/openHelp has a page for it
	TurnID      string    `json:"turnId,omitempty"`
	RequestID   string    `json:"requestId,omitempty"`   // for answerGap: the request
	ExpectedSeq *int64    `json:"expectedSeq,omitempty"` // for answerGap: the expected seq
	ReceivedSeq *int64    `json:"receivedSeq,omitempty"` // for answerGap: the received seq
}
