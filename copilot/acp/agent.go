package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// agent is a running process with one session. Fields that change after launch are
// guarded by Adapter.mu.
type agent struct {
	process *process
	conn    *jsonrpc2.Conn
	lines   *lines
	stop    func() // runs once; returns when every process of the agent has ended
	can     acpsdk.AgentCapabilities
	titled  bool // sends commands only in the titles of tool calls
	fork    bool // opencode, or made from it

	session acpsdk.SessionId
	fresh   bool // the session lacks the conversation so far
	offer   offer
}

// launch starts the agent and opens a session. It loads the given session if the agent
// supports that.
func (a *Adapter) launch(ctx context.Context, session, mode string) (g *agent, err error) {
	ctx, done := context.WithTimeout(ctx, startLimit)
	defer done()
	p, err := a.opts.start()
	if err != nil {
		return nil, missing(err.Error())
	}
	g = &agent{process: p, lines: newLines(p)}
	early := g.lines.early
	quiet := time.AfterFunc(startLimit, func() {
		if early.words() != "" {
			done() // it waits for somebody to type
		}
	})
	defer quiet.Stop()
	early.printed = func() { quiet.Reset(wordsLimit) }
	g.conn = jsonrpc2.NewConn(context.Background(), g.lines, handler{a, g}, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	g.stop = sync.OnceFunc(func() {
		p.end() // first, because it unblocks the reader and the writers
		_ = g.conn.Close()
	})
	err = g.open(ctx, a.opts, session, mode)
	if err == nil {
		return g, nil
	}
	words := early.words()
	g.stop()
	switch {
	case words != "":
		err = missing(fmt.Sprintf("it printed %q instead of a message of the Agent Client Protocol; check its command and its version", words))
	case errors.Is(err, context.DeadlineExceeded):
		err = silent()
	case !early.begun() && ctx.Err() == nil:
		err = missing("it ended before its first message; run it in a terminal to see why")
	}
	return nil, failure(err)
}

// open performs the handshake and opens a session in an asking mode.
func (g *agent) open(ctx context.Context, o Options, session, mode string) error {
	var init acpsdk.InitializeResponse
	err := g.call(ctx, acpsdk.AgentMethodInitialize, acpsdk.InitializeRequest{
		ProtocolVersion: acpsdk.ProtocolVersionNumber,
		ClientInfo:      &acpsdk.Implementation{Name: "agentvoice-daemon", Version: "1"},
		ClientCapabilities: acpsdk.ClientCapabilities{
			Elicitation: &acpsdk.ElicitationCapabilities{Form: &acpsdk.ElicitationFormCapabilities{}},
		},
	}, &init)
	if err != nil {
		return err
	}
	if init.ProtocolVersion != acpsdk.ProtocolVersionNumber {
		return missing(fmt.Sprintf("it speaks version %d of the Agent Client Protocol, and this program version %d; update both", init.ProtocolVersion, acpsdk.ProtocolVersionNumber))
	}
	if err := replaced(o.Command, init.AgentInfo); err != nil {
		return err
	}
	g.can = init.AgentCapabilities
	if is := init.AgentInfo; is != nil {
		g.titled, g.fork = is.Name == titledAgent, slices.Contains(opencodeForks, is.Name)
	}
	if session != "" && g.loads() {
		g.session = acpsdk.SessionId(session)
		g.offer, err = g.load(ctx, o.Dir, g.session)
		if err == nil {
			return g.setAskingMode(ctx, g.session, &g.offer, mode)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	var made opened
	err = g.call(ctx, acpsdk.AgentMethodSessionNew, acpsdk.NewSessionRequest{Cwd: o.Dir, McpServers: []acpsdk.McpServer{}}, &made)
	if err != nil {
		return err
	}
	g.session, g.fresh, g.offer = made.SessionID, true, made.offer()
	return g.setAskingMode(ctx, g.session, &g.offer, mode)
}

// call makes a call. Writing may block while the agent does not read, so when ctx is done
// call abandons its goroutine, which ends with the agent.
func (g *agent) call(ctx context.Context, method string, params, result any) error {
	raw := make(chan json.RawMessage, 1)
	fail := make(chan error, 1)
	go func() {
		var r json.RawMessage
		if err := g.conn.Call(ctx, method, params, &r); err != nil {
			fail <- err
			return
		}
		raw <- r
	}()
	select {
	case r := <-raw:
		if result == nil || len(r) == 0 || string(r) == "null" {
			return nil
		}
		return json.Unmarshal(r, result)
	case err := <-fail:
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if rpc := (*jsonrpc2.Error)(nil); !errors.As(err, &rpc) {
			// A connection fails its calls before it reports its own end, and the next
			// request must not reach an agent that is gone.
			g.stop()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask sends a prompt. Its end is recorded after all messages that preceded it.
func (g *agent) ask(a *Adapter, p *prompt, text string) {
	go func() {
		var res acpsdk.PromptResponse
		err := g.call(context.Background(), acpsdk.AgentMethodSessionPrompt, acpsdk.PromptRequest{
			SessionId: g.session, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock(text)},
		}, &res)
		a.mu.Lock()
		p.stop, p.err, p.ended = res.StopReason, err, true
		a.mu.Unlock()
		if err == nil {
			a.awaitTail(p)
		}
		a.mu.Lock()
		p.write(p.filter.End(err == nil && p.stop == acpsdk.StopReasonEndTurn))
		asks, calls := p.takeAsks(), p.unfinished()
		a.mu.Unlock()
		close(p.over)
		p.report(calls...)
		for _, k := range asks { // the agent no longer waits for them
			k.dismiss()
		}
	}()
}

func (g *agent) cancelPrompt() {
	_ = g.conn.Notify(context.Background(), acpsdk.AgentMethodSessionCancel, acpsdk.CancelNotification{SessionId: g.session})
}

// reply answers a request of the agent. It does not block: the agent may not read until
// its own output is read.
func (g *agent) reply(id jsonrpc2.ID, result any) {
	go func() { _ = g.conn.Reply(context.Background(), id, result) }()
}

// handler handles the agent's messages in order. It must not block.
type handler struct {
	a *Adapter
	g *agent
}

// Handle implements jsonrpc2.Handler.
func (h handler) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	params := h.g.lines.params()
	switch {
	case r.Method == acpsdk.ClientMethodSessionUpdate && r.Notif:
		var n acpsdk.SessionNotification
		if json.Unmarshal(params, &n) == nil {
			h.update(n, inputIn(params))
		}
	case r.Method == acpsdk.ClientMethodSessionRequestPermission && !r.Notif:
		var q acpsdk.RequestPermissionRequest
		if json.Unmarshal(params, &q) != nil {
			h.refuse(r.ID, jsonrpc2.CodeInvalidParams, "the request for a permission has the wrong shape")
			return
		}
		h.permission(r.ID, q, inputIn(params))
	case r.Method == acpsdk.ClientMethodElicitationCreate && !r.Notif:
		var q elicitation
		if json.Unmarshal(params, &q) != nil {
			h.refuse(r.ID, jsonrpc2.CodeInvalidParams, "the question has the wrong shape")
			return
		}
		h.elicit(r.ID, q)
	case !r.Notif:
		h.refuse(r.ID, jsonrpc2.CodeMethodNotFound, "the client does not offer this method")
	}
}

func (h handler) refuse(id jsonrpc2.ID, code int64, message string) {
	go func() {
		_ = h.g.conn.ReplyWithError(context.Background(), id, &jsonrpc2.Error{Code: code, Message: message})
	}()
}

// open returns the prompt that a message belongs to, or nil if it belongs to none.
func (h handler) open(session acpsdk.SessionId) *prompt {
	p := h.a.prompt
	if p == nil || p.agent != h.g || session != h.g.session || p.isOver() {
		return nil
	}
	return p
}

// inputIn returns the input of the call that a message is about, byte by byte as it came.
func inputIn(params json.RawMessage) json.RawMessage {
	var m struct {
		Update, ToolCall struct {
			RawInput json.RawMessage `json:"rawInput"`
		}
	}
	_ = json.Unmarshal(params, &m) // its shape was checked
	if len(m.Update.RawInput) > 0 {
		return m.Update.RawInput
	}
	return m.ToolCall.RawInput
}

func (h handler) update(n acpsdk.SessionNotification, input json.RawMessage) {
	for _, announce := range h.updated(n, input) {
		announce()
	}
}

// updated handles an update. It returns what announces the activity and the call that it
// reports, to be called without Adapter.mu.
func (h handler) updated(n acpsdk.SessionNotification, input json.RawMessage) (announce []func()) {
	a := h.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.agent == h.g && n.SessionId == h.g.session {
		h.g.offer.update(n.Update)
	}
	p := h.open(n.SessionId)
	if p == nil {
		return nil
	}
	p.signOfLife()
	if a.mustWarn(h.g) {
		p.queue = append(p.queue, piece{unasked: true})
	}
	var t *tool
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		if c := u.AgentMessageChunk.Content; c.Text != nil {
			p.text(c.Text.Text)
		}
	case u.AgentThoughtChunk != nil:
		p.write(p.filter.Separate())
	case u.ToolCall != nil:
		c := u.ToolCall
		p.forgetEnded(c.ToolCallId)
		t = p.merge(c.ToolCallId, update{&c.Title, &c.Kind, &c.Status, input, c.RawOutput, c.Content, c.Locations})
	case u.ToolCallUpdate != nil:
		c := u.ToolCallUpdate
		t = p.merge(c.ToolCallId, update{c.Title, c.Kind, c.Status, input, c.RawOutput, c.Content, c.Locations})
		t.described = true
	}
	h.keptQuestion(p, t)
	p.stir()
	if doing, known := p.activity(n.Update, t); known && p.doing != nil {
		announce = append(announce, func() { p.doing(doing) })
	}
	if t != nil && t.changed() {
		call := p.ownCall(t)
		announce = append(announce, func() { p.report(call) })
	}
	return announce
}

func (h handler) permission(id jsonrpc2.ID, q acpsdk.RequestPermissionRequest, input json.RawMessage) {
	a := h.a
	h.ask(q.SessionId, &ask{agent: h.g, id: id, options: q.Options}, func(p *prompt, k *ask) {
		t := q.ToolCall
		p.forgetEnded(t.ToolCallId)
		if known := p.tools[t.ToolCallId]; known != nil {
			input = joined(known.input, input)
		}
		k.tool, k.state = t.ToolCallId, p.merge(t.ToolCallId, update{t.Title, t.Kind, t.Status, input, nil, t.Content, t.Locations})
		k.state.about, k.state.output = k.state.output, "" // this text describes the request; it is not the result
		k.call = a.callOf(h.g, k)
	})
}

// ask queues k for the user's decision. fill sets its call.
func (h handler) ask(session acpsdk.SessionId, k *ask, fill func(*prompt, *ask)) {
	a := h.a
	a.mu.Lock()
	p := h.open(session)
	if p == nil || p.cancelled {
		a.mu.Unlock()
		k.dismiss()
		return
	}
	p.signOfLife()
	a.calls++ // agents ask twice about the same call, and reuse its id in later answers
	fill(p, k)
	p.queueAsk(k)
	var calls []copilot.OwnCall
	if k.state != nil {
		k.state.asked = true
		calls = append(calls, p.ownCall(k.state))
	}
	a.mu.Unlock()
	p.stir()
	p.report(calls...)
}
