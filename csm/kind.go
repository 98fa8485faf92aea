package csm

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Kind is the kind of an event, or its meaning: the trigger of the state machine.
type Kind uint8

// The kinds, one for each event type.
const (
	KindUserStart Kind = iota
	KindUserStop
	KindUserInterrupt
	KindUserCommit
	KindUserText
	KindUserRetry
	KindUserApprove
	KindUserSelectModel
	KindUserSpeak
	KindUserPlayback
	KindSuspend
	KindResume
	KindConfigure
	KindSessionReady
	KindSessionFailed
	KindSessionExpiring
	KindSessionRenewal
	KindSessionRenewed
	KindSessionClosed
	KindAudioPrimed
	KindAudioReady
	KindAudioFailed
	KindAudioLost
	KindAudioRestored
	KindAudioClosed
	KindConnReady
	KindConnLost
	KindConnFailed
	KindConnClosed
	KindSpeechStarted
	KindSpeechPaused
	KindSpeechResumed
	KindSpeechStopped
	KindPartial
	KindFinal
	KindRecognitionLost
	KindModelProgress
	KindModelLoaded
	KindModelFailed
	KindToolSearchDone
	KindCopilotSent
	KindCopilotDelta
	KindCopilotSegment
	KindCopilotToolCall
	KindCopilotDone
	KindToolDone
	KindSummarised
	KindSpeechBuffered
	KindSpeechCursor
	KindSpeechPlayed
	KindSpeechDrained
	KindSpeechFlushed
	KindSpeechFailed
	KindTimerFired
	KindQueueNext
	KindFatal
	KindReset
	NumKinds
)

// A row of the table is triggered by a kind or, if events of one kind have different
// meanings, by the meaning that the responsible region determined (see trigger). So no
// row needs a guard to tell them apart.
const (
	// KindSettled is not an event: after an event was processed, its rows are taken while
	// their guards hold.
	KindSettled = NumKinds + iota
	// A finished transcript, by meaning.
	FinalContent // a message for the assistant
	FinalDraft   // likewise, but kept until the user commits the turn
	FinalSend    // the send phrase alone
	FinalStop    // the user told the assistant to stop
	FinalYes     // an answer, while a question about a tool is open
	FinalNo
	FinalUnclear   // the start of an answer, followed by something that was not understood
	FinalDoubt     // a message that was not understood
	FinalNothing   // no words, or none that count
	PartialCounts  // partial words that interrupt
	VoiceRetracted // speech over the assistant ended before it was confirmed
	// The assistant.
	AnswerBegins // the first sign of an answer
	AnswerAsks   // the round is complete and calls a tool
	AnswerWhole
	AnswerBroke
	ToolsFound
	SearchBroke
	ToolNext // a call succeeded: the request continues
	ToolBroke
	// Messages of the approval region to the conversation.
	ApprovalListens // the question is closed: the user has the floor
	ApprovalDecided // the request continues
	// The voice, and the connection.
	LineHeard     // the whole speech line was heard
	VoicePause    // the user paused it, by voice or manually
	VoiceContinue // the user resumed it
	SuccessorGone // a successor connection was lost
	passed
	numTriggers = passed + Kind(NumTimers)
)

// Passed is the trigger of a deadline.
func Passed(t Timer) Kind { return passed + Kind(t) }

var triggerNames = [passed - NumKinds]string{
	"settled", "stt.final content", "stt.final draft", "stt.final send", "stt.final stop", "stt.final yes", "stt.final no", "stt.final unclear", "stt.final doubt", "stt.final nothing",
	"stt.partial counts", "vad.end retracted", "copilot answer begins", "copilot.done asks", "copilot.done whole", "copilot.done failed",
	"tools.found some", "tools.found failed", "tool.done next", "tool.done failed", "approval listens", "approval decided",
	"tts.drained all", "voice pause", "voice continue", "conn.lost successor",
}

// kinds is the registry of events: name on the wire and in journals, lane, and decoder.
var kinds = [NumKinds]struct {
	name   string
	lane   Lane
	decode func([]byte) (Event, error)
}{
	KindUserStart:       {"user.start", Signal, decode[UserStart]},
	KindUserStop:        {"user.stop", Signal, decode[UserStop]},
	KindUserInterrupt:   {"user.interrupt", Signal, decode[UserInterrupt]},
	KindUserCommit:      {"user.commit", Signal, decode[UserCommit]},
	KindUserText:        {"user.text", Signal, decode[UserText]},
	KindUserRetry:       {"user.retry", Signal, decode[UserRetry]},
	KindUserApprove:     {"user.approve", Signal, decode[UserApprove]},
	KindUserSelectModel: {"user.model", Signal, decode[UserSelectModel]},
	KindUserSpeak:       {"user.speak", Signal, decode[UserSpeak]},
	KindUserPlayback:    {"user.playback", Signal, decode[UserPlayback]},
	KindSuspend:         {"suspend", Signal, decode[Suspend]},
	KindResume:          {"resume", Signal, decode[Resume]},
	KindConfigure:       {"configure", Signal, decode[Configure]},
	KindSessionReady:    {"session.ready", Data, decode[SessionReady]},
	KindSessionFailed:   {"session.failed", Data, decode[SessionFailed]},
	KindSessionExpiring: {"session.expiring", Signal, decode[SessionExpiring]},
	KindSessionRenewal:  {"session.renewal", Signal, decode[SessionRenewal]},
	KindSessionRenewed:  {"session.renewed", Signal, decode[SessionRenewed]},
	KindSessionClosed:   {"session.closed", Data, decode[SessionClosed]},
	KindAudioPrimed:     {"audio.primed", Data, decode[AudioPrimed]},
	KindAudioReady:      {"audio.ready", Data, decode[AudioReady]},
	KindAudioFailed:     {"audio.failed", Data, decode[AudioFailed]},
	KindAudioLost:       {"device.lost", Signal, decode[AudioLost]},
	KindAudioRestored:   {"device.restored", Signal, decode[AudioRestored]},
	KindAudioClosed:     {"audio.closed", Data, decode[AudioClosed]},
	KindConnReady:       {"conn.ready", Data, decode[ConnReady]},
	KindConnLost:        {"conn.lost", Signal, decode[ConnLost]},
	KindConnFailed:      {"conn.failed", Data, decode[ConnFailed]},
	KindConnClosed:      {"conn.closed", Data, decode[ConnClosed]},
	KindSpeechStarted:   {"vad.start", Signal, decode[SpeechStarted]},
	KindSpeechPaused:    {"vad.pause", Signal, decode[SpeechPaused]},
	KindSpeechResumed:   {"vad.resume", Signal, decode[SpeechResumed]},
	KindSpeechStopped:   {"vad.end", Signal, decode[SpeechStopped]},
	KindPartial:         {"stt.partial", Data, decode[Partial]},
	KindFinal:           {"stt.final", Data, decode[Final]},
	KindRecognitionLost: {"stt.failed", Data, decode[RecognitionLost]},
	KindModelProgress:   {"model.progress", Data, decode[ModelProgress]},
	KindModelLoaded:     {"model.ready", Data, decode[ModelLoaded]},
	KindModelFailed:     {"model.failed", Data, decode[ModelFailed]},
	KindToolSearchDone:  {"tools.found", Data, decode[ToolSearchDone]},
	KindCopilotSent:     {"copilot.request", Data, decode[CopilotSent]},
	KindCopilotDelta:    {"copilot.delta", Data, decode[CopilotDelta]},
	KindCopilotSegment:  {"copilot.segment", Data, decode[CopilotSegment]},
	KindCopilotToolCall: {"copilot.toolCall", Data, decode[CopilotToolCall]},
	KindCopilotDone:     {"copilot.done", Data, decode[CopilotDone]},
	KindToolDone:        {"tool.done", Data, decode[ToolDone]},
	KindSummarised:      {"history.summarised", Data, decode[Summarised]},
	KindSpeechBuffered:  {"tts.bufferReady", Data, decode[SpeechBuffered]},
	KindSpeechCursor:    {"tts.cursor", Data, decode[SpeechCursor]},
	KindSpeechPlayed:    {"tts.played", Data, decode[SpeechPlayed]},
	KindSpeechDrained:   {"tts.drained", Data, decode[SpeechDrained]},
	KindSpeechFlushed:   {"tts.flushed", Signal, decode[SpeechFlushed]},
	KindSpeechFailed:    {"tts.failed", Data, decode[SpeechFailed]},
	KindTimerFired:      {"timer", Data, decode[TimerFired]},
	KindQueueNext:       {"queue.next", Signal, decode[QueueNext]},
	KindFatal:           {"fatal", Signal, decode[Fatal]},
	KindReset:           {"reset", Signal, decode[Reset]},
}

func (k Kind) String() string {
	switch {
	case k < NumKinds:
		return kinds[k].name
	case k < passed:
		return triggerNames[k-NumKinds]
	default:
		return "timer " + Timer(k-passed).String()
	}
}

func (UserStart) kind() Kind       { return KindUserStart }
func (UserStop) kind() Kind        { return KindUserStop }
func (UserInterrupt) kind() Kind   { return KindUserInterrupt }
func (UserCommit) kind() Kind      { return KindUserCommit }
func (UserText) kind() Kind        { return KindUserText }
func (UserRetry) kind() Kind       { return KindUserRetry }
func (UserApprove) kind() Kind     { return KindUserApprove }
func (UserSelectModel) kind() Kind { return KindUserSelectModel }
func (UserSpeak) kind() Kind       { return KindUserSpeak }
func (UserPlayback) kind() Kind    { return KindUserPlayback }
func (Suspend) kind() Kind         { return KindSuspend }
func (Resume) kind() Kind          { return KindResume }
func (Configure) kind() Kind       { return KindConfigure }
func (SessionReady) kind() Kind    { return KindSessionReady }
func (SessionFailed) kind() Kind   { return KindSessionFailed }
func (SessionExpiring) kind() Kind { return KindSessionExpiring }
func (SessionRenewal) kind() Kind  { return KindSessionRenewal }
func (SessionRenewed) kind() Kind  { return KindSessionRenewed }
func (SessionClosed) kind() Kind   { return KindSessionClosed }
func (AudioPrimed) kind() Kind     { return KindAudioPrimed }
func (AudioReady) kind() Kind      { return KindAudioReady }
func (AudioFailed) kind() Kind     { return KindAudioFailed }
func (AudioLost) kind() Kind       { return KindAudioLost }
func (AudioRestored) kind() Kind   { return KindAudioRestored }
func (AudioClosed) kind() Kind     { return KindAudioClosed }
func (ConnReady) kind() Kind       { return KindConnReady }
func (ConnLost) kind() Kind        { return KindConnLost }
func (ConnFailed) kind() Kind      { return KindConnFailed }
func (ConnClosed) kind() Kind      { return KindConnClosed }
func (SpeechStarted) kind() Kind   { return KindSpeechStarted }
func (SpeechPaused) kind() Kind    { return KindSpeechPaused }
func (SpeechResumed) kind() Kind   { return KindSpeechResumed }
func (SpeechStopped) kind() Kind   { return KindSpeechStopped }
func (Partial) kind() Kind         { return KindPartial }
func (Final) kind() Kind           { return KindFinal }
func (RecognitionLost) kind() Kind { return KindRecognitionLost }
func (ModelProgress) kind() Kind   { return KindModelProgress }
func (ModelLoaded) kind() Kind     { return KindModelLoaded }
func (ModelFailed) kind() Kind     { return KindModelFailed }
func (ToolSearchDone) kind() Kind  { return KindToolSearchDone }
func (CopilotSent) kind() Kind     { return KindCopilotSent }
func (CopilotDelta) kind() Kind    { return KindCopilotDelta }
func (CopilotSegment) kind() Kind  { return KindCopilotSegment }
func (CopilotToolCall) kind() Kind { return KindCopilotToolCall }
func (CopilotDone) kind() Kind     { return KindCopilotDone }
func (ToolDone) kind() Kind        { return KindToolDone }
func (Summarised) kind() Kind      { return KindSummarised }
func (SpeechBuffered) kind() Kind  { return KindSpeechBuffered }
func (SpeechCursor) kind() Kind    { return KindSpeechCursor }
func (SpeechPlayed) kind() Kind    { return KindSpeechPlayed }
func (SpeechDrained) kind() Kind   { return KindSpeechDrained }
func (SpeechFlushed) kind() Kind   { return KindSpeechFlushed }
func (SpeechFailed) kind() Kind    { return KindSpeechFailed }
func (TimerFired) kind() Kind      { return KindTimerFired }
func (QueueNext) kind() Kind       { return KindQueueNext }
func (Fatal) kind() Kind           { return KindFatal }
func (Reset) kind() Kind           { return KindReset }

// KindOf is the kind of an event.
func KindOf(e Event) Kind { return e.kind() }

// Lane is one of the dispatcher's two queues.
type Lane uint8

// The lanes. Signal is drained first. Data keeps all answers to requests in order, so
// that a failure or a deadline never overtakes the words before it.
const (
	Signal Lane = iota
	Data
)

func (l Lane) String() string {
	if l == Signal {
		return "signal"
	}
	return "data"
}

// LaneOf returns the lane of an event. Of the timers, only those of an interruption or an
// open utterance are signals; the deadline of a request queues behind data that was
// already received for it.
func LaneOf(e Event) Lane {
	if t, ok := e.(TimerFired); ok && (t.Timer == TimerInterrupt || t.Timer == TimerConfirm || t.Timer == TimerUtterance) {
		return Signal
	}
	return kinds[e.kind()].lane
}

// KindByName returns the kind with this name in journals and scripts.
func KindByName(name string) (Kind, bool) {
	for k := range NumKinds {
		if kinds[k].name == name {
			return k, true
		}
	}
	return 0, false
}

// DecodeEvent decodes the fields of an event. Unknown fields are an error: the journal
// was written by a build with other events.
func DecodeEvent(k Kind, data []byte) (Event, error) {
	if k >= NumKinds {
		return nil, fmt.Errorf("unknown event kind %d", k)
	}
	return kinds[k].decode(data)
}

func decode[E Event](data []byte) (Event, error) {
	var e E
	if len(data) == 0 {
		return e, nil
	}
	if err := strictJSON(data, &e); err != nil {
		return nil, fmt.Errorf("fields of event %s: %w", e.kind(), err)
	}
	return e, nil
}

func strictJSON(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
