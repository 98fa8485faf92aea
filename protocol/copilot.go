package protocol

// MessageRole is the author of a prompt message.
type MessageRole string

// The roles of a prompt.
const (
	MessageUser      MessageRole = "user"
	MessageAssistant MessageRole = "assistant"
	MessageTool      MessageRole = "tool"
)

// MessageRoles lists every role of a prompt.
var MessageRoles = []MessageRole{MessageUser, MessageAssistant, MessageTool}

// CopilotMessage is one message of a prompt. A message with the role tool is the result
// of a call: CallID, Name and Input identify the call, Status says how it ended.
type CopilotMessage struct {
	Role    MessageRole `json:"role"`
	Content string      `json:"content"`
	// The user's words were recognised from speech, so that some may be misheard.
	Dictated bool `json:"dictated,omitempty"`
	// The assistant's answer was cut off before its end.
	Cut    bool       `json:"cut,omitempty"`
	CallID string     `json:"callId,omitempty"`
	Name   string     `json:"name,omitempty"`
	Input  Any        `json:"input,omitempty"`
	Status ToolStatus `json:"status,omitempty"`
}

// ToolSpec offers a tool to the assistant. InputSchema is a JSON Schema.
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema Any    `json:"inputSchema,omitempty"`
	// Whether the tool is irreversible, so that a spoken yes must name the action. Absent
	// means true.
	Destructive *bool `json:"destructive,omitempty"`
	// Whether the editor asks again when the tool is called, in a dialog of its own that
	// cannot be answered by voice.
	Confirms bool `json:"confirms,omitempty"`
}

// ToolsParams is the payload of copilot/tools: the tools that the client's assistant may
// call from the next request on. It replaces the previous list.
type ToolsParams struct {
	Tools List[ToolSpec] `json:"tools"`
}

// CopilotSendParams are the params of copilot/send: one attempt at one round of the
// answer to an utterance. A retry keeps the requestId and increments the attempt
// (INT-005). An answer that called tools continues in the next round, with the results in
// the messages.
type CopilotSendParams struct {
	RequestID string               `json:"requestId"`
	TurnID    string               `json:"turnId"`
	Round     int                  `json:"round,omitempty" jsonschema:"minimum=0"` // absent for the first
	Attempt   int                  `json:"attempt" jsonschema:"minimum=1"`
	Messages  List[CopilotMessage] `json:"messages"` // oldest first
	Tools     []ToolSpec           `json:"tools,omitempty"`
	Model     string               `json:"model,omitempty"` // absent: the client's choice
}

// CopilotStatus is how an attempt ended.
type CopilotStatus string

// The statuses.
const (
	StatusCompleted CopilotStatus = "completed"
	StatusFailed    CopilotStatus = "failed"
	StatusCancelled CopilotStatus = "cancelled"
)

// CopilotStatuses lists every status.
var CopilotStatuses = []CopilotStatus{StatusCompleted, StatusFailed, StatusCancelled}

// AnswerEnd is how an answer ended: whole, or cut off for a reason.
type AnswerEnd string

// The ends. Unknown means that the assistant does not tell.
const (
	EndWhole       AnswerEnd = "whole"
	EndLength      AnswerEnd = "length"      // a limit of its length
	EndTurnLimit   AnswerEnd = "turnLimit"   // the agent's limit of steps
	EndFilter      AnswerEnd = "filter"      // a content filter
	EndStall       AnswerEnd = "stall"       // no more text came
	EndInterrupted AnswerEnd = "interrupted" // by the user or a failure
	EndUnknown     AnswerEnd = "unknown"
)

// AnswerEnds lists every end.
var AnswerEnds = []AnswerEnd{EndWhole, EndLength, EndTurnLimit, EndFilter, EndStall, EndInterrupted, EndUnknown}

// CopilotSendResult ends an attempt, after its last copilot/delta. End is that of a
// completed attempt; absent means unknown.
type CopilotSendResult struct {
	Status CopilotStatus `json:"status"`
	End    AnswerEnd     `json:"end,omitempty"`
	Error  *CopilotError `json:"error,omitempty"` // of a failed attempt
}

// CopilotError is the error type of the Copilot integration contract (conversation
// specification, section 4). Code is a code of this protocol if the client can tell
// (copilotQuota, copilotBlocked and so on); any other code is treated as copilotFailed.
type CopilotError struct {
	Code         string `json:"code"`
	Message      string `json:"message"` // shown to the user, never logged
	Retryable    bool   `json:"retryable"`
	RetryAfterMs int64  `json:"retryAfterMs,omitempty" jsonschema:"minimum=0"` // as requested by the service
}

// CopilotDeltaParams is the payload of copilot/delta: the next piece of an answer. Seq
// counts from 0 in each attempt. A delta without text is a keep-alive.
type CopilotDeltaParams struct {
	RequestID string `json:"requestId"`
	Seq       int64  `json:"seq" jsonschema:"minimum=0"`
	Text      string `json:"text,omitempty"`
}

// CopilotToolCallParams is the payload of copilot/toolCall: the assistant calls a tool.
// The user is asked once the answer is complete. A callId is unique within an answer.
type CopilotToolCallParams struct {
	RequestID   string `json:"requestId"`
	CallID      string `json:"callId"`
	Name        string `json:"name"`
	Input       Any    `json:"input"`
	Destructive *bool  `json:"destructive,omitempty"` // absent: see copilot/tools
	// Whether a setting of the user already allows the call, so that no question is
	// asked. Ignored for calls that are destructive or run a command.
	Allowed bool `json:"allowed,omitempty"`
}

// ToolConfirmingParams is the payload of copilot/toolConfirming: a running call is
// waiting for the user in a dialog of the editor.
type ToolConfirmingParams struct {
	CallID string `json:"callId"`
	// False if the client infers the dialog from the duration of the call.
	Certain bool `json:"certain,omitempty"`
}

// InvokeToolParams are the params of copilot/invokeTool, which runs an approved call
// once.
type InvokeToolParams struct {
	CallID string `json:"callId"`
	Name   string `json:"name"`
	Input  Any    `json:"input"`
	// Hash of the call that was allowed, as in agentvoice.tool. A client that would run
	// another call answers callChanged.
	Hash string `json:"hash"`
}

// InvokeToolResult is the result of a tool. A cancelled call is answered too: with its
// result or with requestCancelled.
type InvokeToolResult struct {
	Content string `json:"content"`
	// The tool failed, which ends the answer.
	IsError bool `json:"isError,omitempty"`
	// The tool did nothing, and content says why. The answer continues, and the call has
	// failed.
	Refused bool `json:"refused,omitempty"`
}

// ApproveToolParams are the params of copilot/approveTool: a click in place of a spoken
// yes or no, for one call.
type ApproveToolParams struct {
	CallID   string `json:"callId"`
	Approved bool   `json:"approved"`
	// Hash of the call that the user saw, from agentvoice.tool. Another one allows nothing:
	// callChanged. A refusal needs none.
	Hash string `json:"hash,omitempty"`
}

// ModelsResult is the result of copilot/models.
type ModelsResult struct {
	Models   List[Model] `json:"models"`
	Selected string      `json:"selected,omitempty"` // id; absent: the adapter's choice
}

// Model is a model of the assistant.
type Model struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Vendor         string `json:"vendor,omitempty"`
	Family         string `json:"family,omitempty"`
	MaxInputTokens int    `json:"maxInputTokens,omitempty"`
}

// SelectModelParams are the params of copilot/selectModel.
type SelectModelParams struct {
	ID string `json:"id"`
}

// CredentialKind is the type of secret that is requested.
type CredentialKind string

// The kinds.
const (
	CredentialAPIKey      CredentialKind = "apiKey"
	CredentialBearerToken CredentialKind = "bearerToken"
	CredentialChatKey     CredentialKind = "chatKey" // the key of the chat endpoint
)

// CredentialKinds lists every kind.
var CredentialKinds = []CredentialKind{CredentialAPIKey, CredentialBearerToken, CredentialChatKey}

// CredentialsParams are the params of credentials/get.
type CredentialsParams struct {
	Provider Provider       `json:"provider"`
	Kind     CredentialKind `json:"kind"`
	// Endpoint is the address that a chatKey is for. A key for another address is not sent to it.
	Endpoint string `json:"endpoint,omitempty"`
}

// CredentialsResult is a secret, which is used but never stored or logged. A client
// without one answers with the error credentialsMissing.
type CredentialsResult struct {
	Value     string    `json:"value"`
	ExpiresAt Timestamp `json:"expiresAt,omitzero"`
}

// String hides the secret from logs.
func (r CredentialsResult) String() string { return "[secret]" }

// GoString hides the secret from logs.
func (r CredentialsResult) GoString() string { return "[secret]" }

// OpenHelpParams are the params of window/openHelp.
type OpenHelpParams struct {
	Code ErrorCode `json:"code"` // the failure
}

// OpenExternalParams are the params of window/openExternal.
type OpenExternalParams struct {
	URL string `json:"url" jsonschema:"format=uri"`
}
