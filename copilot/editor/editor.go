// Package editor is the adapter for the editor's assistant: the daemon's client, by
// copilot/send (the protocol, section 2).
//
// # Model
//
// Send calls copilot/send and waits for its result. The answer's text arrives separately
// as copilot/delta notifications, and tool calls as copilot/toolCall; the daemon's RPC
// reader passes both to HandleDelta and HandleToolCall. The client runs approved tools on
// copilot/invokeTool.
//
// # Ordering
//
// The client writes its deltas before its result, on one stream. To keep that order, the
// reader must have called HandleDelta for each notification before it lets a Call that
// waits for a later response return. HandleDelta and HandleToolCall must therefore be
// called on the reader's goroutine; they only store the message and never wait for the
// consumer.
//
// # Invariants
//
//   - The emitted text is a prefix of what the client sent, without reasoning, in the order
//     of seq. A
//     repeated delta, or one of an unknown answer, is dropped and counted. A gap fails
//     the attempt, since an incomplete answer must not be spoken.
//   - Send returns after its Call has returned: no goroutine outlives it.
package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/reasoning"
)

const (
	methodSend = "copilot/send"
	// maxAnswer bounds the memory of one answer, in bytes.
	maxAnswer = 4 << 20
	// maxCalls bounds the tool calls of one round.
	maxCalls = 64
)

// Caller sends requests to the client. Call returns with the response, when the
// connection is lost, or promptly after ctx is done; it then sends $/cancelRequest.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
	// Await is like Call, except that when wanted is done it cancels the request but
	// keeps waiting for the response.
	Await(ctx, wanted context.Context, method string, params, result any) error
}

// Stats counts deltas since New.
type Stats struct {
	Accepted  uint64
	Merged    uint64 // deltas without text that were merged into a queued one
	Repeated  uint64 // deltas whose seq was already received
	Gaps      uint64 // deltas that were missing
	Strangers uint64 // deltas of an unknown or ended answer
	Malformed uint64
	// ToolCalls counts accepted calls. ToolCallsDropped counts calls that were repeated,
	// of an unknown answer, without an id or name, or made without tools being offered.
	ToolCalls        uint64
	ToolCallsDropped uint64
}

// Adapter implements copilot.Adapter over a Caller. It is safe for concurrent use.
type Adapter struct {
	caller Caller
	models reasoning.Source

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

// answer is one attempt in progress. Its fields are guarded by Adapter.mu.
type answer struct {
	next   int64   // next expected seq
	queue  []piece // not emitted yet
	bytes  int
	wanted map[string]bool // ids of its calls; nil if calls cannot be run
	broken *copilot.Error  // set once; nothing is accepted afterwards
	wake   chan struct{}   // buffered: queue or broken changed
}

// piece is a piece of an answer: text or a tool call.
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
	Role     copilot.Role       `json:"role"`
	Content  string             `json:"content"`
	Dictated bool               `json:"dictated,omitempty"`
	Cut      bool               `json:"cut,omitempty"`
	CallID   string             `json:"callId,omitempty"`
	Name     string             `json:"name,omitempty"`
	Input    json.RawMessage    `json:"input,omitempty"`
	Status   copilot.CallStatus `json:"status,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Destructive *bool           `json:"destructive,omitempty"`
	Confirms    bool            `json:"confirms,omitempty"`
}

// paramsOf converts a request to its wire format.
func paramsOf(r copilot.Request) sendParams {
	p := sendParams{RequestID: r.ID, TurnID: r.TurnID, Round: r.Round, Attempt: r.Attempt, Messages: []message{}, Model: r.Model}
	for _, m := range r.Messages {
		on := message{Role: m.Role, Content: m.Content, Dictated: m.Dictated, Cut: m.Cut}
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
	End    string     `json:"end"`
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

// HandleDelta handles the params of one copilot/delta notification, in the order of the
// wire (see Ordering in the package doc). It never blocks. The error is a *Gap, or says
// that the params are malformed without quoting them.
func (a *Adapter) HandleDelta(params json.RawMessage) error {
	var d deltaParams
	err := json.Unmarshal(params, &d)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil || d.RequestID == "" || d.Seq == nil || *d.Seq < 0 {
		a.stats.Malformed++
		if ans := a.live[d.RequestID]; ans != nil {
			ans.broken = failed("the editor sent a part of the answer without seq, which counts from 0")
			ans.stir()
		}
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
		ans.broken = failed("part of the editor's answer was lost in transit")
		err = &Gap{RequestID: d.RequestID, Expected: ans.next, Received: *d.Seq}
	case ans.bytes+len(d.Text) > maxAnswer:
		ans.broken = &copilot.Error{Code: copilot.CutByLength, Message: "the editor's answer is too long"}
	default:
		a.stats.Accepted++
		ans.next++
		ans.bytes += len(d.Text)
		if d.Text == "" && len(ans.queue) > 0 {
			a.stats.Merged++ // one keep-alive is enough
			return nil
		}
		ans.queue = append(ans.queue, piece{text: d.Text})
	}
	ans.stir()
	return err
}

// Gap reports that a delta is missing before the received one.
type Gap struct {
	RequestID          string
	Expected, Received int64
}

func (g *Gap) Error() string {
	return fmt.Sprintf("copilot/delta of request %s: expected seq %d, received %d", g.RequestID, g.Expected, g.Received)
}

func (ans *answer) stir() {
	select {
	case ans.wake <- struct{}{}:
	default:
	}
}

// Send implements copilot.Adapter. It passes on deltas without text, as keep-alives.
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

	spoke, filter := false, a.models.New(r.Model)
	say := func(text string) {
		emit(text)
		spoke = spoke || text != ""
	}
	take := func(p piece) {
		if p.call != nil {
			r.Wants(*p.call)
			spoke = true
		} else {
			say(filter.Push(p.text))
		}
	}
	for {
		select {
		case err := <-ended:
			// All deltas before the result are in the queue now.
			broken := a.drain(ctx, ans, take)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if rest := filter.End(err == nil && broken == nil && result.whole()); rest != "" {
				say(rest)
			}
			if result.unknown() && r.EndUnknown != nil {
				r.EndUnknown()
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
		return nil, failed("a previous attempt of this request is still running in the editor")
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

// drain empties the queue and returns the error that broke the answer, if any. It stops
// as soon as ctx is done.
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

// outcome converts the end of the call to Send's error.
func outcome(result sendResult, callErr error, broken *copilot.Error, spoke bool) error {
	switch {
	case broken != nil:
		return final(broken, spoke)
	case callErr != nil:
		return final(callFailure(callErr), spoke)
	case result.Status == "completed" && result.cut(spoke) != nil:
		return result.cut(spoke)
	case result.Status == "completed" && !spoke:
		return &copilot.Error{Code: codeEmpty, Message: "the editor's assistant gave an empty answer", Retryable: true}
	case result.Status == "completed":
		return nil
	case result.Status == "cancelled":
		return cancelled
	}
	return final(clientFailure(result.Error), spoke)
}
