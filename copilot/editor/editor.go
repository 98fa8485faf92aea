// Package editor is the adapter that asks the assistant of the editor: the
// client of the daemon, by copilot/send (the protocol, section 2).
//
// # Model
//
// Send calls copilot/send and waits for its result. The words of the answer come
// beside it, as copilot/delta notifications, which the daemon's RPC reader hands
// to HandleDelta.
//
// # Ordering
//
// The client writes its deltas before its result, on one stream. The end cannot
// overtake them if the reader keeps that order: it must have called HandleDelta
// for each notification before it lets a Call that waits for a later response
// return. So HandleDelta is to be called on the reader's own goroutine; it only
// stores the delta and never waits for the one who consumes the answer.
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
	"sync"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

const (
	methodSend = "copilot/send"
	// maxAnswer bounds in bytes what one answer can make the daemon hold.
	maxAnswer = 4 << 20
)

// Caller sends requests to the client. Call returns when the response is there,
// when the connection is gone, or promptly after ctx was done; in that case it
// tells the client by $/cancelRequest.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Stats counts deltas since New.
type Stats struct {
	Accepted  uint64
	Repeated  uint64 // seq was there before
	Gaps      uint64 // seq came too early: a delta is missing
	Strangers uint64 // of no live answer: unknown, or ended before
	Malformed uint64
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
	next   int64    // seq that comes next
	queue  []string // not emitted yet
	bytes  int
	broken *copilot.Error // set once: nothing more is taken
	wake   chan struct{}  // buffered: queue or broken changed
}

type sendParams struct {
	RequestID string            `json:"requestId"`
	TurnID    string            `json:"turnId"`
	Attempt   int               `json:"attempt"`
	Messages  []copilot.Message `json:"messages"`
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
// of the wire (see the package's Ordering). It never blocks. An error says that
// the params have not the right shape; it holds nothing of them.
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
	case ans.bytes+len(d.Text) > maxAnswer:
		ans.broken = failed("the editor's answer is too long")
	default:
		a.stats.Accepted++
		ans.next++
		ans.bytes += len(d.Text)
		ans.queue = append(ans.queue, d.Text)
	}
	select {
	case ans.wake <- struct{}{}:
	default:
	}
	return nil
}

// Send implements copilot.Adapter. A delta without text is passed on: it is a
// sign of life.
func (a *Adapter) Send(ctx context.Context, r copilot.Request, emit func(text string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ans, err := a.open(r.ID)
	if err != nil {
		return err
	}
	defer a.close(r.ID)

	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	params := sendParams{RequestID: r.ID, TurnID: r.TurnID, Attempt: r.Attempt, Messages: r.Messages}
	if params.Messages == nil {
		params.Messages = []copilot.Message{}
	}
	var result sendResult
	ended := make(chan error, 1)
	go func() { ended <- a.caller.Call(callCtx, methodSend, params, &result) }()

	spoke := false
	for {
		select {
		case err := <-ended:
			// What came before the result is in the queue by now.
			broken := a.drain(ctx, ans, emit, &spoke)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return outcome(result, err, broken, spoke)
		case <-ans.wake:
			if broken := a.drain(ctx, ans, emit, &spoke); broken != nil {
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

func (a *Adapter) open(id string) (*answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[id] != nil {
		return nil, failed("the editor is still answering this request")
	}
	ans := &answer{wake: make(chan struct{}, 1)}
	a.live[id] = ans
	return ans, nil
}

func (a *Adapter) close(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.live, id)
}

// drain emits what is in the queue and returns what broke the answer, if
// anything did. It stops as soon as ctx is done.
func (a *Adapter) drain(ctx context.Context, ans *answer, emit func(string), spoke *bool) *copilot.Error {
	a.mu.Lock()
	queue, broken := ans.queue, ans.broken
	ans.queue = nil
	a.mu.Unlock()
	for _, text := range queue {
		if ctx.Err() != nil {
			break
		}
		emit(text)
		*spoke = *spoke || text != ""
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
		return failed("the request was cancelled in the editor")
	case result.Status == "failed":
		return final(clientFailure(result.Error), spoke)
	}
	return failed("the editor ended the request with an unknown status")
}
