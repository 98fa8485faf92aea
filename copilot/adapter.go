package copilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Role of a message in a prompt (PROTOCOL.md, copilot/send).
type Role string

// The roles of the editor wire.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a prompt, oldest first. Call is what a message of
// RoleTool is the outcome of.
type Message struct {
	Role    Role
	Content string
	Call    *ToolCall
	Status  CallStatus // of Call
}

// CallStatus is how a call of a tool ended.
type CallStatus string

// The ends of a call.
const (
	CallCompleted CallStatus = "completed"
	CallFailed    CallStatus = "failed"
	CallRejected  CallStatus = "rejected"  // by the user
	CallCancelled CallStatus = "cancelled" // it may have run all the same
)

// Request asks an assistant for one round of one answer to one utterance. ID
// stays the same over all attempts and rounds, so that a receiver can tell a
// retry from a second question (INT-005).
type Request struct {
	ID       string
	TurnID   string
	Round    int // 0 for the first, and one more after each that ended with calls of tools
	Attempt  int // 1 for the first
	Messages []Message
	Tools    []Tool // that the answer may ask for; an adapter without tools leaves them out
	Model    string // "" for the adapter's own
	// Instructions replace the adapter's own for this request; "" keeps those.
	Instructions string
	// ToolChoice is auto, none, required, or the name of the tool to call, where the
	// requester carries out the calls; "" leaves that to the adapter.
	ToolChoice string
	MaxTokens  int // of the answer; 0 leaves that to the adapter
	// Wants takes each call of a tool that the answer asks for, in its order with
	// the text and on the goroutine that emits it. Nil where no tool can be called.
	Wants func(ToolCall)
	// Used takes what the service says that the attempt used; nil where nobody counts.
	Used func(Usage)
}

// Usage is what a service says that an answer used, in tokens. Input holds the cached
// ones.
type Usage struct {
	Provider, Model       string
	Input, Cached, Output int64
}

// Tool is something that an assistant may ask for. InputSchema is a JSON Schema.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	// Destructive says whether it is irreversible; nil is not
	// known, and taken for yes.
	Destructive *bool
	// Confirms says that the client's own dialog asks the user once more.
	Confirms bool
}

// ToolCall is one call of a tool. ID is the name that the assistant gave it.
type ToolCall struct {
	ID          string
	Name        string
	Input       json.RawMessage
	Destructive *bool // as in Tool; nil leaves it to the tool of that name
	Allowed     bool  // beforehand, by a setting of the user: no question is needed
}

// Adapter hands requests to an assistant. Implementations are safe for
// concurrent use.
type Adapter interface {
	// Name is the adapter's name on the command line: offline, openai, editor, acp:CMD.
	Name() string
	// Send makes one attempt. It calls emit with each piece of the answer's
	// text, in order, on one goroutine, and returns when the answer is whole
	// (nil), when ctx is done (its error) or when the attempt failed (an
	// *Error). emit is not called after Send returned.
	Send(ctx context.Context, r Request, emit func(text string)) error
}

// Titled is an adapter that is not Copilot's.
type Titled interface {
	// Title is who answers, by its name for people, such as "Codex".
	Title() string
}

// Caller is an adapter that carries out calls of tools.
type Caller interface {
	// CallTool carries out a call, once, and returns what the tool answered. When
	// wanted is done it has the tool stop if that is possible, and waits for its
	// end all the same: what ran has a result. It gives up waiting when ctx is
	// done. ErrCancelled says that the tool stopped, every other error that the
	// call failed; there may be a result beside it.
	CallTool(ctx, wanted context.Context, c ToolCall) (result string, err error)
}

// Ender is an adapter that keeps something open between the rounds of a request.
type Ender interface {
	// End says that no further round of a request follows. It does not block.
	End(requestID string)
}

// Limiter is an adapter with a limit of its own for calls of tools.
type Limiter interface {
	// ToolLimit is how long one call of a tool may take.
	ToolLimit() time.Duration
}

// Worker is an adapter whose requests are tasks, of many steps that take long.
type Worker interface {
	Limiter
	// MaxRounds is how many rounds one request may have.
	MaxRounds() int
}

// ErrCancelled says that a call of a tool was told to stop, and did.
var ErrCancelled = errors.New("the call was cancelled")

// Loader is an adapter whose models have to be loaded before they can answer.
type Loader interface {
	// Load returns when model is loaded, or cannot be. progress says how much of it
	// is, in percent.
	Load(ctx context.Context, model string, progress func(percent int)) error
}

// Model is a model of an adapter.
type Model struct {
	ID             string
	Name           string // for people
	Vendor, Family string // "" where they are not known
	MaxInputTokens int    // 0 where it is not known
}

// Lister is an adapter that can say which models it has.
type Lister interface {
	Models(ctx context.Context) ([]Model, error)
}

// Summariser is an adapter that puts the beginning of a conversation into few
// words.
type Summariser interface {
	Summarise(ctx context.Context, said []Message) (string, error)
}

// Error is a failed attempt. Code is one of the closed list in package csm
// (copilotFailed, copilotQuota, ...); Message may name the service and is shown
// to the user, never logged; it holds no secret and no words of the user.
type Error struct {
	Code      string
	Message   string
	Retryable bool
	// After is the service's own wish for the pause before the next attempt, 0
	// for none (Retry-After).
	After time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }
