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

	MethodApproveTool       = "copilot/approveTool"
	MethodModels            = "copilot/models"
	MethodSelectModel       = "copilot/selectModel"
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

// Message is a row of Messages. Params and Result are zero values that show
// their types; nil Params are none, a nil Result of a request is null.
type Message struct {
	Method       string
	Direction    Direction
	Notification bool // not answered
	Params       any
	Result       any
	Doc          string
}

// Messages is every message of the wire.
var Messages = []Message{
	request(MethodInitialize, InitializeParams{}, InitializeResult{}, "Opens the wire. Until it is answered every other request is refused with notInitialized."),
	notification(MethodInitialized, nil, "The client took the answer of initialize; the daemon may send requests from now on."),
	request(MethodShutdown, nil, nil, "Ends the conversation and closes every resource. After it only exit is taken."),
	notification(MethodExit, nil, "Ends the process: status 0 after shutdown, else 1."),
	{Method: MethodCancelRequest, Direction: BothWays, Notification: true, Params: CancelParams{}, Doc: "The request is no longer wanted."},
	notification(MethodHeartbeat, nil, "The client's window lives. None for 20 s: the conversation is suspended; for 60 s: ended."),

	request(MethodStart, StartParams{}, Snapshot{}, "Begins a conversation. While one is active: conversationActive."),
	request(MethodEnd, EndParams{}, Snapshot{}, "Ends the conversation."),
	request(MethodInterrupt, InterruptParams{}, Snapshot{}, "Stops the assistant, now."),
	request(MethodSuspend, SuspendParams{}, Snapshot{}, "Pauses the conversation and keeps its turn."),
	request(MethodResume, SuspendParams{}, Snapshot{}, "Takes a reason for the pause away; without another one the conversation goes on."),
	request(MethodCommitTurn, nil, Snapshot{}, "Ends the user's turn by hand."),
	request(MethodSendText, SendTextParams{}, TurnResult{}, "Says something in writing; it takes the path of spoken words."),
	request(MethodRetry, RetryParams{}, Snapshot{}, "Tries again what failed last."),
	request(MethodState, nil, Snapshot{}, "The state now."),
	request(MethodHistory, nil, HistoryResult{}, "The last 20 transitions; they are kept in memory only."),
	request(MethodPushToTalk, PushToTalkParams{}, nil, "The key to talk went down or up."),
	request(MethodSpeak, SpeakParams{}, TurnResult{}, "Reads a text aloud."),
	request(MethodPlayback, PlaybackParams{}, nil, "Controls what is being said."),
	request(MethodTranscript, TranscriptRequestParams{}, TranscriptResult{}, "What was said in the live conversation, for a panel that was reloaded."),

	request(MethodApproveTool, ApproveToolParams{}, nil, "Answers the question whether a tool may be called."),
	request(MethodModels, nil, ModelsResult{}, "The models of the assistant."),
	request(MethodSelectModel, SelectModelParams{}, nil, "Selects a model. Loading is reported by agentvoice.notification."),
	request(MethodDevices, nil, DevicesResult{}, "The audio devices."),
	request(MethodSelectDevice, SelectDeviceParams{}, nil, "Selects audio devices."),
	request(MethodMute, MuteParams{}, nil, "Mutes the microphone or opens it."),
	request(MethodConfigure, Configuration{}, nil, "Changes settings: those that are named; null sets the default. One bad setting refuses all."),
	request(MethodDiagnosticsReport, nil, Report{}, "What there is to know for a bug report. No words, secrets or paths."),
	request(MethodJournal, JournalParams{}, JournalResult{}, "Writes the journal of the conversation to a file."),
	request(MethodSessions, nil, SessionsResult{}, "Past and live sessions."),
	request(MethodUsage, nil, UsageResult{}, "What was used."),
	request(MethodOpenHelp, OpenHelpParams{}, nil, "The user asks for the page that helps with a failure, such as the provider's for keys. window/openExternal follows before the answer; invalidState where there is no page."),
	request(MethodAdvance, AdvanceParams{}, AdvanceResult{}, "Moves virtual time. Only of a daemon that serves with --headless."),

	call(MethodCopilotSend, CopilotSendParams{}, CopilotSendResult{}, "Asks the editor's assistant. The client streams copilot/delta and copilot/toolCall, then answers with the end."),
	notification(MethodCopilotDelta, CopilotDeltaParams{}, "The next piece of an answer."),
	notification(MethodCopilotToolCall, CopilotToolCallParams{}, "The assistant wants a tool."),
	notification(MethodCopilotTools, ToolsParams{}, "The tools that the assistant may ask for, of a client with capabilities.tools."),
	notification(MethodWorkspaceWords, WorkspaceWordsParams{}, "What the names that the user may say are taken from."),
	notification(MethodToolConfirming, ToolConfirmingParams{}, "A call that runs waits for the user in a dialog of the editor. The daemon says so aloud."),
	call(MethodInvokeTool, InvokeToolParams{}, InvokeToolResult{}, "Runs an approved tool call."),
	call(MethodCredentials, CredentialsParams{}, CredentialsResult{}, "Asks for a secret. It is used, never stored or logged."),
	call(MethodOpenExternal, OpenExternalParams{}, nil, "Opens a page in the user's browser. It follows window/openHelp only: nothing opens a page unasked."),
	call(MethodEditorCommand, EditorCommandParams{}, EditorCommandResult{}, "The user asks the editor for something by a voice command. Only of a client with capabilities.commands."),

	publish(NotifyState, StateParams{}, "A transition."),
	publish(NotifyTurn, TurnParams{}, "A turn began or ended."),
	publish(NotifyNotification, NotificationParams{}, "Words for the user, progress, or a new snapshot for a client that fell behind."),
	publish(NotifyTranscript, TranscriptParams{}, "The words of one half of a turn so far."),
	publish(NotifyCaption, CaptionParams{}, "What is being said, and how much of it was heard."),
	publish(NotifyTool, ToolParams{}, "How far a tool call has come."),
	publish(NotifyPaused, PausedParams{}, "The user paused the conversation or the voice, or let it go on."),
	publish(NotifyQueue, Queue{}, "The utterances that wait for their turn changed."),
	publish(NotifySession, SessionParams{}, "The session with the realtime service."),
	publish(NotifyLevel, LevelParams{}, "Both voices' levels."),
	publish(NotifyMicrophone, Microphone{}, "The microphone: whether it is captured, muted, or listening for the wake phrase."),
	publish(NotifyError, ErrorParams{}, "A failure, and what to do."),
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

// Lookup finds the row of a method.
func Lookup(method string) (Message, bool) {
	m, ok := byMethod[method]
	if !ok {
		return Message{}, false
	}
	return *m, true
}
