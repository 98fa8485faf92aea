// Package editor is the adapter that asks the assistant of the editor: the
// client of the daemon, by copilot/send (the protocol, section 2).
//
// # Model
//
// Send calls copilot/send and waits for its result. The words of the answer come
// beside it, as copilot/delta notifications, and the tools it asks for as
// copilot/toolCall, which the daemon's RPC reader hands to HandleDelta and
// HandleToolCall. A tool that the user allowed is run by the client, on
// copilot/invokeTool.
//
// # Ordering
//
// The client writes its deltas before its result, on one stream. The end cannot
// overtake them if the reader keeps that order: it must have called HandleDelta
// for each notification before it lets a Call that waits for a later response
// return. So HandleDelta and HandleToolCall are to be called on the reader's own
// goroutine; they only store what came and never wait for the one who consumes
// the answer.
//
// # Invariants
//
//   - The text that is emitted is a beginning of what the client sent, in the
//     order of seq. A repeated delta, or one of an answer that is not live, is
//     dropped and counted; a gap fails the attempt, since an answer with a hole
//     in it must not be spoken.
//   - Send returns after its Call has returned: no goroutine outlives it.
package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

const (
	methodSend = "copilot/send"
	// maxAnswer bounds in bytes what one answer can make the daemon hold.
	maxAnswer = 4 << 20
	// maxCalls bounds how many tools one round may ask for.
	maxCalls = 64
)

// Caller sends requests to the client. Call returns when the response is there,
// when the connection is gone, or promptly after ctx was done; in that case it
// tells the client by $/cancelRequest.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
	// Await is Call, but that when wanted is done it tells the client, and continues
	// waiting for the response.
	Await(ctx, wanted context.Context, method string, params, result any) error
}

// Stats counts deltas since New.
type Stats struct {
	Accepted  uint64
	Merged    uint64 // of them, without text and behind another that waits
	Repeated  uint64 // seq was there before
	Gaps      uint64 // seq came too early: a delta is missing
	Strangers uint64 // of no live answer: unknown, or ended before
	Malformed uint64
	// ToolCalls were accepted; ToolCallsDropped were repeated, of no live answer,
	// without an id or a name, or came where none were offered.
	ToolCalls        uint64
	ToolCallsDropped uint64
}

// Adapter implements copilot.Adapter over a Caller. It is safe for concurrent use.
type Adapter struct {
	caller Caller

	mu    sync.Mutex
	live  map[string]*answer // by request id
	stats Stats
}

// New returns an adapter that asks through caller.
func New(caller Caller) *Adapter {
	return &Adapter{caller: caller, live: map[string]*answer{}}
}

// Name returns "editor".
func (*Adapter) Name() string { return "editor" }

// Stats returns the counts so far.
func (a *Adapter) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stats
}

// answer is one attempt under way, from Send to its return. Its fields belong to
// Adapter.mu.
type answer struct {
	next   int64   // seq that comes next
	queue  []piece // not emitted yet
	bytes  int
	wanted map[string]bool // calls that it asked for; nil where none can be carried out
	broken *copilot.Error  // set once: nothing more is taken
	wake   chan struct{}   // buffered: queue or broken changed
}

// piece is what an answer consists of: text, or a call of a tool.
type piece struct {
	text string
	call *copilot.ToolCall
}

type sendParams struct {
	RequestID string    `json:"requestId"`
	TurnID    string    `json:"turnId"`
	Round     int       `json:"round,omitempty"`
	Attempt   int       `json:"attempt"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
	Model     string    `json:"model,omitempty"`
}

type message struct {
	Role    copilot.Role       `json:"role"`
	Content string             `json:"content"`
	CallID  string             `json:"callId,omitempty"`
	Name    string             `json:"name,omitempty"`
	Input   json.RawMessage    `json:"input,omitempty"`
	Status  copilot.CallStatus `json:"status,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Destructive *bool           `json:"destructive,omitempty"`
	Confirms    bool            `json:"confirms,omitempty"`
}

// paramsOf is a request as the wire has it.
func paramsOf(r copilot.Request) sendParams {
	p := sendParams{RequestID: r.ID, TurnID: r.TurnID, Round: r.Round, Attempt: r.Attempt, Messages: []message{}, Model: r.Model}
	for _, m := range r.Messages {
		on := message{Role: m.Role, Content: m.Content}
		if m.Call != nil {
			on.CallID, on.Name, on.Input, on.Status = m.Call.ID, m.Call.Name, m.Call.Input, m.Status
		}
		p.Messages = append(p.Messages, on)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, tool(t))
	}
	return p
}

type sendResult struct {
	Status string     `json:"status"`
	Error  *sendError `json:"error"`
}

type sendError struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	Retryable    bool   `json:"retryable"`
	RetryAfterMs int64  `json:"retryAfterMs"`
}

type deltaParams struct {
	RequestID string `json:"requestId"`
	Seq       *int64 `json:"seq"`
	Text      string `json:"text"`
}

// HandleDelta takes the params of one copilot/delta notification, in the order
// of the wire (see the package's Ordering). It never blocks. An error is a *Gap, or
// says that the params have the wrong shape; then it holds nothing of them.
func (a *Adapter) HandleDelta(params json.RawMessage) error {
	var d deltaParams
	err := json.Unmarshal(params, &d)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil || d.RequestID == "" || d.Seq == nil || *d.Seq < 0 {
		a.stats.Malformed++
		return errors.New("copilot/delta: want requestId (a string), seq (0 or more) and text (a string)")
	}
	ans := a.live[d.RequestID]
	switch {
	case ans == nil || ans.broken != nil:
		a.stats.Strangers++
		return nil
	case *d.Seq < ans.next:
		a.stats.Repeated++
		return nil
	case *d.Seq > ans.next:
		a.stats.Gaps++
		ans.broken = failed("part of the editor's answer was lost on the way")
		err = &Gap{RequestID: d.RequestID, Expected: ans.next, Received: *d.Seq}
	case ans.bytes+len(d.Text) > maxAnswer:
		ans.broken = failed("the editor's answer is too long")
	default:
		a.stats.Accepted++
		ans.next++
		ans.bytes += len(d.Text)
		if d.Text == "" && len(ans.queue) > 0 {
			a.stats.Merged++ // one sign of life is as good as many
			return nil
		}
		ans.queue = append(ans.queue, piece{text: d.Text})
	}
	ans.stir()
	return err
}

// Gap is the error of a delta whose seq is not the next one: a delta is missing.
type Gap struct {
	RequestID          string
	Expected, Received int64
}

func (g *Gap) Error() string {
	return fmt.Sprintf("copilot/delta of request %s: seq %d was expected, %d came", g.RequestID, g.Expected, g.Received)
}

func (ans *answer) stir() {
	select {
	case ans.wake <- struct{}{}:
	default:
	}
}

// Send implements copilot.Adapter. A delta without text is passed on: it is a
// sign of life.
func (a *Adapter) Send(ctx context.Context, r copilot.Request, emit func(text string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ans, err := a.open(r.ID, r.Wants != nil)
	if err != nil {
		return err
	}
	defer a.close(r.ID)

	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var result sendResult
	ended := make(chan error, 1)
	go func() { ended <- a.caller.Call(callCtx, methodSend, paramsOf(r), &result) }()

	spoke := false
	take := func(p piece) {
		if p.call != nil {
			r.Wants(*p.call)
		} else {
			emit(p.text)
		}
		spoke = spoke || p.call != nil || p.text != ""
	}
	for {
		select {
		case err := <-ended:
			// What came before the result is in the queue by now.
			broken := a.drain(ctx, ans, take)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return outcome(result, err, broken, spoke)
		case <-ans.wake:
			if broken := a.drain(ctx, ans, take); broken != nil {
				cancel()
				<-ended
				return final(broken, spoke)
			}
		case <-ctx.Done():
			<-ended
			return ctx.Err()
		}
	}
}

func (a *Adapter) open(id string, tools bool) (*answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[id] != nil {
		return nil, failed("the editor is still answering this request")
	}
	ans := &answer{wake: make(chan struct{}, 1)}
	if tools {
		ans.wanted = map[string]bool{}
	}
	a.live[id] = ans
	return ans, nil
}

func (a *Adapter) close(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.live, id)
}

// drain takes what is in the queue and returns what broke the answer, if
// anything did. It stops as soon as ctx is done.
func (a *Adapter) drain(ctx context.Context, ans *answer, take func(piece)) *copilot.Error {
	a.mu.Lock()
	queue, broken := ans.queue, ans.broken
	ans.queue = nil
	a.mu.Unlock()
	for _, p := range queue {
		if ctx.Err() != nil {
			break
		}
		take(p)
	}
	return broken
}

// outcome turns the end of the call into Send's error.
func outcome(result sendResult, callErr error, broken *copilot.Error, spoke bool) error {
	switch {
	case broken != nil:
		return final(broken, spoke)
	case callErr != nil:
		return final(callFailure(callErr), spoke)
	case result.Status == "completed" && !spoke:
		return &copilot.Error{Code: codeEmpty, Message: "the editor's assistant gave an empty answer", Retryable: true}
	case result.Status == "completed":
		return nil
	case result.Status == "cancelled":
		return cancelled
	}
	return final(clientFailure(result.Error), spoke)
}
