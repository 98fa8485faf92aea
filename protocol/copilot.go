package protocol

// MessageRole is who said a message of a prompt.
type MessageRole string

// The roles of a prompt.
const (
	MessageUser      MessageRole = "user"
	MessageAssistant MessageRole = "assistant"
	MessageTool      MessageRole = "tool"
)

// MessageRoles lists every role of a prompt.
var MessageRoles = []MessageRole{MessageUser, MessageAssistant, MessageTool}

// CopilotMessage is one entry of a prompt. One of the role tool is the outcome of
// a call: CallID, Name and Input say of which, Status how it ended.
type CopilotMessage struct {
	Role    MessageRole `json:"role"`
	Content string      `json:"content"`
	CallID  string      `json:"callId,omitempty"`
	Name    string      `json:"name,omitempty"`
	Input   Any         `json:"input,omitempty"`
	Status  ToolStatus  `json:"status,omitempty"`
}

// ToolSpec offers a tool to the assistant. InputSchema is a JSON Schema.
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema Any    `json:"inputSchema,omitempty"`
	// Whether it is irreversible: a spoken yes then has to name the action. Absent
	// means true.
	Destructive *bool `json:"destructive,omitempty"`
	// Whether the editor asks the user once more when the tool is called, in a
	// dialog of its own that no voice can answer.
	Confirms bool `json:"confirms,omitempty"`
}

// ToolsParams is the payload of copilot/tools: what the client's assistant may
// ask for from the next request on. It replaces the list before it.
type ToolsParams struct {
	Tools List[ToolSpec] `json:"tools"`
}

// CopilotSendParams of copilot/send: one attempt at one round of one answer to one
// utterance. A retry has the same requestId and the next attempt (INT-005). An
// answer that asked for tools continues in the next round, with their outcomes in
// the messages.
type CopilotSendParams struct {
	RequestID string               `json:"requestId"`
	TurnID    string               `json:"turnId"`
	Round     int                  `json:"round,omitempty" jsonschema:"minimum=0"` // absent: the first
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

// CopilotSendResult ends an attempt, after its last copilot/delta.
type CopilotSendResult struct {
	Status CopilotStatus `json:"status"`
	Error  *CopilotError `json:"error,omitempty"` // of a failed one
}

// CopilotError is that of the Copilot integration contract (conversation
// specification, section 4). Code is one of the codes of this protocol
// where the client can tell (copilotQuota, copilotBlocked and so on); any other
// is taken for copilotFailed.
type CopilotError struct {
	Code         string `json:"code"`
	Message      string `json:"message"` // for the user; never logged
	Retryable    bool   `json:"retryable"`
	RetryAfterMs int64  `json:"retryAfterMs,omitempty" jsonschema:"minimum=0"` // what the service asked for
}

// CopilotDeltaParams is the payload of copilot/delta: the next piece of an
// answer. Seq counts from 0 in each attempt. No text is a sign of life.
type CopilotDeltaParams struct {
	RequestID string `json:"requestId"`
	Seq       int64  `json:"seq" jsonschema:"minimum=0"`
	Text      string `json:"text,omitempty"`
}

// CopilotToolCallParams is the payload of copilot/toolCall: the assistant wants
// a tool. The user is asked when the answer's end is there. A callId names one call
// of one answer.
type CopilotToolCallParams struct {
	RequestID   string `json:"requestId"`
	CallID      string `json:"callId"`
	Name        string `json:"name"`
	Input       Any    `json:"input"`
	Destructive *bool  `json:"destructive,omitempty"` // absent: as in copilot/tools
	// Whether the user allowed such calls beforehand, in a setting: then nobody is
	// asked about this one. It does not count for one that is destructive or runs a
	// command.
	Allowed bool `json:"allowed,omitempty"`
}

// ToolConfirmingParams is the payload of copilot/toolConfirming: a call that runs
// waits for the user in a dialog of the editor.
type ToolConfirmingParams struct {
	CallID string `json:"callId"`
	// False where the client only guesses, since the call takes long.
	Certain bool `json:"certain,omitempty"`
}

// InvokeToolParams of copilot/invokeTool: run an approved call, once.
type InvokeToolParams struct {
	CallID string `json:"callId"`
	Name   string `json:"name"`
	Input  Any    `json:"input"`
}

// InvokeToolResult is what a tool answered. A call that was cancelled is answered
// too: with what it brought, or with requestCancelled.
type InvokeToolResult struct {
	Content string `json:"content"`
	IsError bool   `json:"isError,omitempty"`
}

// ApproveToolParams of copilot/approveTool: a click instead of a spoken yes or
// no, for this one call.
type ApproveToolParams struct {
	CallID   string `json:"callId"`
	Approved bool   `json:"approved"`
}

// ModelsResult of copilot/models.
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

// SelectModelParams of copilot/selectModel.
type SelectModelParams struct {
	ID string `json:"id"`
}

// CredentialKind is what sort of secret is asked for.
type CredentialKind string

// The kinds.
const (
	CredentialAPIKey      CredentialKind = "apiKey"
	CredentialBearerToken CredentialKind = "bearerToken"
)

// CredentialKinds lists every kind.
var CredentialKinds = []CredentialKind{CredentialAPIKey, CredentialBearerToken}

// CredentialsParams of credentials/get.
type CredentialsParams struct {
	Provider Provider       `json:"provider"`
	Kind     CredentialKind `json:"kind"`
}

// CredentialsResult is a secret: used, never stored or logged. A client without
// one answers with the error credentialsMissing.
type CredentialsResult struct {
	Value     string    `json:"value"`
	ExpiresAt Timestamp `json:"expiresAt,omitzero"`
}

// String hides the secret from logs.
func (r CredentialsResult) String() string { return "[secret]" }

// GoString hides the secret from logs.
func (r CredentialsResult) GoString() string { return "[secret]" }

// OpenHelpParams of window/openHelp.
type OpenHelpParams struct {
	Code ErrorCode `json:"code"` // of the failure
}

// OpenExternalParams of window/openExternal.
type OpenExternalParams struct {
	URL string `json:"url" jsonschema:"format=uri"`
}
