package copilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Role is the role of a message in a prompt (PROTOCOL.md, copilot/send).
type Role string

// The roles of the editor wire.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a prompt, oldest first. Call is the call that a message of
// RoleTool is the result of.
type Message struct {
	Role    Role
	Content string
	// Dictated says that the words of a user's message were recognised from speech, so
	// that names and words may be wrong.
	Dictated bool
	// Cut says that an assistant's message ended before its end.
	Cut    bool
	Call   *ToolCall
	Status CallStatus // how Call ended
}

// CallStatus is how a tool call ended.
type CallStatus string

// The statuses of a call.
const (
	CallRunning   CallStatus = "running"
	CallCompleted CallStatus = "completed"
	CallFailed    CallStatus = "failed"
	CallRejected  CallStatus = "rejected"  // by the user
	CallCancelled CallStatus = "cancelled" // it may still have run
)

// Request is one round of the answer to an utterance. ID is the same for all attempts and
// rounds, so that a receiver can tell a retry from a new question (INT-005).
type Request struct {
	ID       string
	TurnID   string
	Round    int // counts from 0; each round that ends with tool calls starts another
	Attempt  int // 1 for the first
	Messages []Message
	Tools    []Tool // tools that the answer may call; ignored by adapters without tools
	Model    string // "" for the adapter's default
	// Instructions replace the adapter's default for this request; "" keeps it.
	Instructions string
	// ToolChoice is auto, none, required, or the name of a tool, if the requester runs
	// the calls; "" leaves the choice to the adapter.
	ToolChoice string
	MaxTokens  int // maximum length of the answer; 0 for the adapter's default
	// Wants receives each tool call of the answer, in order with the text and on the
	// goroutine that emits it. Nil if no tool can be called.
	Wants func(ToolCall)
	// Used receives the usage reported by the service; nil if not counted.
	Used func(Usage)
	// EndUnknown is called before Send returns nil if the assistant does not say whether
	// its answer is whole; nil where nobody announces it.
	EndUnknown func()
	// Unasked is called when the agent may from now on change things without asking the
	// user, unless the user chose that; nil where nobody announces it.
	Unasked func()
	// Called receives the tool calls that the agent makes by itself, and their changes. It
	// does not block, and may be called on any goroutine and after Send; nil where nobody
	// lists them.
	Called func(OwnCall)
	// Doing receives what the agent does by itself while it answers. It does not block, and
	// may be called on any goroutine and after Send; nil where nobody announces it.
	Doing func(Activity)
}

// Activity is a step of an agent, or the state of its plan. A later report with the same
// ID replaces an earlier one.
type Activity struct {
	ID    string // "" for the plan
	Kind  ActivityKind
	Files []string // that it reads or changes, as far as known
	// Done of All tests have run, or steps of the plan are done; All is 0 if unknown.
	Done, All int
}

// OwnCall is a tool call that an agent makes by itself. A later report with the same ID
// replaces an earlier one.
type OwnCall struct {
	ID     string // unique within the adapter's life
	Name   string // for display
	Status CallStatus
	Asked  bool // the user was asked about it, so that it is also known as a ToolCall
	Reads  bool // it only reads
}

// ActivityKind is the kind of an Activity.
type ActivityKind string

// The kinds of activities.
const (
	Planning  ActivityKind = "plan"
	Reading   ActivityKind = "read"
	Searching ActivityKind = "search"
	Editing   ActivityKind = "edit"
	Running   ActivityKind = "run"
	Fetching  ActivityKind = "fetch"
	Calling   ActivityKind = "call"  // a tool whose purpose is unknown
	Awaiting  ActivityKind = "await" // the rest of an answer that has stopped
)

// Usage is the token usage that a service reports for an answer. Input includes cached
// tokens.
type Usage struct {
	Provider, Model       string
	Input, Cached, Output int64
}

// Tool is a tool that an assistant may call. InputSchema is a JSON Schema.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	// Destructive says whether the tool is irreversible; nil means unknown, which counts
	// as true.
	Destructive *bool
	// Confirms says that the client also asks the user in a dialog of its own.
	Confirms bool
}

// ReasonIn returns the reason that the input of a call gives, in the assistant's own words.
func ReasonIn(input map[string]any) string {
	for _, name := range []string{"reason", "justification", "explanation", "description"} {
		if s, ok := input[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// Adapter sends requests to an assistant. Implementations are safe for concurrent use.
type Adapter interface {
	// Name is the adapter's name on the command line: offline, openai, editor, acp:CMD.
	Name() string
	// Send makes one attempt. It calls emit with each piece of the answer's text, in
	// order and on one goroutine. It returns nil when the answer is complete, the error
	// of ctx when ctx is done, or an *Error when the attempt failed. It does not call
	// emit after it returned. Reasoning is not text of the answer. An *Error with one of the
	// Cut codes says that the answer is not whole, and why.
	Send(ctx context.Context, r Request, emit func(text string)) error
}

// Titled is an adapter of an assistant other than Copilot.
type Titled interface {
	// Title is the assistant's display name, such as "Codex".
	Title() string
}

// Hosted is an adapter whose service is paid by the daemon's user.
type Hosted interface {
	// Hosted returns the service, as in Usage, and the model that answers a request for a
	// model; "" is the default.
	Hosted(model string) (provider, of string)
}

// Caller is an adapter that runs tool calls.
type Caller interface {
	// CallTool runs a call once and returns the tool's result. When wanted is done, it
	// asks the tool to stop if possible, but still waits for it to end, since a call that
	// ran has a result. It stops waiting when ctx is done. ErrCancelled says that the
	// tool stopped; ErrChanged and ErrRefused say that nothing ran; any other error says that the call
	// failed, possibly with a result.
	CallTool(ctx, wanted context.Context, c ToolCall) (result string, err error)
}

// Ender is an adapter that holds resources between the rounds of a request.
type Ender interface {
	// End says that a request has no further rounds. It does not block.
	End(requestID string)
}

// Limiter is an adapter with its own time limit for tool calls.
type Limiter interface {
	// ToolLimit is the time limit of one tool call.
	ToolLimit() time.Duration
}

// Worker is an adapter whose requests are long tasks with many steps.
type Worker interface {
	Limiter
	// MaxRounds is the maximum number of rounds of one request.
	MaxRounds() int
}

// ErrCancelled says that a tool call was asked to stop and did.
var ErrCancelled = errors.New("the call was cancelled")

// Speculative is an adapter whose requests do nothing but answer and call no tool, so that one can
// be sent at a short pause, and thrown away if the user goes on.
type Speculative interface{ MaySpeculate() }

// Loader is an adapter whose models must be loaded before use.
type Loader interface {
	// Load returns when model is loaded or loading failed. It reports progress in
	// percent.
	Load(ctx context.Context, model string, progress func(percent int)) error
}

// Model is a model of an adapter.
type Model struct {
	ID             string
	Name           string // display name
	Vendor, Family string // "" if unknown
	MaxInputTokens int    // 0 if unknown
}

// Lister is an adapter that can list its models.
type Lister interface {
	Models(ctx context.Context) ([]Model, error)
}

// Mode is a way in which an agent works, such as one that only plans.
type Mode struct {
	ID, Name string
	Current  bool
	Asks     bool // known to ask before each step that changes something
}

// Session is an earlier conversation of an agent.
type Session struct{ ID, Title string }

// Agent is an adapter whose agent has modes and sessions of its own. Each method starts
// the agent if it is not running.
type Agent interface {
	// Modes lists the modes; empty if the agent has none.
	Modes(ctx context.Context) ([]Mode, error)
	// SetMode switches to a mode, by its ID.
	SetMode(ctx context.Context, id string) error
	// Sessions lists the earlier sessions in the agent's folder, the latest first; empty
	// if the agent cannot continue one.
	Sessions(ctx context.Context) ([]Session, error)
	// LoadSession continues an earlier session, by its ID. It returns ErrBusy while a
	// request is open.
	LoadSession(ctx context.Context, id string) error
}

// ErrBusy says that the agent has to end a request first.
var ErrBusy = errors.New("the agent is busy; stop it first")

// Summariser is an adapter that can summarise the beginning of a conversation.
type Summariser interface {
	Summarise(ctx context.Context, said []Message) (string, error)
}

// Error is a failed attempt. Code is a code of package csm (copilotFailed, copilotQuota,
// ...). Message is shown to the user, never logged; it may name the service but contains
// no secret and no words of the user.
type Error struct {
	Code      string
	Message   string
	Retryable bool
	// After is the delay before the next attempt that the service requested
	// (Retry-After), 0 for none.
	After time.Duration
}

// The codes of an answer that is not whole, with the text that came or without any.
const (
	CutByLength = "answerCutLength" // the model's length limit
	CutByTurns  = "answerCutTurns"  // the agent's limit of steps
	CutByFilter = "answerCutFilter" // a content filter, after text
	CutOff      = "answerCutOff"    // a failure, after text
)

// Notes follow a message in the prompt of an assistant that has no field for them.
const (
	DictatedNote = "[The words above were dictated. Speech recognition wrote them, so some may be misheard.]"
	CutNote      = "[This answer was cut off before its end.]"
)

// Noted returns the content of the message with its notes.
func (m Message) Noted() string {
	switch {
	case m.Dictated:
		return m.Content + "\n\n" + DictatedNote
	case m.Cut:
		return m.Content + "\n\n" + CutNote
	}
	return m.Content
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }
