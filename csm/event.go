package csm

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
)

// Envelope is an event as it left the dispatcher: with its place in the order,
// the time since the process's journal began, and what happened. It is the unit
// of the journal and of replay.
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

// Call names a request of a client that waits for an answer, 0 for none. It is embedded
// in the events that are such requests.
type Call uint64

func (c Call) call() Call { return c }

// SuspendReason is one reason why a conversation is suspended; a set of them is
// a bit mask (REQ-008).
type SuspendReason = hold.Reasons

// The reasons.
const (
	SuspendUser SuspendReason = 1 << iota
	SuspendRenewal
	SuspendConnection
	SuspendDevice
	SuspendDiagnostics
	SuspendHeartbeat
)

// suspendFacts are the reasons that only their facts give and take away: a
// connection or a device that is gone does not come back by being told to.
const suspendFacts = SuspendConnection | SuspendDevice

// Class is what kind of utterance was heard; the words stay beside the core.
type Class uint8

// The classes. Content, Yes, No and Send are sent to the assistant.
const (
	Content     Class = iota
	Empty             // no words
	Backchannel       // "mm-hm"
	Stop              // the user only told the assistant to stop
	Yes               // content, and an answer to a question that can be answered so
	No                // the same
	Send              // content that ends with the send phrase, which is not among its words
	Pause             // the user tells the assistant to be silent for a moment
	Continue          // and to go on; content where there is nothing to go on with
	NumClasses
)

// User commands (PAT-003). Each answers its Call when its step is taken.
type (
	// UserStart begins a conversation (user.start). TakeOver has it take the
	// microphone from another window that listens.
	UserStart struct {
		Call     `json:"call,omitempty"`
		TakeOver bool `json:"takeOver,omitempty"`
	}
	// UserStop ends it (user.stop). Code says why where it was not the user:
	// clientGone.
	UserStop struct {
		Call `json:"call,omitempty"`
		Code Code `json:"code,omitempty"`
	}
	// UserInterrupt stops the assistant (user.interrupt).
	UserInterrupt struct {
		Call `json:"call,omitempty"`
	}
	// UserCommit ends the user's turn by hand (user.commit, REQ-004).
	UserCommit struct {
		Call `json:"call,omitempty"`
	}
	// UserText is a typed utterance; it takes the path of a spoken one.
	UserText struct {
		Call      `json:"call,omitempty"`
		Utterance uint64 `json:"utterance"`
		Words     int    `json:"words"`
	}
	// UserRetry tries again what failed last: the stage that it names, or whichever
	// it was. ToolCall is the id for another call of a tool that failed.
	UserRetry struct {
		Call     `json:"call,omitempty"`
		Stage    copilot.Stage `json:"stage,omitempty"`
		ToolCall uint64        `json:"toolCall,omitempty"`
	}
	// UserApprove allows one call of a tool, or does not.
	UserApprove struct {
		Call     `json:"call,omitempty"`
		ToolCall uint64 `json:"toolCall"`
		Approved bool   `json:"approved"`
	}
	// UserSelectModel has the assistant's model loaded. A request that is under way
	// keeps the one it began with.
	UserSelectModel struct {
		Call  `json:"call,omitempty"`
		Model uint64 `json:"model"`
	}
	// UserSpeak has a text read aloud.
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
	// Suspend adds a reason to suspend: one that is not a fact about the
	// connection or a device.
	Suspend struct {
		Call   `json:"call,omitempty"`
		Reason SuspendReason `json:"reason"`
	}
	// Resume takes a reason away.
	Resume struct {
		Call   `json:"call,omitempty"`
		Reason SuspendReason `json:"reason"`
	}
	// Configure replaces the configuration. What runs keeps the one it began with.
	Configure struct {
		Config Config `json:"config"`
	}
)

// Facts about the session, the audio devices and the connection. Instance is the
// conversation they belong to, Epoch the dial.
type (
	// SessionReady answers ActivateSession.
	SessionReady struct {
		Instance uint32 `json:"instance"`
	}
	// SessionFailed answers ActivateSession, or reports a session that broke.
	SessionFailed struct {
		Instance uint32 `json:"instance"`
		Code     Code   `json:"code"`
	}
	// SessionExpiring says that the service ends the session before long: its
	// successor is to be dialled. It repeats until a successor opens.
	SessionExpiring struct {
		Instance uint32 `json:"instance"`
	}
	// SessionRenewal says that the service ended the session at its limit, before
	// a successor took over, which forces a pause (INT-001). Epoch is that of the
	// connection, 0 where the pause is not about one.
	SessionRenewal struct {
		Instance uint32 `json:"instance"`
		Epoch    uint32 `json:"epoch,omitempty"`
	}
	// SessionRenewed says that the next session stands: the pause is over.
	SessionRenewed struct {
		Instance uint32 `json:"instance"`
	}
	// SessionClosed answers DeactivateSession.
	SessionClosed struct {
		Instance uint32 `json:"instance"`
	}
	// AudioPrimed answers OpenAudio: devices are open.
	AudioPrimed struct {
		Instance uint32 `json:"instance"`
	}
	// AudioReady answers StartCapture: the microphone delivers (REQ-003).
	AudioReady struct {
		Instance uint32 `json:"instance"`
	}
	// AudioFailed answers OpenAudio or StartCapture.
	AudioFailed struct {
		Instance uint32 `json:"instance"`
		Code     Code   `json:"code"`
	}
	// AudioLost says that a device is gone; it is being looked for.
	AudioLost struct {
		Instance uint32 `json:"instance"`
	}
	// AudioRestored says that a device is back.
	AudioRestored struct {
		Instance uint32 `json:"instance"`
	}
	// AudioClosed answers CloseAudio.
	AudioClosed struct {
		Instance uint32 `json:"instance"`
	}
	// ConnReady answers OpenConnection: recognition is ready.
	ConnReady struct {
		Epoch uint32 `json:"epoch"`
	}
	// ConnLost says that an open connection is gone. Kept says that the world has
	// what the user said and was not answered, and sends it over the next connection.
	ConnLost struct {
		Epoch uint32 `json:"epoch"`
		Code  Code   `json:"code"`
		Kept  bool   `json:"kept,omitempty"`
	}
	// ConnFailed answers OpenConnection: the handler's retries are used up.
	ConnFailed struct {
		Epoch uint32 `json:"epoch"`
		Code  Code   `json:"code"`
	}
	// ConnClosed answers CloseConnection. Epoch is 0 when everything was closed.
	ConnClosed struct {
		Instance uint32 `json:"instance"`
		Epoch    uint32 `json:"epoch,omitempty"`
	}
)

// Facts about the user's voice (INT-002). Pos is a position in samples at 48 kHz
// of the audio captured in this conversation.
type (
	// SpeechStarted is an onset. Late is how long ago it was when it was noticed.
	SpeechStarted struct {
		Epoch     uint32        `json:"epoch"`
		Utterance uint64        `json:"utterance"`
		Pos       int64         `json:"pos"`
		Late      time.Duration `json:"late,omitempty"`
	}
	// SpeechPaused says that the voice is silent, and the utterance not over yet.
	SpeechPaused struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Pos       int64  `json:"pos"`
	}
	// SpeechResumed reports that playback resumed.
	SpeechResumed struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Pos       int64  `json:"pos"`
	}
	// SpeechStopped is an end: judged, or reported by a service that counts the
	// pause itself.
	SpeechStopped struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Pos       int64  `json:"pos"`
	}
	// Partial says how much was understood so far. Coalesced counts the partials
	// that this one stands for beside itself.
	Partial struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Words     int    `json:"words"`
		Class     Class  `json:"class,omitempty"`
		Coalesced int    `json:"coalesced,omitempty"`
	}
	// Final is the finished transcript. Named says that a Yes names, beyond doubt,
	// the action it was asked about.
	Final struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Words     int    `json:"words"`
		Class     Class  `json:"class,omitempty"`
		Named     bool   `json:"named,omitempty"`
		// Doubted says that the recogniser is so unsure of a Content that a cough is more
		// likely; of a Yes or No, that what the user said with it was not understood.
		// While an answer is under way such words say nothing.
		Doubted bool `json:"doubted,omitempty"`
	}
	// RecognitionLost says that an utterance has no transcript.
	RecognitionLost struct {
		Epoch     uint32 `json:"epoch"`
		Utterance uint64 `json:"utterance"`
		Code      Code   `json:"code"`
	}
)

// Facts about the assistant's model.
type (
	// ModelProgress says how much of a model is loaded.
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

// Facts about the assistant's answer (INT-005). Round is 0 for the first round
// of a request, and one more after each that ended with calls of tools.
type (
	// ToolSearchDone is the one terminal of SearchTools.
	ToolSearchDone struct {
		Request   uint64 `json:"request"`
		Round     int    `json:"round,omitempty"`
		Tools     int    `json:"tools"`
		Code      Code   `json:"code,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
	}
	// CopilotSent says that an attempt was handed over.
	CopilotSent struct {
		Request uint64 `json:"request"`
		Attempt int    `json:"attempt"`
		Round   int    `json:"round,omitempty"`
	}
	// CopilotDelta is a sign of life. Chars is the answer's length so far.
	CopilotDelta struct {
		Request   uint64 `json:"request"`
		Chars     int    `json:"chars"`
		Coalesced int    `json:"coalesced,omitempty"`
		Round     int    `json:"round,omitempty"`
	}
	// CopilotSegment is a piece of the answer that can be spoken: characters
	// [Start, End) of it, counted over all rounds.
	CopilotSegment struct {
		Request uint64 `json:"request"`
		Start   int    `json:"start"`
		End     int    `json:"end"`
		Round   int    `json:"round,omitempty"`
	}
	// CopilotToolCall says that the answer asks for a call of a tool. The user is
	// asked when the round is over, unless such calls are allowed beforehand.
	CopilotToolCall struct {
		Request     uint64 `json:"request"`
		Round       int    `json:"round,omitempty"`
		ToolCall    uint64 `json:"toolCall"`
		Destructive bool   `json:"destructive,omitempty"`
		Allowed     bool   `json:"allowed,omitempty"` // no question is needed
	}
	// CopilotDone is the one terminal of a round. Code is empty when it is whole,
	// and says what failed otherwise; Cancelled when it was told to stop.
	CopilotDone struct {
		Request   uint64 `json:"request"`
		Code      Code   `json:"code,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
		Round     int    `json:"round,omitempty"`
	}
	// ToolDone is the one terminal of CallTool.
	ToolDone struct {
		ToolCall  uint64 `json:"toolCall"`
		Code      Code   `json:"code,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
	}
	// Summarised is the one terminal of Summarise.
	Summarised struct {
		Job  uint32 `json:"job"`
		Code Code   `json:"code,omitempty"`
	}
)

// Facts about the assistant's voice (INT-004). Gen is the generation of the
// audio, Seq the segment.
type (
	// SpeechBuffered says that there is audio to play (REQ-006).
	SpeechBuffered struct {
		Gen uint32 `json:"gen"`
		Seq uint32 `json:"seq"`
	}
	// SpeechCursor says how far playback is: Played of Of samples of the segment,
	// Of 0 where it is not known yet, and Buffered samples more are there. It comes
	// as often as audio does, and no transition depends on it.
	SpeechCursor struct {
		Gen      uint32 `json:"gen"`
		Seq      uint32 `json:"seq"`
		Played   int64  `json:"played"`
		Of       int64  `json:"of,omitempty"`
		Buffered int64  `json:"buffered,omitempty"`
	}
	// SpeechPlayed says that a segment was heard to its end.
	SpeechPlayed struct {
		Gen uint32 `json:"gen"`
		Seq uint32 `json:"seq"`
	}
	// SpeechDrained says that everything through segment Seq was heard.
	SpeechDrained struct {
		Gen uint32 `json:"gen"`
		Seq uint32 `json:"seq"`
	}
	// SpeechFlushed answers Flush: nothing of generation Gen or before is heard
	// any more. Of segment Seq, Played of Of samples were heard. Where the end of
	// the segment had not arrived, Of is the most it can be; 0 is not known.
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

// Events that the core asks for.
type (
	// TimerFired is a deadline; stale unless Gen is the live one of its timer.
	TimerFired struct {
		Timer Timer  `json:"timer"`
		Gen   uint32 `json:"gen"`
	}
	// QueueNext takes the next waiting utterance (queue.next).
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
	TimerStart     Timer = iota // Idle with a start under way, Faulted while recovering
	TimerPrepare                // Preparing
	TimerUtterance              // an utterance that does not end
	TimerFinal                  // words that do not come
	TimerResponse               // no sign of life of the assistant (REQ-005, PER-004)
	TimerStall                  // a pause within an answer
	TimerCancel                 // a cancellation that is not confirmed
	TimerSpeech                 // speech that does not advance
	TimerInterrupt              // a flush that is not confirmed (REQ-007, PER-002)
	TimerSuspend                // a suspension that does not end
	TimerFault                  // the pause before a recovery
	TimerTerminate              // resources that do not close
	TimerPause                  // a silence inside an utterance
	TimerSearch                 // a search for tools
	TimerApproval               // a question about a tool that nobody answers
	TimerTool                   // a call of a tool
	TimerModel                  // a model that does not load
	TimerSummary                // a summary that does not come
	TimerRenewal                // a successor connection that is late
	TimerConfirm                // speech over the assistant that may end before it counts (PER-002)
	NumTimers
)

var timerNames = [NumTimers]string{
	"start", "prepare", "utterance", "final", "response", "stall", "cancel",
	"speech", "interrupt", "suspend", "fault", "terminate", "pause", "search", "approval", "tool", "model", "summary", "renewal", "confirm",
}

func (t Timer) String() string { return timerNames[t] }
