package protocol

// The ids of the assistants that are not agents. Those of the others begin with AgentPrefix,
// or with ChatAssistant and a colon.
const (
	EditorAssistant  = "copilot" // the client's own
	ChatAssistant    = "openai"  // a chat endpoint, with agentvoice.chat.model
	OfflineAssistant = "offline"
	AgentPrefix      = "acp:"
)

// AssistantsParams are the params of assistant/list.
type AssistantsParams struct {
	// Check is the id of an assistant to try: an agent is started and opens a session, a chat
	// endpoint lists its models. That takes up to 45 s, and sends no message.
	Check string `json:"check,omitempty"`
}

// AssistantsResult is the result of assistant/list.
type AssistantsResult struct {
	Assistants List[Assistant] `json:"assistants"`
	Selected   string          `json:"selected"` // id
}

// Assistant is one that can be chosen to answer.
type Assistant struct {
	// ID is `copilot`, `acp:` with the command of an agent, `openai:` with a model, or `offline`.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Found says that it is installed, or has an address.
	Found bool `json:"found"`
	// Ready is the outcome of the check; absent for one that was not checked, and for the
	// client's own, which only the client can check.
	Ready   *bool     `json:"ready,omitempty"`
	Code    ErrorCode `json:"code,omitempty"`   // why it is not ready
	Reason  string    `json:"reason,omitempty"` // Code in the user's language
	Where   string    `json:"where,omitempty"`  // its program or address
	Install string    `json:"install,omitempty"`
	SignIn  string    `json:"signIn,omitempty"`
	Page    string    `json:"page,omitempty"` // of its makers
}

// SelectAssistantParams are the params of assistant/select.
type SelectAssistantParams struct {
	ID string `json:"id"`
}
