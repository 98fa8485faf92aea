package copilot

import (
	"context"
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

// Message is one entry of a prompt, oldest first.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Request asks an assistant for one answer to one utterance. ID stays the same
// over all attempts, so that a receiver can tell a retry from a second question
// (INT-005).
type Request struct {
	ID       string
	TurnID   string
	Attempt  int // 1 for the first
	Messages []Message
}

// Adapter hands requests to an assistant. Implementations are safe for
// concurrent use.
type Adapter interface {
	// Name is the adapter's name on the command line: offline, openai, editor.
	Name() string
	// Send makes one attempt. It calls emit with each piece of the answer's
	// text, in order, on one goroutine, and returns when the answer is whole
	// (nil), when ctx is done (its error) or when the attempt failed (an
	// *Error). emit is not called after Send returned.
	Send(ctx context.Context, r Request, emit func(text string)) error
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
