package protocol

// Direction says who sends a message.
type Direction int

// The directions.
const (
	ClientToDaemon Direction = iota
	DaemonToClient
	BothWays
)

// The methods. Their names are fixed.
const (
	MethodInitialize    = "initialize"
	MethodInitialized   = "initialized"
	MethodShutdown      = "shutdown"
	MethodExit          = "exit"
	MethodCancelRequest = "$/cancelRequest"
	MethodHeartbeat     = "client/heartbeat"

	MethodStart      = "conversation/start"
	MethodEnd        = "conversation/end"
	MethodInterrupt  = "conversation/interrupt"
	MethodSuspend    = "conversation/suspend"
	MethodResume     = "conversation/resume"
	MethodCommitTurn = "conversation/commitTurn"
	MethodSendText   = "conversation/sendText"
	MethodRetry      = "conversation/retry"
	MethodState      = "conversation/state"
	MethodHistory    = "conversation/history"
	MethodPushToTalk = "conversation/pushToTalk"
	MethodSpeak      = "conversation/speak"
	MethodPlayback   = "conversation/playback"
	MethodTranscript = "conversation/transcript"

	MethodUndoCorrection = "conversation/undoCorrection"

	MethodApproveTool       = "copilot/approveTool"
	MethodModels            = "copilot/models"
	MethodSelectModel       = "copilot/selectModel"
	MethodAssistants        = "assistant/list"
	MethodSelectAssistant   = "assistant/select"
	MethodDevices           = "audio/devices"
	MethodSelectDevice      = "audio/select"
	MethodMute              = "audio/mute"
	MethodConfigure         = "configuration/update"
	MethodDiagnosticsReport = "diagnostics/report"
	MethodJournal           = "diagnostics/journal"
	MethodSessions          = "session/list"
	MethodUsage             = "usage/summary"
	MethodAdvance           = "headless/advance"

	MethodCopilotSend     = "copilot/send"
	MethodCopilotDelta    = "copilot/delta"
	MethodCopilotToolCall = "copilot/toolCall"
	MethodCopilotTools    = "copilot/tools"
	MethodInvokeTool      = "copilot/invokeTool"
	MethodToolConfirming  = "copilot/toolConfirming"
	MethodCredentials     = "credentials/get"
	MethodOpenExternal    = "window/openExternal"
	MethodWorkspaceWords  = "workspace/words"
	MethodOpenHelp        = "window/openHelp"
	MethodEditorCommand   = "window/command"
	MethodWorkspace       = "workspace/update"

	NotifyState        = "agentvoice.state"
	NotifyTurn         = "agentvoice.turn"
	NotifyNotification = "agentvoice.notification"
	NotifyTranscript   = "agentvoice.transcript"
	NotifyCaption      = "agentvoice.caption"
	NotifyTool         = "agentvoice.tool"
	NotifyPaused       = "agentvoice.paused"
	NotifyQueue        = "agentvoice.queue"
	NotifySession      = "agentvoice.session"
	NotifyLevel        = "agentvoice.level"
	NotifyMicrophone   = "agentvoice.microphone"
	NotifyError        = "agentvoice.error"
)

// Message is a row of Messages. Params and Result are zero values that show their types.
// Nil Params mean no params, a nil Result of a request means null.
type Message struct {
	Method       string
	Direction    Direction
	Notification bool // has no response
	Params       any
	Result       any
	Doc          string
}

// Messages lists every message of the wire.
var Messages = []Message{
	request(MethodInitialize, InitializeParams{}, InitializeResult{}, "Opens the wire. Until it is answered, every other request fails with notInitialized."),
	notification(MethodInitialized, nil, "The client has processed the result of initialize; the daemon may now send requests."),
	request(MethodShutdown, nil, nil, "Ends the conversation and closes every resource. Afterwards only exit is accepted."),
	notification(MethodExit, nil, "Exits the process: with status 0 after shutdown, otherwise 1."),
	{Method: MethodCancelRequest, Direction: BothWays, Notification: true, Params: CancelParams{}, Doc: "Cancels a request."},
	notification(MethodHeartbeat, nil, "The client's window is alive. Without heartbeats the conversation is suspended after 20 s and ended after 60 s."),

	request(MethodStart, StartParams{}, Snapshot{}, "Starts a conversation. Fails with conversationActive if one is active, and with noTrustedFolder if a coding agent would answer and has no folder to work in."),
	request(MethodEnd, EndParams{}, Snapshot{}, "Ends the conversation."),
	request(MethodInterrupt, InterruptParams{}, Snapshot{}, "Stops the assistant immediately."),
	request(MethodSuspend, SuspendParams{}, Snapshot{}, "Pauses the conversation and keeps its turn."),
	request(MethodResume, SuspendParams{}, Snapshot{}, "Removes a reason for the pause; the conversation resumes when none is left."),
	request(MethodCommitTurn, nil, Snapshot{}, "Ends the user's turn by hand."),
	request(MethodSendText, SendTextParams{}, TurnResult{}, "Sends a typed message, which is handled like speech."),
	request(MethodRetry, RetryParams{}, Snapshot{}, "Retries the last failure."),
	request(MethodState, nil, Snapshot{}, "Returns the current state."),
	request(MethodHistory, nil, HistoryResult{}, "Returns the last 20 transitions, which are kept in memory only."),
	request(MethodPushToTalk, PushToTalkParams{}, nil, "The push-to-talk key was pressed or released."),
	request(MethodSpeak, SpeakParams{}, TurnResult{}, "Reads a text aloud."),
	request(MethodPlayback, PlaybackParams{}, nil, "Controls speech playback."),
	request(MethodTranscript, TranscriptRequestParams{}, TranscriptResult{}, "Returns the transcript of the live conversation, for a panel that was reloaded."),
	request(MethodUndoCorrection, UndoCorrectionParams{}, nil, "Takes back the correction of names in a request. If the request was sent, the words as heard follow it as a message."),

	request(MethodApproveTool, ApproveToolParams{}, nil, "Approves or rejects a tool call."),
	request(MethodModels, nil, ModelsResult{}, "Returns the assistant's models."),
	request(MethodSelectModel, SelectModelParams{}, nil, "Selects a model. agentvoice.notification reports its loading."),
	request(MethodAssistants, AssistantsParams{}, AssistantsResult{}, "Returns the assistants that can be chosen, and whether they are there."),
	request(MethodSelectAssistant, SelectAssistantParams{}, nil, "Selects who answers from the next message on. Sets agentvoice.agent. agentvoice.notification says what the assistant knows of the conversation."),
	request(MethodDevices, nil, DevicesResult{}, "Returns the audio devices."),
	request(MethodSelectDevice, SelectDeviceParams{}, nil, "Selects audio devices."),
	request(MethodMute, MuteParams{}, nil, "Mutes or unmutes the microphone."),
	request(MethodConfigure, Configuration{}, nil, "Changes the named settings; null restores the default. If any is invalid, none is changed."),
	request(MethodDiagnosticsReport, nil, Report{}, "Returns diagnostics for a bug report, without transcripts, secrets or paths."),
	request(MethodJournal, JournalParams{}, JournalResult{}, "Writes the journal of the conversation to a file."),
	request(MethodSessions, nil, SessionsResult{}, "Returns past and live sessions."),
	request(MethodUsage, nil, UsageResult{}, "Returns usage and cost."),
	request(MethodOpenHelp, OpenHelpParams{}, nil, "Opens the help page for a failure, such as the provider's page for keys. The daemon sends window/openExternal before it answers; invalidState if there is no page."),
	request(MethodAdvance, AdvanceParams{}, AdvanceResult{}, "Advances virtual time. Only with --headless."),

	request(MethodWorkspace, Workspace{}, nil, "Replaces the workspace of initialize."),

	call(MethodCopilotSend, CopilotSendParams{}, CopilotSendResult{}, "Sends a request to the editor's assistant. The client streams copilot/delta and copilot/toolCall, then responds."),
	notification(MethodCopilotDelta, CopilotDeltaParams{}, "The next piece of an answer."),
	notification(MethodCopilotToolCall, CopilotToolCallParams{}, "The assistant calls a tool."),
	notification(MethodCopilotTools, ToolsParams{}, "The tools that the assistant may call, from a client with capabilities.tools."),
	notification(MethodWorkspaceWords, WorkspaceWordsParams{}, "The names in the workspace that the user may say."),
	notification(MethodToolConfirming, ToolConfirmingParams{}, "A running call is waiting for the user in a dialog of the editor. The daemon announces it."),
	call(MethodInvokeTool, InvokeToolParams{}, InvokeToolResult{}, "Runs an approved tool call."),
	call(MethodCredentials, CredentialsParams{}, CredentialsResult{}, "Requests a secret, which is used but never stored or logged."),
	call(MethodOpenExternal, OpenExternalParams{}, nil, "Opens a page in the user's browser. Sent only in response to window/openHelp: no page opens unasked."),
	call(MethodEditorCommand, EditorCommandParams{}, EditorCommandResult{}, "Runs a voice command in the editor. Only for clients with capabilities.commands."),

	publish(NotifyState, StateParams{}, "A transition."),
	publish(NotifyTurn, TurnParams{}, "A turn started or ended."),
	publish(NotifyNotification, NotificationParams{}, "A message for the user, progress, or a new snapshot for a client that fell behind."),
	publish(NotifyTranscript, TranscriptParams{}, "The text so far of one half of a turn."),
	publish(NotifyCaption, CaptionParams{}, "The segment that is being spoken, and how much of it was heard."),
	publish(NotifyTool, ToolParams{}, "The status of a tool call."),
	publish(NotifyPaused, PausedParams{}, "The user paused or resumed the conversation or the voice."),
	publish(NotifyQueue, Queue{}, "The queue of utterances changed."),
	publish(NotifySession, SessionParams{}, "The state of the session with the realtime service."),
	publish(NotifyLevel, LevelParams{}, "The audio levels of both voices."),
	publish(NotifyMicrophone, Microphone{}, "The state of the microphone: capturing, muted, or listening for the wake phrase."),
	publish(NotifyError, ErrorParams{}, "A failure and its remedy."),
}

func request(method string, params, result any, doc string) Message {
	return Message{Method: method, Direction: ClientToDaemon, Params: params, Result: result, Doc: doc}
}

func notification(method string, params any, doc string) Message {
	return Message{Method: method, Direction: ClientToDaemon, Notification: true, Params: params, Doc: doc}
}

func call(method string, params, result any, doc string) Message {
	return Message{Method: method, Direction: DaemonToClient, Params: params, Result: result, Doc: doc}
}

func publish(method string, params any, doc string) Message {
	return Message{Method: method, Direction: DaemonToClient, Notification: true, Params: params, Doc: doc}
}

var byMethod = func() map[string]*Message {
	m := make(map[string]*Message, len(Messages))
	for i := range Messages {
		m[Messages[i].Method] = &Messages[i]
	}
	return m
}()

// Lookup returns the row of a method.
func Lookup(method string) (Message, bool) {
	m, ok := byMethod[method]
	if !ok {
		return Message{}, false
	}
	return *m, true
}
