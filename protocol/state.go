package protocol

// State is a state of the conversation (REQ-001).
type State string

// The states.
const (
	StateIdle              State = "idle"
	StatePreparing         State = "preparing"
	StateListening         State = "listening"
	StateProcessing        State = "processing"
	StateWaitingForCopilot State = "waitingForCopilot"
	StateSpeaking          State = "speaking"
	StateInterrupted       State = "interrupted"
	StateSuspended         State = "suspended"
	StateFaulted           State = "faulted"
	StateTerminating       State = "terminating"
)

// States lists every state, in the order of REQ-001.
var States = []State{
	StateIdle, StatePreparing, StateListening, StateProcessing, StateWaitingForCopilot,
	StateSpeaking, StateInterrupted, StateSuspended, StateFaulted, StateTerminating,
}

// Substate refines processing (PAT-001). Other states have none.
type Substate string

// The substates.
const (
	SubstateAnalysing          Substate = "analysing"
	SubstateGeneratingResponse Substate = "generatingResponse"
)

// Substates lists every substate.
var Substates = []Substate{SubstateAnalysing, SubstateGeneratingResponse}

// Role says whose half of a turn it is.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Roles lists every role.
var Roles = []Role{RoleUser, RoleAssistant}

// Cause says why a transition happened (REQ-010): one closed list.
type Cause string

// The causes of the specification's TransitionCause, then the protocol's extensions.
const (
	CauseUserStart       Cause = "user.start"
	CauseSessionReady    Cause = "session.ready"
	CauseSTTPartial      Cause = "stt.partial"
	CauseSTTFinal        Cause = "stt.final"
	CauseVADEnd          Cause = "vad.end"
	CauseCopilotRequest  Cause = "copilot.request"
	CauseCopilotResponse Cause = "copilot.response"
	CauseTTSBufferReady  Cause = "tts.bufferReady"
	CauseUserInterrupt   Cause = "user.interrupt"
	CauseSessionRenewal  Cause = "session.renewal"
	CauseSessionTimeout  Cause = "session.timeout"
	CauseError           Cause = "error"
	CauseUserStop        Cause = "user.stop"

	CauseAudioReady         Cause = "audio.ready"
	CauseTTSComplete        Cause = "tts.complete"
	CauseTTSUnderrun        Cause = "tts.underrun"
	CauseToolCall           Cause = "tool.call"
	CauseToolApproval       Cause = "tool.approval"
	CauseInterruptCleared   Cause = "interrupt.cleared"
	CauseInterruptRetracted Cause = "interrupt.retracted"
	CauseCopilotTimeout     Cause = "copilot.timeout"
	CauseCopilotFailed      Cause = "copilot.failed"
	CauseConnLost           Cause = "conn.lost"
	CauseConnRestored       Cause = "conn.restored"
	CauseDeviceLost         Cause = "device.lost"
	CauseDeviceRestored     Cause = "device.restored"
	CauseSessionResume      Cause = "session.resume"
	CauseSuspendTimeout     Cause = "suspend.timeout"
	CauseUserCommit         Cause = "user.commit"
	CauseQueueNext          Cause = "queue.next"
	CauseBreakerOpen        Cause = "breaker.open"
	CauseFatal              Cause = "fatal"
	CauseReset              Cause = "reset"
)

// Causes lists every cause, in the order above.
var Causes = []Cause{
	CauseUserStart, CauseSessionReady, CauseSTTPartial, CauseSTTFinal, CauseVADEnd,
	CauseCopilotRequest, CauseCopilotResponse, CauseTTSBufferReady, CauseUserInterrupt,
	CauseSessionRenewal, CauseSessionTimeout, CauseError, CauseUserStop,
	CauseAudioReady, CauseTTSComplete, CauseTTSUnderrun, CauseToolCall, CauseToolApproval,
	CauseInterruptCleared, CauseInterruptRetracted, CauseCopilotTimeout, CauseCopilotFailed,
	CauseConnLost, CauseConnRestored, CauseDeviceLost, CauseDeviceRestored, CauseSessionResume,
	CauseSuspendTimeout, CauseUserCommit, CauseQueueNext, CauseBreakerOpen, CauseFatal, CauseReset,
}

// SessionState is a state of the session with the realtime service.
type SessionState string

// The states of a session.
const (
	SessionInactive     SessionState = "inactive"
	SessionActivating   SessionState = "activating"
	SessionReady        SessionState = "ready"
	SessionRunning      SessionState = "running"
	SessionWaiting      SessionState = "waiting"
	SessionDeactivating SessionState = "deactivating"
	SessionError        SessionState = "error"
)

// SessionStates lists every state of a session.
var SessionStates = []SessionState{
	SessionInactive, SessionActivating, SessionReady, SessionRunning, SessionWaiting,
	SessionDeactivating, SessionError,
}

// ConnectionState is the state of the audio connection.
type ConnectionState string

// The states of a connection.
const (
	ConnectionDisconnected ConnectionState = "disconnected"
	ConnectionConnecting   ConnectionState = "connecting"
	ConnectionOpen         ConnectionState = "open"
	ConnectionReconnecting ConnectionState = "reconnecting"
	ConnectionTorn         ConnectionState = "torn"
)

// ConnectionStates lists every state of a connection.
var ConnectionStates = []ConnectionState{
	ConnectionDisconnected, ConnectionConnecting, ConnectionOpen, ConnectionReconnecting, ConnectionTorn,
}

// Snapshot is the state of a conversation: the ConversationStateSnapshot of the
// conversation specification (section 4) and the protocol's extensions. Seq is that of
// the last agentvoice.state, so that a client can tell which ones it still has to apply.
type Snapshot struct {
	State         State      `json:"state"`
	PreviousState State      `json:"previousState,omitempty"`
	Substate      Substate   `json:"substate,omitempty"`
	TurnID        string     `json:"turnId,omitempty"`
	TurnRole      Role       `json:"turnRole,omitempty"`
	Since         Timestamp  `json:"since"` // when the state was entered
	Metadata      Metadata   `json:"metadata"`
	Label         string     `json:"localizedLabel"` // in the locale of initialize
	Queue         Queue      `json:"queue"`
	Paused        Paused     `json:"paused"`
	Session       Session    `json:"session"`
	Connection    Connection `json:"connection"`
	Microphone    Microphone `json:"microphone"`
	Seq           int64      `json:"seq"`
}

// Microphone is the current state of the microphone. It is also the payload of
// agentvoice.microphone. Seq counts its changes, so that a client can tell which of two
// is newer.
type Microphone struct {
	Open    bool       `json:"open"`              // capturing for a conversation or the wake phrase; false while a notice plays outside a conversation
	Muted   bool       `json:"muted"`             // captured audio is discarded
	MutedBy MuteReason `json:"mutedBy,omitempty"` // while Muted
	Wake    bool       `json:"wake"`              // the wake phrase is being listened for
	Phrase  string     `json:"phrase,omitempty"`  // the wake phrase, if the settings enable one
	Mode    TurnMode   `json:"mode"`              // of the current or next conversation
	Fault   ErrorCode  `json:"fault,omitempty"`   // why the user is not heard well: microphoneMuted, microphoneSilent, microphoneClips or microphoneQuiet
	Seq     int64      `json:"seq"`
}

// MuteReason says why the microphone is muted.
type MuteReason string

// The reasons.
const (
	MutedByUser   MuteReason = "user"
	MutedByLocked MuteReason = "locked" // the screen is locked
	MutedByTyped  MuteReason = "typed"  // the conversation started with typed text
)

// MuteReasons lists every reason.
var MuteReasons = []MuteReason{MutedByUser, MutedByLocked, MutedByTyped}

// TurnMode is a value of agentvoice.turnDetection.mode.
type TurnMode string

// TurnModes lists every mode.
var TurnModes = []TurnMode{TurnAutomatic, TurnPatient, TurnServer, TurnPhrase, TurnPushToTalk}

// Metadata is the StateMetadata of the conversation specification (section 4). SessionID is empty without a session.
type Metadata struct {
	Reason           string   `json:"reason,omitempty"` // an error code or a suspension reason
	SessionID        string   `json:"sessionId"`
	TranscriptID     string   `json:"transcriptId,omitempty"`
	CopilotRequestID string   `json:"copilotRequestId,omitempty"`
	PendingActions   []string `json:"pendingActions,omitempty"` // ids of calls that await approval
	RetryCount       int      `json:"retryCount,omitempty"`
}

// Paused says what the user paused: the conversation by conversation/suspend, even in the
// state faulted; the voice by conversation/playback or by a voice command. It holds until
// the user resumes or the conversation ends.
type Paused struct {
	Conversation bool `json:"conversation"`
	Voice        bool `json:"voice"`
}

// Queue lists the queued utterances, oldest first.
type Queue struct {
	Count int          `json:"count"`
	IDs   List[string] `json:"ids"`
}

// Session identifies the session with the realtime service. ID is absent without one.
type Session struct {
	State SessionState `json:"state"`
	ID    string       `json:"id,omitempty"`
	Path  string       `json:"path,omitempty"` // of the voice: udp, tcp, relay or websocket
}

// Connection is the connection to the realtime service. Each dial increments the epoch; 0
// means not yet dialled.
type Connection struct {
	State ConnectionState `json:"state"`
	Epoch int64           `json:"epoch"`
}

// StateParams is the payload of agentvoice.state, one transition: the payload of the UI
// messaging contract (conversation specification, section 4) with the causal metadata of
// REQ-010.
type StateParams struct {
	State         State         `json:"state"`
	PreviousState State         `json:"previousState"`
	Substate      Substate      `json:"substate,omitempty"`
	Label         string        `json:"localizedLabel"` // in the locale of initialize
	TurnID        string        `json:"turnId,omitempty"`
	Since         Timestamp     `json:"since"`
	Cause         Cause         `json:"cause"`
	CauseID       string        `json:"causeId,omitempty"` // id of the request, utterance, segment or call that caused it
	Queue         Queue         `json:"queue"`
	Seq           int64         `json:"seq"` // one higher than the last agentvoice.state
	Metadata      StateMetadata `json:"metadata"`
}

// StateMetadata is the metadata of agentvoice.state in the UI messaging contract.
// CopilotRequestID is null if no request is active.
type StateMetadata struct {
	CopilotRequestID  *string  `json:"copilotRequestId" jsonschema:"nullable"`
	InterruptionCount int      `json:"interruptionCount"` // of the turn
	Reason            string   `json:"reason,omitempty"`  // an error code or a suspension reason
	SessionID         string   `json:"sessionId,omitempty"`
	TranscriptID      string   `json:"transcriptId,omitempty"`
	PendingActions    []string `json:"pendingActions,omitempty"` // ids of calls that await approval
	RetryCount        int      `json:"retryCount,omitempty"`
}

// Transition is one entry of conversation/history: the transition of the
// specification's StateChangeEvent.
type Transition struct {
	From      State     `json:"from"`
	To        State     `json:"to"`
	Substate  Substate  `json:"substate,omitempty"` // of To
	Cause     Cause     `json:"cause"`
	CauseID   string    `json:"causeId,omitempty"`
	Timestamp Timestamp `json:"timestamp"`
	TurnID    string    `json:"turnId,omitempty"`
	Seq       int64     `json:"seq"`
}
