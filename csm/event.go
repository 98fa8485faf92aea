package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
)

// Envelope is an event as delivered by the dispatcher: its sequence number, the time
// since the start of the process's journal, and the event. Journals and replay work on
// envelopes.
type Envelope struct {
	Seq   uint64
	At    time.Duration
	Event Event
}

// Event is a closed sum: one struct for each kind of thing that can happen.
//
//sumtype:decl
type Event interface {
	kind() Kind // KindOf
}

// Call identifies a client request that expects a reply, 0 for none. It is embedded in
// the events of such requests.
type Call uint64

func (c Call) call() Call { return c }

// SuspendReason is a reason to suspend a conversation; a set of them is a bit mask
// (REQ-008).
type SuspendReason = hold.Reasons

// The reasons.
const (
	SuspendUser SuspendReason = 1 << iota
	SuspendRenewal
	SuspendConnection
	SuspendMicrophone // it is lost
	SuspendDiagnostics
	SuspendHeartbeat
	SuspendSpeaker // it is lost
)

// suspendDevices are the reasons that a lost device sets, and suspendFacts all that only
// facts about the connection or a device set and clear; a request to resume does not.
const (
	suspendDevices = SuspendMicrophone | SuspendSpeaker
	suspendFacts   = SuspendConnection | suspendDevices
)

// Device names the devices that an event concerns.
type Device uint8

// The devices.
const (
	BothDevices Device = iota
	Microphone
	Speaker
)

// Reasons are the reasons to suspend that the loss of the device gives.
func (d Device) Reasons() SuspendReason {
	switch d {
	case Microphone:
		return SuspendMicrophone
	case Speaker:
		return SuspendSpeaker
	default:
		return suspendDevices
	}
}

// Class is the class of an utterance; its words are kept outside of the core.
type Class uint8

// The classes.
const (
	Content     Class = iota
	Empty             // no words
	Backchannel       // "mm-hm"
	Stop              // the user told the assistant to stop, and nothing else
	Yes               // "yes"
	No                // "no"
	Send              // words that ended with the send phrase, which was removed
	Pause             // the user told the assistant to pause or wait
	Continue          // the user told the assistant to continue
	Agree             // "okay", "right": attention, or an answer to a question
	Assent            // permission in other words: "permission granted", or the action that was asked about
	Unclear           // an answer that goes on, or is unfinished: "yes, but"
	Attention         // the wake phrase alone
	NumClasses
)

var classNames = [NumClasses]string{
	"content", "empty", "backchannel", "stop", "yes", "no", "send", "pause", "continue", "agree", "assent", "unclear", "attention",
}

func (c Class) String() string { return classNames[c] }

// EndReason is why a pause ended an utterance, as the judge of the turn's end says it.
type EndReason uint8

// The reasons. EndedElsewhere means that a service, a key or the core ended it.
const (
	EndedElsewhere  EndReason = iota
	EndedBySilence            // silence alone decides
	EndedUnknown              // the words were not known yet
	EndedByWords              // by how complete they are
	EndedUnfinished           // alone they mean nothing in this conversation
	EndedByStop               // the recogniser heard a full stop, or none
	EndedBySound              // the voice sounded complete or not
	EndedFaint                // a faint voice might have gone on
	NumEndReasons
)

var endNames = [NumEndReasons]string{"elsewhere", "silence", "words awaited", "words", "unfinished", "full stop", "sound", "faint voice"}

func (r EndReason) String() string { return endNames[r] }

// User commands (PAT-003). Each is replied to when its step is taken.
type (
	// UserStart starts a conversation (user.start). TakeOver takes the microphone from
	// another window.
	UserStart struct {
		Call     `json:"call,omitempty"`
		TakeOver bool `json:"takeOver,omitempty"`
	}
	// UserStop ends the conversation (user.stop). Code is the reason if it was not the
	// user: clientGone.
	UserStop struct {
		Call `json:"call,omitempty"`
		Code Code `json:"code,omitempty"`
	}
	// UserInterrupt stops the assistant (user.interrupt).
	UserInterrupt struct {
		Call `json:"call,omitempty"`
	}
	// UserCommit ends the user's turn manually (user.commit, REQ-004).
	UserCommit struct {
		Call `json:"call,omitempty"`
	}
	// UserText is a typed utterance, which is handled like a spoken one. In Idle it begins a
	// conversation, whose microphone stays muted.
	UserText struct {
		Call      `json:"call,omitempty"`
		Utterance uint64 `json:"utterance"`
		Words     int    `json:"words"`
	}
	// UserRetry retries the last failure, if it was at the named stage or none is named.
	// ToolCall is the id for another call of a failed tool.
	UserRetry struct {
		Call     `json:"call,omitempty"`
		Stage    copilot.Stage `json:"stage,omitempty"`
		ToolCall uint64        `json:"toolCall,omitempty"`
	}
	// UserApprove approves or rejects one tool call.
	UserApprove struct {
		Call     `json:"call,omitempty"`
		ToolCall uint64 `json:"toolCall"`
		Approved bool   `json:"approved"`
	}
	// UserSelectModel loads a model of the assistant. A request in progress keeps its
	// model.
	UserSelectModel struct {
		Call  `json:"call,omitempty"`
		Model uint64 `json:"model"`
	}
	// UserSpeak reads a text aloud.
	UserSpeak struct {
		Call  `json:"call,omitempty"`
		Ref   uint64 `json:"ref"`
		Chars int    `json:"chars"`
	}
	// UserPlayback pauses or continues the voice.
	UserPlayback struct {
		Call  `json:"call,omitempty"`
		Pause bool `json:"pause"`
	}
	// Suspend adds a reason to suspend that is not a fact about the connection or a
	// device.
	Suspend struct {
		Call   `json:"call,omitempty"`
		Reason SuspendReason `json:"reason"`
	}
	// Resume removes a reason.
	Resume struct {
		Call   `json:"call,omitempty"`
		Reason SuspendReason `json:"reason"`
	}
	// Configure replaces the configuration. Running turns keep theirs.
	Configure struct {
		Config Config `json:"config"`
	}
)

// Facts about the session, the audio devices and the connection. Instance is their
// conversation, Epoch their dial.
type (
	// SessionReady answers ActivateSession.
	SessionReady struct {
		Instance uint32 `json:"instance"`
	}
	// SessionFailed answers ActivateSession, or reports a session that failed later.
	SessionFailed struct {
		Instance uint32 `json:"instance"`
		Code     Code   `json:"code"`
	}
	// SessionExpiring announces the end of the session, so that a successor is dialled.
	// It repeats until a successor opens.
	SessionExpiring struct {
		Instance uint32 `json:"instance"`
	}
	// SessionRenewal says that the service ended the session at its limit before a
	// successor took over, which forces a pause (INT-001). Epoch is that of the
	// connection, 0 if the pause does not concern one.
	SessionRenewal struct {
		Instance uint32 `json:"instance"`
		Epoch    uint32 `json:"epoch,omitempty"`
	}
	// SessionRenewed says that the next session is ready and ends the pause.
	SessionRenewed struct {
		Instance uint32 `json:"instance"`
	}
	// SessionClosed answers DeactivateSession.
	SessionClosed struct {
		Instance uint32 `json:"instance"`
	}
	// AudioPrimed answers OpenAudio: the devices are open.
	AudioPrimed struct {
		Instance uint32 `json:"instance"`
	}
	// AudioReady answers StartCapture: the microphone delivers audio (REQ-003).
	AudioReady struct {
		Instance uint32 `json:"instance"`
	}
	// AudioFailed answers OpenAudio or StartCapture.
	AudioFailed struct {
		Instance uint32 `json:"instance"`
		Code     Code   `json:"code"`
	}
	// AudioLost says that a device was lost, or both at once; the handler tries to reopen it.
	AudioLost struct {
		Instance uint32 `json:"instance"`
		Device   Device `json:"device,omitempty"`
	}
	// AudioRestored says that a device was reopened, or both at once.
	AudioRestored struct {
		Instance uint32 `json:"instance"`
		Device   Device `json:"device,omitempty"`
	}
	// AudioClosed answers CloseAudio.
	AudioClosed struct {
		Instance uint32 `json:"instance"`
	}
	// ConnReady answers OpenConnection: recognition is ready.
	ConnReady struct {
		Epoch uint32 `json:"epoch"`
	}
	// ConnLost says that an open connection was lost. Kept says that unanswered speech
	// was buffered and will be sent over the next connection.
	ConnLost struct {
		Epoch uint32 `json:"epoch"`
		Code  Code   `json:"code"`
		Kept  bool   `json:"kept,omitempty"`
	}
	// ConnFailed answers OpenConnection after the handler's retries are exhausted.
	ConnFailed struct {
		Epoch uint32 `json:"epoch"`
		Code  Code   `json:"code"`
	}
	// ConnClosed answers CloseConnection. Epoch is 0 if all connections were closed.
	ConnClosed struct {
		Instance uint32 `json:"instance"`
		Epoch    uint32 `json:"epoch,omitempty"`
	}
)

// Facts about the user's voice (INT-002). Pos is a position in the captured audio of this
// conversation, in samples at 48 kHz.
type (
	// SpeechStarted is an onset. Late is how long before this event the device had the
	// sample at Pos, including detection and scheduling; 0 if unknown.
	SpeechStarted struct {
		Epoch     uint32        `json:"epoch"`
		Utterance uint64        `json:"utterance"`
		Pos       int64         `json:"pos"`
		Late      time.Duration `json:"late,omitempty"`
	}
	// SpeechPaused says that the voice is silent but the utterance has not ended.
	SpeechPaused struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Pos       int64  `json:"pos"`
	}
	// SpeechResumed says that the voice continued after SpeechPaused.
	SpeechResumed struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Pos       int64  `json:"pos"`
	}
	// SpeechStopped is the end of an utterance, detected locally or reported by a service
	// that measures the pause itself.
	SpeechStopped struct {
		Epoch     uint32    `json:"epoch"`
		Utterance uint64    `json:"utterance"`
		Pos       int64     `json:"pos"`
		Why       EndReason `json:"why,omitempty"`
	}
	// Partial is the amount recognised so far. Coalesced counts the partials that it
	// replaces.
	Partial struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Words     int    `json:"words"`
		Class     Class  `json:"class,omitempty"`
		Coalesced int    `json:"coalesced,omitempty"`
	}
	// Final is the finished transcript. Named says that a Yes unambiguously names the
	// action that was asked about.
	Final struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Words     int    `json:"words"`
		Class     Class  `json:"class,omitempty"`
		Named     bool   `json:"named,omitempty"`
		// Doubted says that the recogniser is so unsure of the words that a cough is more
		// likely, or that part of an answer was not understood.
		Doubted bool `json:"doubted,omitempty"`
	}
	// RecognitionLost says that an utterance will have no transcript.
	RecognitionLost struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Code      Code   `json:"code"`
	}
)

// Facts about the assistant's model.
type (
	// ModelProgress is the loading progress of a model.
	ModelProgress struct {
		Load    uint32 `json:"load"`
		Percent int    `json:"percent"`
	}
	// ModelLoaded and ModelFailed answer LoadModel.
	ModelLoaded struct {
		Load uint32 `json:"load"`
	}
	ModelFailed struct {
		Load uint32 `json:"load"`
		Code Code   `json:"code"`
	}
)

// Facts about the assistant's answer (INT-005). Round counts from 0; each round that ends
// with tool calls starts another.
type (
	// ToolSearchDone is the only terminal of SearchTools.
	ToolSearchDone struct {
		Request   uint64 `json:"request"`
		Round     int    `json:"round,omitempty"`
		Tools     int    `json:"tools"`
		Code      Code   `json:"code,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
	}
	// CopilotSent says that an attempt was sent.
	CopilotSent struct {
		Request uint64 `json:"request"`
		Attempt int    `json:"attempt"`
		Round   int    `json:"round,omitempty"`
	}
	// CopilotDelta is a sign of an answer. Chars is the length so far. Acted: the agent began a
	// call by itself that may change something, so that the request cannot be taken back.
	CopilotDelta struct {
		Request   uint64 `json:"request"`
		Chars     int    `json:"chars"`
		Coalesced int    `json:"coalesced,omitempty"`
		Round     int    `json:"round,omitempty"`
		Acted     bool   `json:"acted,omitempty"`
	}
	// CopilotSegment is a speakable piece of the answer: characters [Start, End), counted
	// over all rounds.
	CopilotSegment struct {
		Request uint64 `json:"request"`
		Start   int    `json:"start"`
		End     int    `json:"end"`
		Round   int    `json:"round,omitempty"`
	}
	// CopilotToolCall says that the answer calls a tool. The user is asked at the end of
	// the round, unless the call is preapproved. Reads says that it changes nothing.
	CopilotToolCall struct {
		Request     uint64 `json:"request"`
		Round       int    `json:"round,omitempty"`
		ToolCall    uint64 `json:"toolCall"`
		Destructive bool   `json:"destructive,omitempty"`
		Reads       bool   `json:"reads,omitempty"`
		Allowed     bool   `json:"allowed,omitempty"` // preapproved: no question is asked
	}
	// CopilotDone is the only terminal of a round. Code is empty on success and otherwise
	// the failure; Cancelled says that it was cancelled. Asks says that the answer ended
	// with a question to the user.
	CopilotDone struct {
		Request   uint64 `json:"request"`
		Code      Code   `json:"code,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
		Round     int    `json:"round,omitempty"`
		Asks      bool   `json:"asks,omitempty"`
	}
	// ToolDone is the only terminal of CallTool.
	ToolDone struct {
		ToolCall  uint64 `json:"toolCall"`
		Code      Code   `json:"code,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
	}
	// Summarised is the only terminal of Summarise.
	Summarised struct {
		Job  uint32 `json:"job"`
		Code Code   `json:"code,omitempty"`
	}
)

// Facts about the assistant's voice (INT-004). Gen is the audio generation, Seq the
// segment.
type (
	// SpeechBuffered says that audio is ready to play (REQ-006).
	SpeechBuffered struct {
		Gen uint32 `json:"gen"`
		Seq uint32 `json:"seq"`
	}
	// SpeechCursor is the playback position: Played of Of samples of the segment (Of is 0
	// if not yet known), with Buffered samples following. It arrives as often as audio,
	// and no transition depends on it.
	SpeechCursor struct {
		Gen      uint32 `json:"gen"`
		Seq      uint32 `json:"seq"`
		Played   int64  `json:"played"`
		Of       int64  `json:"of,omitempty"`
		Buffered int64  `json:"buffered,omitempty"`
	}
	// SpeechPlayed says that a segment was played to its end.
	SpeechPlayed struct {
		Gen uint32 `json:"gen"`
		Seq uint32 `json:"seq"`
	}
	// SpeechDrained says that everything through segment Seq was played.
	SpeechDrained struct {
		Gen uint32 `json:"gen"`
		Seq uint32 `json:"seq"`
	}
	// SpeechFlushed answers Flush: nothing of generation Gen or earlier is audible.
	// Played of Of samples of segment Seq were heard. If the end of the segment had not
	// arrived, Of is an upper bound; 0 means unknown.
	SpeechFlushed struct {
		Gen    uint32 `json:"gen"`
		Seq    uint32 `json:"seq"`
		Played int64  `json:"played"`
		Of     int64  `json:"of,omitempty"`
	}
	// SpeechFailed answers Speak: a segment cannot be spoken.
	SpeechFailed struct {
		Gen  uint32 `json:"gen"`
		Seq  uint32 `json:"seq"`
		Code Code   `json:"code"`
	}
)

// Events that the core posts to itself.
type (
	// TimerFired is a deadline; stale unless Gen is the timer's current one.
	TimerFired struct {
		Timer Timer  `json:"timer"`
		Gen   uint32 `json:"gen"`
	}
	// QueueNext takes the next queued utterance (queue.next).
	QueueNext struct{}
	// Fatal ends a conversation that cannot be recovered (fatal).
	Fatal struct{}
	// Reset says that everything is closed (reset).
	Reset struct{}
)

// Timer names a deadline. Each has at most one live instance.
type Timer uint8

// The timers.
const (
	TimerStart     Timer = iota // Idle while starting, Faulted while recovering
	TimerPrepare                // Preparing
	TimerUtterance              // an utterance without end
	TimerFinal                  // a missing transcript
	TimerResponse               // no sign of an answer (REQ-005, PER-004)
	TimerStall                  // a stall within an answer
	TimerCancel                 // an unconfirmed cancellation
	TimerSpeech                 // playback that does not advance
	TimerInterrupt              // an unconfirmed flush (REQ-007, PER-002)
	TimerSuspend                // a suspension without end
	TimerFault                  // the delay before a recovery
	TimerTerminate              // resources that do not close
	TimerPause                  // a silence inside an utterance
	TimerSearch                 // a search for tools
	TimerApproval               // an unanswered question about a tool
	TimerTool                   // a tool call
	TimerModel                  // a model that does not load
	TimerSummary                // a missing summary
	TimerRenewal                // a late successor connection
	TimerConfirm                // speech over the assistant that is not yet confirmed (PER-002)
	TimerRevoke                 // a yes that the user may take back
	NumTimers
)

var timerNames = [NumTimers]string{
	"start", "prepare", "utterance", "final", "response", "stall", "cancel",
	"speech", "interrupt", "suspend", "fault", "terminate", "pause", "search", "approval", "tool", "model", "summary", "renewal", "confirm", "revoke",
}

func (t Timer) String() string { return timerNames[t] }
