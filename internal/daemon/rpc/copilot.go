package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/editor"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/logid"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// asker asks the client: it is the Caller of the editor's adapter, and that
// adapter as the daemon sees it. It keeps track of what it waits for, so that
// virtual time stands still while an answer is on its way through this process.
type asker struct {
	*editor.Adapter
	s       *server
	lastID  atomic.Uint64
	stirred chan struct{}

	mu       sync.Mutex
	attempts map[string]*attempt      // by request id
	asked    map[jsonrpc2.ID]*attempt // by the call's
}

// attempt is one run of Send. Its fields belong to asker.mu.
type attempt struct {
	asked   bool // copilot/send is in the outbox
	over    bool // the answer came, or cannot come any more
	pending int  // deltas that were received and not emitted yet
}

var (
	_ copilot.Adapter = (*asker)(nil)
	_ daemon.Waiter   = (*asker)(nil)
	_ editor.Caller   = (*asker)(nil)
)

func newAsker(s *server) *asker {
	a := &asker{s: s, stirred: make(chan struct{}, 1), attempts: map[string]*attempt{}, asked: map[jsonrpc2.ID]*attempt{}}
	a.Adapter = editor.New(a)
	return a
}

type attemptKey struct{}

// Send implements copilot.Adapter.
func (a *asker) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	at := &attempt{}
	a.change(func() { a.attempts[r.ID] = at })
	defer a.change(func() { delete(a.attempts, r.ID) })
	return a.Adapter.Send(context.WithValue(ctx, attemptKey{}, at), r, func(text string) {
		emit(text)
		a.change(func() { at.pending-- })
	})
}

func (a *asker) change(f func()) {
	a.mu.Lock()
	f()
	a.mu.Unlock()
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

// Waits implements daemon.Waiter: the client was asked, and everything that came
// of it was handed on.
func (a *asker) Waits(requestID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.attempts[requestID]
	return at != nil && at.asked && !at.over && at.pending == 0
}

// Stirred implements daemon.Waiter.
func (a *asker) Stirred() <-chan struct{} { return a.stirred }

// answered notes that the answer to a call came; its result is delivered after
// that.
func (a *asker) answered(id jsonrpc2.ID) {
	a.change(func() {
		if at := a.asked[id]; at != nil {
			at.over = true
		}
	})
}

// Call implements editor.Caller. A request that is no longer wanted is cancelled
// at the client.
func (a *asker) Call(ctx context.Context, method string, params, result any) error {
	conn := a.s.conn
	id := jsonrpc2.ID{Num: a.lastID.Add(1)}
	at, _ := ctx.Value(attemptKey{}).(*attempt)
	if at != nil {
		a.change(func() { a.asked[id] = at })
		defer a.change(func() { delete(a.asked, id) })
	}
	if method == protocol.MethodCopilotSend {
		params = a.withModel(params)
	}
	wait, err := conn.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		return err
	}
	if stage := a.s.stage(); stage != nil {
		stage.Asked(method)
	}
	if at != nil {
		a.change(func() { at.asked = true })
	}
	err = wait.Wait(ctx, result)
	if ctx.Err() != nil {
		_ = conn.Notify(a.s.ctx, protocol.MethodCancelRequest, protocol.CancelParams{ID: id})
	}
	return err
}

func (s *server) stage() Stage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.back.Stage
}

// withModel adds the model that the user selected.
func (a *asker) withModel(params any) any {
	raw, err := json.Marshal(params)
	if err != nil {
		return params
	}
	var p protocol.CopilotSendParams
	if json.Unmarshal(raw, &p) != nil {
		return params
	}
	a.s.mu.Lock()
	d := a.s.back.Daemon
	a.s.mu.Unlock()
	p.Model = d.Settings().Copilot.Model
	return p
}

// copilotDelta hands a piece of an answer on, on the reader's goroutine: so it
// cannot be overtaken by the answer's end.
func (s *server) copilotDelta(c *call, p protocol.CopilotDeltaParams) {
	a := s.asker
	var at *attempt
	a.change(func() {
		if at = a.attempts[p.RequestID]; at != nil {
			at.pending++ // first: it may be emitted before HandleDelta returns
		}
	})
	before := a.Stats()
	err := a.HandleDelta(*c.params)
	after := a.Stats()
	if after.Accepted > before.Accepted {
		return
	}
	s.seen.count("copilot.deltasDropped")
	if at != nil {
		a.change(func() {
			at.pending--
			// What was neither there before nor of another answer broke this one.
			at.over = at.over || err == nil && after.Repeated == before.Repeated && after.Strangers == before.Strangers
		})
	}
}

// copilotToolCall takes no call: copilot/send offers no tools yet.
func (s *server) copilotToolCall(_ *call, p protocol.CopilotToolCallParams) {
	s.seen.count("copilot.toolCallsDropped")
	s.log.Warn().Str("request", logid.Of(p.RequestID)).Str("call", logid.Of(p.CallID)).
		Msg("the client's assistant wants a tool; none was offered, so none is called")
}

func (s *server) approveTool(c *call, _ protocol.ApproveToolParams) {
	c.fail(protocol.CodeInvalidState, "no tool call awaits approval")
}

// models lists none: with the editor's assistant the client knows its models, and
// offers them itself.
func (s *server) models(c *call) {
	c.reply(protocol.ModelsResult{Selected: s.back.Daemon.Settings().Copilot.Model})
}

// selectModel names the model that copilot/send asks for from now on.
func (s *server) selectModel(c *call, p protocol.SelectModelParams) {
	value, err := json.Marshal(p.ID)
	if err != nil {
		c.fail(protocol.CodeInternalError, "")
		return
	}
	s.change(c, protocol.Configuration{"agentvoice.copilot.model": value})
}

// credential asks the client for a secret. It is not kept.
func (s *server) credential(ctx context.Context, p protocol.Provider, kind protocol.CredentialKind) (protocol.CredentialsResult, error) {
	var raw json.RawMessage
	if err := s.asker.Call(ctx, protocol.MethodCredentials, protocol.CredentialsParams{Provider: p, Kind: kind}, &raw); err != nil {
		var refused *jsonrpc2.Error
		if errors.As(err, &refused) {
			// The client's own words may hold anything.
			return protocol.CredentialsResult{}, errors.New("the editor gave no key for " + string(p) + "; store one there")
		}
		return protocol.CredentialsResult{}, err
	}
	return protocol.DecodeResult[protocol.CredentialsResult](raw)
}
