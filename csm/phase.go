package csm

// Phase is the state of the conversation in the state machine library and the table
// (REQ-001, PAT-001).
type Phase uint8

// The phases. Suspended is only a published phase, of a conversation that is held; the
// table does not use it. Processing is the parent of Analysing, WaitingForCopilot and
// GeneratingResponse and never a state of its own.
const (
	PhaseIdle Phase = iota
	PhasePreparing
	PhaseListening
	PhaseProcessing
	PhaseAnalysing
	PhaseWaitingForCopilot
	PhaseGeneratingResponse
	PhaseSpeaking
	PhaseInterrupted
	PhaseSuspended
	PhaseFaulted
	PhaseTerminating
	NumPhases
)

// Superstates, which are never states of their own either: all phases; a conversation,
// from Preparing to its end; and its phases with a connection, in which both sides can be
// heard.
const (
	PhaseAny Phase = NumPhases + 1 + iota
	PhaseConversation
	PhaseConnected
	// The states of the approval region, which runs in parallel with the conversation,
	// the superstate of those with an open question, and that of all.
	ApprovalNone
	ApprovalAsking
	ApprovalListening
	ApprovalDeciding
	ApprovalOpen
	ApprovalAny
	numNames
)

var phaseNames = [numNames]string{
	"Idle", "Preparing", "Listening", "Processing", "Analysing", "WaitingForCopilot",
	"GeneratingResponse", "Speaking", "Interrupted", "Suspended", "Faulted", "Terminating",
	"", "Any", "Conversation", "Connected", "none", "asking", "listening", "deciding", "open", "approval",
}

func (p Phase) String() string { return phaseNames[p] }

// MarshalText writes the phase's name.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// parents are the superstates.
var parents = map[Phase]Phase{
	PhaseAnalysing: PhaseProcessing, PhaseWaitingForCopilot: PhaseProcessing, PhaseGeneratingResponse: PhaseProcessing,
	PhaseListening: PhaseConnected, PhaseProcessing: PhaseConnected, PhaseSpeaking: PhaseConnected, PhaseInterrupted: PhaseConnected,
	PhasePreparing: PhaseConversation, PhaseConnected: PhaseConversation,
	PhaseIdle: PhaseAny, PhaseConversation: PhaseAny, PhaseFaulted: PhaseAny, PhaseTerminating: PhaseAny,
	ApprovalAsking: ApprovalOpen, ApprovalListening: ApprovalOpen, ApprovalDeciding: ApprovalOpen,
	ApprovalNone: ApprovalAny, ApprovalOpen: ApprovalAny,
}

// Parent returns the superstate of p, if it has one.
func (p Phase) Parent() (Phase, bool) {
	super, ok := parents[p]
	return super, ok
}

// In says whether p is super or one of its descendants.
func (p Phase) In(super Phase) bool {
	for ok := true; ok; p, ok = p.Parent() {
		if p == super {
			return true
		}
	}
	return false
}

// wireNames are the names on the editor wire, where all of Processing but
// WaitingForCopilot is one state.
var wireNames = [NumPhases]string{
	"idle", "preparing", "listening", "processing", "processing", "waitingForCopilot", "processing",
	"speaking", "interrupted", "suspended", "faulted", "terminating",
}

// Wire returns the state on the editor wire, and the substate if states share a name.
func (p Phase) Wire() (state, substate string) {
	switch p {
	case PhaseAnalysing:
		substate = "analysing"
	case PhaseGeneratingResponse:
		substate = "generatingResponse"
	}
	return wireNames[p], substate
}

// Active says whether a conversation is in progress: from the first Preparing to the end,
// faults excluded.
func (p Phase) Active() bool {
	switch p {
	case PhaseIdle, PhaseFaulted, PhaseTerminating:
		return false
	default:
		return true
	}
}

// Cause is why a transition happened: one closed list, the same on the wire
// (REQ-010).
type Cause string

// The causes: those of the specification's type and diagram, then the
// extensions of the protocol.
const (
	CauseUserStart        Cause = "user.start"
	CauseSessionReady     Cause = "session.ready"
	CauseSTTPartial       Cause = "stt.partial"
	CauseSTTFinal         Cause = "stt.final"
	CauseVADEnd           Cause = "vad.end"
	CauseCopilotRequest   Cause = "copilot.request"
	CauseCopilotResponse  Cause = "copilot.response"
	CauseTTSBufferReady   Cause = "tts.bufferReady"
	CauseUserInterrupt    Cause = "user.interrupt"
	CauseSessionRenewal   Cause = "session.renewal"
	CauseSessionTimeout   Cause = "session.timeout"
	CauseError            Cause = "error"
	CauseUserStop         Cause = "user.stop"
	CauseAudioReady       Cause = "audio.ready"
	CauseTTSComplete      Cause = "tts.complete"
	CauseTTSUnderrun      Cause = "tts.underrun"
	CauseToolCall         Cause = "tool.call"
	CauseToolApproval     Cause = "tool.approval"
	CauseInterruptCleared Cause = "interrupt.cleared"
	CauseInterruptRetract Cause = "interrupt.retracted"
	CauseCopilotTimeout   Cause = "copilot.timeout"
	CauseCopilotFailed    Cause = "copilot.failed"
	CauseConnLost         Cause = "conn.lost"
	CauseConnRestored     Cause = "conn.restored"
	CauseDeviceLost       Cause = "device.lost"
	CauseDeviceRestored   Cause = "device.restored"
	CauseSessionResume    Cause = "session.resume"
	CauseSuspendTimeout   Cause = "suspend.timeout"
	CauseUserCommit       Cause = "user.commit"
	CauseQueueNext        Cause = "queue.next"
	CauseBreakerOpen      Cause = "breaker.open"
	CauseFatal            Cause = "fatal"
	CauseReset            Cause = "reset"
)

// Causes lists every cause in the order above.
var Causes = []Cause{
	CauseUserStart, CauseSessionReady, CauseSTTPartial, CauseSTTFinal, CauseVADEnd, CauseCopilotRequest,
	CauseCopilotResponse, CauseTTSBufferReady, CauseUserInterrupt, CauseSessionRenewal, CauseSessionTimeout,
	CauseError, CauseUserStop, CauseAudioReady, CauseTTSComplete, CauseTTSUnderrun, CauseToolCall,
	CauseToolApproval, CauseInterruptCleared, CauseInterruptRetract, CauseCopilotTimeout, CauseCopilotFailed,
	CauseConnLost, CauseConnRestored, CauseDeviceLost, CauseDeviceRestored, CauseSessionResume,
	CauseSuspendTimeout, CauseUserCommit, CauseQueueNext, CauseBreakerOpen, CauseFatal, CauseReset,
}

// Code names a failure: one closed list, the same on the wire, where each has a
// message and a remedy. A code never holds anything of the user's.
type Code string

// The codes that reach the core.
const (
	CodeCopilotTimeout      Code = "copilotTimeout"
	CodeCopilotStalled      Code = "copilotStalled"
	CodeCopilotFailed       Code = "copilotFailed"
	CodeCopilotNotInstalled Code = "copilotNotInstalled"
	CodeCopilotNoConsent    Code = "copilotNoConsent"
	CodeCopilotQuota        Code = "copilotQuota"
	CodeCopilotUnavailable  Code = "copilotUnavailable"
	CodeCopilotBlocked      Code = "copilotBlocked"
	CodeCopilotEmpty        Code = "copilotEmpty"
	CodeCopilotCancelled    Code = "copilotCancelled"
	CodeAgentMissing        Code = "agentMissing"
	CodeAgentEnded          Code = "agentEnded"
	CodeAgentSilent         Code = "agentSilent"
	CodeAgentSignIn         Code = "agentSignIn"
	CodeNoTrustedFolder     Code = "noTrustedFolder"
	CodeModelFailed         Code = "modelFailed"
	CodeToolSearchFailed    Code = "toolSearchFailed"
	CodeToolFailed          Code = "toolFailed"
	CodeToolTimeout         Code = "toolTimeout"
	CodeToolRounds          Code = "toolRounds"
	CodeToolUnanswered      Code = "toolUnanswered"
	CodeAuthentication      Code = "authentication"
	CodeCredentialsMissing  Code = "credentialsMissing"
	CodeSessionFailed       Code = "sessionFailed"
	CodeSessionExpired      Code = "sessionExpired"
	CodeConnectionFailed    Code = "connectionFailed"
	CodeCallRejected        Code = "callRejected"
	CodeConnectionLost      Code = "connectionLost"
	CodeConnectTimeout      Code = "connectTimeout"
	CodeRateLimited         Code = "rateLimited"
	CodeProtocolError       Code = "protocolError"
	CodeQuotaExceeded       Code = "quotaExceeded"
	CodeAccessDenied        Code = "accessDenied"
	CodeRegionUnsupported   Code = "regionUnsupported"
	CodeModelUnavailable    Code = "modelUnavailable"
	CodePipelineFailed      Code = "pipelineFailed"
	CodeDeviceUnavailable   Code = "deviceUnavailable"
	CodeDeviceLost          Code = "deviceLost"
	CodeMicrophoneDenied    Code = "microphoneDenied"
	CodeMicrophoneBusy      Code = "microphoneBusy"
	CodeMicrophoneTaken     Code = "microphoneTaken"
	CodeAudioFailed         Code = "audioFailed"
	CodeRecognitionFailed   Code = "recognitionFailed"
	CodeRecognitionTimeout  Code = "recognitionTimeout"
	CodeUtteranceLost       Code = "utteranceLost"
	CodeUtteranceTooLong    Code = "utteranceTooLong"
	CodeNotUnderstood       Code = "notUnderstood"
	CodeSpeechFailed        Code = "speechFailed"
	CodeSpeechMismatch      Code = "speechMismatch"
	CodeStartTimeout        Code = "startTimeout"
	CodeSuspendTimeout      Code = "suspendTimeout"
	CodeBreakerOpen         Code = "breakerOpen"
	CodeQueueFull           Code = "queueFull"
	CodeConversationActive  Code = "conversationActive"
	CodeNoConversation      Code = "noConversation"
	CodeInvalidState        Code = "invalidState"
	CodeNothingToRetry      Code = "nothingToRetry"
	CodeInternalError       Code = "internalError"
	CodeInvariantViolation  Code = "invariantViolation"
	CodeEngineMissing       Code = "engineMissing"
	CodeClientGone          Code = "clientGone"
	CodeAnswerCutLength     Code = "answerCutLength"
	CodeAnswerCutTurns      Code = "answerCutTurns"
	CodeAnswerCutFilter     Code = "answerCutFilter"
	CodeAnswerCutOff        Code = "answerCutOff"
)

// Codes lists every code in the order above.
var Codes = []Code{
	CodeCopilotTimeout, CodeCopilotStalled, CodeCopilotFailed, CodeCopilotNotInstalled, CodeCopilotNoConsent, CodeCopilotQuota,
	CodeCopilotUnavailable, CodeCopilotBlocked, CodeCopilotEmpty, CodeCopilotCancelled,
	CodeModelFailed, CodeToolSearchFailed, CodeToolFailed, CodeToolTimeout, CodeToolRounds, CodeToolUnanswered, CodeAuthentication, CodeCredentialsMissing, CodeSessionFailed,
	CodeSessionExpired, CodeConnectionFailed, CodeCallRejected, CodeConnectionLost, CodeConnectTimeout, CodeRateLimited, CodeProtocolError,
	CodeQuotaExceeded, CodeAccessDenied, CodeRegionUnsupported, CodeModelUnavailable, CodePipelineFailed,
	CodeDeviceUnavailable, CodeDeviceLost, CodeMicrophoneDenied, CodeMicrophoneBusy, CodeMicrophoneTaken, CodeAudioFailed, CodeRecognitionFailed, CodeRecognitionTimeout,
	CodeUtteranceLost, CodeUtteranceTooLong, CodeNotUnderstood, CodeSpeechFailed, CodeSpeechMismatch, CodeStartTimeout, CodeSuspendTimeout, CodeBreakerOpen, CodeQueueFull,
	CodeConversationActive, CodeNoConversation, CodeInvalidState, CodeNothingToRetry, CodeInternalError, CodeInvariantViolation,
	CodeEngineMissing, CodeClientGone,
	CodeAgentMissing, CodeAgentEnded, CodeAgentSilent, CodeAgentSignIn, CodeNoTrustedFolder,
	CodeAnswerCutLength, CodeAnswerCutTurns, CodeAnswerCutFilter, CodeAnswerCutOff,
}

// Fatal says whether trying again cannot help before the user did something
// (AC-006).
func (c Code) Fatal() bool {
	switch c {
	case CodeAuthentication, CodeCredentialsMissing, CodeQuotaExceeded, CodeAccessDenied, CodeRegionUnsupported, CodeModelUnavailable, CodePipelineFailed, CodeCallRejected, CodeMicrophoneDenied, CodeMicrophoneBusy, CodeEngineMissing, CodeInvariantViolation:
		return true
	default:
		return false
	}
}
