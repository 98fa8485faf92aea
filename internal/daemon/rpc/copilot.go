package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/editor"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/redact"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// asker sends requests to the client. It is the Caller of the editor's adapter, and
// that adapter as seen by the daemon. It tracks what it waits for, so that virtual time
// stands still while an answer is in transit within this process.
type asker struct {
	*editor.Adapter
	s       *server
	tools   bool // the client runs tools
	lastID  atomic.Uint64
	stirred chan struct{}

	mu       sync.Mutex
	attempts map[string]*attempt      // by request id, or daemon.ToolID
	asked    map[jsonrpc2.ID]*attempt // by the call's id
}

// attempt is one run of Send or of a tool. asker.mu guards its fields.
type attempt struct {
	asked   bool // the request to the client has been queued in the outbox
	over    bool // the answer arrived, or can no longer arrive
	pending int  // pieces of the answer received but not emitted yet
}

var (
	_ copilot.Adapter = (*asker)(nil)
	_ copilot.Caller  = (*asker)(nil)
	_ daemon.Waiter   = (*asker)(nil)
	_ editor.Caller   = (*asker)(nil)
)

func newAsker(s *server, tools bool) *asker {
	a := &asker{s: s, tools: tools, stirred: make(chan struct{}, 1), attempts: map[string]*attempt{}, asked: map[jsonrpc2.ID]*attempt{}}
	a.Adapter = editor.New(a)
	return a
}

type attemptKey struct{}

// Send implements copilot.Adapter.
func (a *asker) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	at := &attempt{}
	a.change(func() { a.attempts[r.ID] = at })
	defer a.change(func() { delete(a.attempts, r.ID) })
	if !a.tools {
		r.Wants = nil
	}
	if wants := r.Wants; wants != nil {
		r.Wants = func(call copilot.ToolCall) {
			wants(call)
			a.change(func() { at.pending-- })
		}
	}
	return a.Adapter.Send(context.WithValue(ctx, attemptKey{}, at), r, func(text string) {
		emit(text)
		a.change(func() { at.pending = max(0, at.pending-1) }) // the last piece may be text that was held back
	})
}

// CallTool implements copilot.Caller.
func (a *asker) CallTool(ctx, wanted context.Context, call copilot.ToolCall) (string, error) {
	at, id := &attempt{}, daemon.ToolID(call.ID)
	a.change(func() { a.attempts[id] = at })
	defer a.change(func() { delete(a.attempts, id) })
	return a.Adapter.CallTool(context.WithValue(ctx, attemptKey{}, at), wanted, call)
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

// Waits implements daemon.Waiter: the client was asked, and everything that it sent has
// been forwarded.
func (a *asker) Waits(requestID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.attempts[requestID]
	return at != nil && at.asked && !at.over && at.pending == 0
}

// Stirred implements daemon.Waiter.
func (a *asker) Stirred() <-chan struct{} { return a.stirred }

// answered records that the answer to a call arrived; its result is delivered
// afterwards.
func (a *asker) answered(id jsonrpc2.ID) {
	a.change(func() {
		if at := a.asked[id]; at != nil {
			at.over = true
		}
	})
}

// Call implements editor.Caller. A request that is no longer wanted is cancelled at the
// client.
func (a *asker) Call(ctx context.Context, method string, params, result any) error {
	id, wait, err := a.ask(ctx, method, params)
	if err != nil {
		return err
	}
	defer a.forget(id)
	err = wait.Wait(ctx, result)
	if ctx.Err() != nil {
		a.withdraw(id)
	}
	return err
}

// Await implements editor.Caller.
func (a *asker) Await(ctx, wanted context.Context, method string, params, result any) error {
	id, wait, err := a.ask(ctx, method, params)
	if err != nil {
		return err
	}
	defer a.forget(id)
	defer context.AfterFunc(wanted, func() { a.withdraw(id) })()
	return wait.Wait(ctx, result)
}

// ask sends a request to the client.
func (a *asker) ask(ctx context.Context, method string, params any) (jsonrpc2.ID, jsonrpc2.Waiter, error) {
	id := jsonrpc2.ID{Num: a.lastID.Add(1)}
	at, _ := ctx.Value(attemptKey{}).(*attempt)
	if at != nil {
		a.change(func() { a.asked[id] = at })
	}
	wait, err := a.s.conn.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		a.forget(id)
		return id, wait, err
	}
	if stage := a.s.stage(); stage != nil {
		stage.Asked(method)
	}
	if at != nil {
		a.change(func() { at.asked = true })
	}
	return id, wait, nil
}

func (a *asker) forget(id jsonrpc2.ID) { a.change(func() { delete(a.asked, id) }) }

func (a *asker) withdraw(id jsonrpc2.ID) {
	_ = a.s.conn.Notify(a.s.ctx, protocol.MethodCancelRequest, protocol.CancelParams{ID: id})
}

func (s *server) stage() Stage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.back.Stage
}

// copilotDelta forwards a piece of an answer on the reader's goroutine, so that the end
// of the answer cannot overtake it.
func (s *server) copilotDelta(c *call, p protocol.CopilotDeltaParams) {
	a := s.asker
	var at *attempt
	a.change(func() {
		if at = a.attempts[p.RequestID]; at != nil {
			at.pending++ // first, because it may be emitted before HandleDelta returns
		}
	})
	before := a.Stats()
	err := a.HandleDelta(*c.params)
	after := a.Stats()
	switch {
	case after.Merged > before.Merged:
		if at != nil {
			a.change(func() { at.pending-- }) // emitted together with the previous one
		}
		return
	case after.Accepted > before.Accepted:
		return
	}
	s.seen.count("copilot.deltasDropped")
	var gap *editor.Gap
	if errors.As(err, &gap) {
		s.answerGap(gap)
		err = nil
	}
	if at != nil {
		a.change(func() {
			at.pending--
			// A delta that is neither a repeat nor of another answer broke this one.
			at.over = at.over || err == nil && after.Repeated == before.Repeated && after.Strangers == before.Strangers
		})
	}
}

// answerGap reports a gap in the deltas of an answer, which then fails.
func (s *server) answerGap(gap *editor.Gap) {
	p := s.locale().NewErrorParams(protocol.CodeAnswerGap, "")
	p.Message += " (" + gap.Error() + ")"
	p.RequestID, p.ExpectedSeq, p.ReceivedSeq = gap.RequestID, &gap.Expected, &gap.Received
	s.notify(protocol.NotifyError, p)
}

// copilotToolCall forwards a tool call in order with the text.
func (s *server) copilotToolCall(c *call, p protocol.CopilotToolCallParams) {
	a := s.asker
	var at *attempt
	a.change(func() {
		if at = a.attempts[p.RequestID]; at != nil {
			at.pending++ // first, because it may be taken before HandleToolCall returns
		}
	})
	if taken, _ := a.HandleToolCall(*c.params); taken {
		return
	}
	if at != nil {
		a.change(func() { at.pending-- })
	}
	s.seen.count("copilot.toolCallsDropped")
	s.log.Warn().Str("request", redact.Of(p.RequestID)).Str("call", redact.Of(p.CallID)).Bool("tools", a.tools).
		Msg("a call of a tool is not taken: its answer is over or has it already, or the client runs no tools")
}

// copilotTools replaces the tools that the assistant may call.
func (s *server) copilotTools(c *call, p protocol.ToolsParams) {
	if !s.asker.tools {
		c.fail(protocol.CodeInvalidRequest, "the client did not say capabilities.tools")
		return
	}
	tools := make([]copilot.Tool, 0, len(p.Tools))
	for _, t := range p.Tools {
		tools = append(tools, copilot.Tool(t))
	}
	s.back.Daemon.OfferTools(tools)
}

// toolConfirming says aloud that a call waits in an editor dialog. A call that has
// ended meanwhile is ignored.
func (s *server) toolConfirming(_ *call, p protocol.ToolConfirmingParams) {
	s.back.Daemon.Confirming(p.CallID, p.Certain)
}

// workspaceUpdate replaces what is open in the client.
func (s *server) workspaceUpdate(c *call, p protocol.Workspace) {
	s.back.Daemon.OpenWorkspace(&p)
	c.reply(nil)
}

func (s *server) workspaceWords(_ *call, p protocol.WorkspaceWordsParams) {
	s.back.Daemon.SetWorkspace(p)
}

// approveTool is a click in place of a spoken yes or no.
func (s *server) approveTool(c *call, p protocol.ApproveToolParams) {
	switch err := s.back.Daemon.Approve(p.CallID, p.Hash, p.Approved, c.stepped(nothing)); {
	case errors.Is(err, daemon.ErrCallChanged):
		c.fail(protocol.CodeCallChanged, "hash is not that of agentvoice.tool for this call")
	case err != nil:
		c.fail(protocol.CodeInvalidState, "callId names no call of a tool in this conversation")
	}
}

// models lists the models of the adapter. The editor's assistant has none here: the
// client knows its models and offers them itself.
func (s *server) models(c *call) {
	d := s.back.Daemon
	list := func() {
		known, err := d.Models(s.ctx)
		if err != nil {
			c.fail(protocol.CodeCopilotUnavailable, "its models cannot be listed")
			return
		}
		result := protocol.ModelsResult{Selected: d.Settings().Copilot.Model}
		for _, m := range known {
			result.Models = append(result.Models, protocol.Model(m))
		}
		c.reply(result)
	}
	if s.back.Stage != nil {
		list()
		return
	}
	s.spawn(list)
}

// selectModel has a model loaded as soon as no request is in flight.
func (s *server) selectModel(c *call, p protocol.SelectModelParams) {
	s.back.Daemon.SelectModel(p.ID, c.stepped(nothing))
}

// assistants lists who can answer, and checks the one that is named.
func (s *server) assistants(c *call, p protocol.AssistantsParams) {
	list := func() { c.reply(s.back.Daemon.Assistants(s.ctx, p.Check)) }
	if p.Check == "" {
		list()
		return
	}
	s.spawn(list)
}

// selectAssistant changes agentvoice.agent, which applies from the next request on.
func (s *server) selectAssistant(c *call, p protocol.SelectAssistantParams) {
	agent, err := s.back.Daemon.AgentFor(p.ID)
	if err != nil {
		c.refuse(s.locale().InvalidParams([]protocol.FieldError{{Field: "id", Problem: fmt.Sprintf("is %q, which is not an assistant", clip(p.ID)), Allowed: "an id of assistant/list"}}))
		return
	}
	raw, err := json.Marshal(agent)
	if err != nil {
		c.fail(protocol.CodeInternalError, "")
		return
	}
	s.change(c, protocol.Configuration{protocol.Prefix + "agent": raw})
}

// credential asks the client for a secret. It is not stored.
func (s *server) credential(ctx context.Context, p protocol.CredentialsParams) (protocol.CredentialsResult, error) {
	var raw json.RawMessage
	if err := s.asker.Call(ctx, protocol.MethodCredentials, p, &raw); err != nil {
		var refused *jsonrpc2.Error
		if errors.As(err, &refused) {
			// The client's error text may contain anything.
			return protocol.CredentialsResult{}, errors.New("the editor gave no key for " + string(p.Provider) + "; store one there")
		}
		return protocol.CredentialsResult{}, err
	}
	return protocol.DecodeResult[protocol.CredentialsResult](raw)
}

// editorCommand asks the client's editor to execute a voice command.
func (s *server) editorCommand(ctx context.Context, p protocol.EditorCommandParams) (protocol.EditorCommandResult, error) {
	var raw json.RawMessage
	if err := s.asker.Call(ctx, protocol.MethodEditorCommand, p, &raw); err != nil {
		return protocol.EditorCommandResult{}, err
	}
	return protocol.DecodeResult[protocol.EditorCommandResult](raw)
}
