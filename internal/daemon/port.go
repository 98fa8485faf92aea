package daemon

import (
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// Port is the daemon's interface for its World.
type Port struct {
	Post     func(csm.Event)
	Settings func() protocol.Settings
	// NewUtterance allocates an id for an utterance.
	NewUtterance func() uint64
	// Heard stores the words of an utterance and returns its event.
	Heard func(epoch uint32, utterance uint64, said Transcript) csm.Final
	// HeardPartly stores a partial transcript and returns its event.
	HeardPartly func(epoch uint32, utterance uint64, text string) csm.Partial
	// HeardSettled reports words that the recogniser expects to keep if the voice, which
	// has paused, remains silent. It does not block. A short sound that is an expected answer
	// for certain is worth an event, else it returns nil.
	HeardSettled func(epoch uint32, utterance uint64, said Transcript) csm.Event
	// Names returns the names that the user is likely to say, in spoken form, for local engines.
	Names func() []string
	// Expected returns the groups of spoken.Answers, or nil where no answer is expected.
	Expected func() [][]string
	// GoesOn reports whether a voice that begins now may continue the current request.
	GoesOn func() bool
	// Unfinished reports whether more words must follow those before a pause: they look like an
	// answer, and nothing was asked, or they are a single word.
	Unfinished func(words string) bool
	// Language returns the ISO 639 code of the language that the user speaks: that of the
	// settings, else that of the client; "" if neither is known.
	Language func() string
	// Words returns the spoken text of a segment.
	Words func(speech.Segment) string
	// Answer appends text to the answer to a request, for a World that answers requests
	// itself, and posts the resulting events. end ends the round.
	Answer func(request uint64, round int, text string, end bool)
	// ToolCall stores a tool call of such a World's answer and returns its event.
	ToolCall func(request uint64, round int, call copilot.ToolCall) csm.CopilotToolCall
	// ToolResult stores the result of a call.
	ToolResult func(toolCall uint64, result string)
	// Summary stores the summary of a job; if text is "", an extract of the
	// conversation is stored.
	Summary func(e csm.Summarise, text string)
	// Notify sends a notification to the client.
	Notify func(method string, params any)
	Level  func(user, assistant float64) // dBFS, for the journal
	// Output reports that the output fell silent or has audio again.
	Output func(Output)
	// Capturing reports whether the microphone is being captured for a conversation,
	// Waking whether it is being captured for the wake phrase.
	Capturing, Waking func(bool)
	// Fail posts a failure with its reason for the user: what is missing or refused,
	// and what to do. The reason must not contain secrets or paths.
	Fail func(failure csm.Event, reason string)
	// Overload ends the conversation because a part of the daemon cannot keep up; what
	// names that part. It does not block.
	Overload func(what string)
	// Warn tells the user about a problem that does not affect the conversation: the
	// text of the code, and a detail as for Fail.
	Warn func(code protocol.ErrorCode, detail string)
	// Faulty reports why the microphone does not hear the user well; "" means that it does.
	Faulty func(protocol.ErrorCode)
	// Used records the use of a service. It does not block.
	Used func(usage.Use)
	// Opened records that a service has created a session, and returns the meter of its
	// time, to be closed with it; nil if it is not paid by the minute. It does not block.
	Opened func(usage.Use) *Meter
	// Spoken returns the spoken text of a code in the user's language.
	Spoken func(code protocol.ErrorCode) string
	Log    zerolog.Logger
}
