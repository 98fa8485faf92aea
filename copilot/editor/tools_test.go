package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/editor"
)

// client is an in-memory Caller whose client answers immediately.
type client struct {
	adapter *editor.Adapter
	params  json.RawMessage
	// respond receives the request and returns the result or an error.
	respond func(method string) (string, error)
}

func newClient(respond func(c *client, method string) (string, error)) *client {
	c := &client{}
	c.adapter = editor.New(c)
	c.respond = func(method string) (string, error) { return respond(c, method) }
	return c
}

// Call implements editor.Caller.
func (c *client) Call(_ context.Context, method string, params, result any) (err error) {
	if c.params, err = json.Marshal(params); err != nil {
		return err
	}
	text, err := c.respond(method)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), result)
}

// Await implements editor.Caller.
func (c *client) Await(ctx, _ context.Context, method string, params, result any) error {
	return c.Call(ctx, method, params, result)
}

func (c *client) delta(params string) { _ = c.adapter.HandleDelta([]byte(params)) }

func (c *client) asksFor(params string) bool {
	taken, _ := c.adapter.HandleToolCall([]byte(params))
	return taken
}

// Text and tool calls of an answer arrive in order, each once.
func TestToolCallsKeepTheirOrder(t *testing.T) {
	const call = `{"requestId":"r1","callId":"c1","name":"runTests","input":{"n":1},"destructive":false}`
	c := newClient(func(c *client, _ string) (string, error) {
		c.delta(`{"requestId":"r1","seq":0,"text":"Let me see."}`)
		if !c.asksFor(call) || c.asksFor(call) {
			t.Error("a call is to be taken once")
		}
		if c.asksFor(`{"requestId":"r2","callId":"c9","name":"runTests","input":{}}`) {
			t.Error("a call of an answer that is not live was taken")
		}
		if c.asksFor(`{"requestId":"r1","name":"runTests","input":{}}`) {
			t.Error("a call without an id was taken")
		}
		c.delta(`{"requestId":"r1","seq":1,"text":" Soon."}`)
		return `{"status":"completed"}`, nil
	})
	var came []string
	var got copilot.ToolCall
	r := request
	r.Wants = func(call copilot.ToolCall) { came, got = append(came, "call "+call.ID), call }
	if err := c.adapter.Send(t.Context(), r, func(text string) { came = append(came, text) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Let me see.", "call c1", " Soon."}; !slices.Equal(came, want) {
		t.Errorf("came %q, want %q", came, want)
	}
	if got.Name != "runTests" || string(got.Input) != `{"n":1}` || got.Destructive == nil || *got.Destructive {
		t.Errorf("the call is %+v", got)
	}
	if s := c.adapter.Stats(); s.ToolCalls != 1 || s.ToolCallsDropped != 3 {
		t.Errorf("stats %+v", s)
	}
}

// An answer with only a call is not empty. If it fails afterwards, it is not retried,
// since the call would be repeated.
func TestAnswerWithOnlyAToolCall(t *testing.T) {
	for result, retried := range map[string]bool{
		`{"status":"completed"}`: false,
		`{"status":"failed","error":{"code":"copilotUnavailable","retryable":true}}`: true,
	} {
		c := newClient(func(c *client, _ string) (string, error) {
			c.asksFor(`{"requestId":"r1","callId":"c1","name":"runTests","input":{}}`)
			return result, nil
		})
		r := request
		r.Wants = func(copilot.ToolCall) {}
		err := c.adapter.Send(t.Context(), r, func(string) {})
		if !retried {
			if err != nil {
				t.Errorf("%s: %v", result, err)
			}
			continue
		}
		wantError(t, err, "copilotUnavailable", false)
	}
}

// Without Wants calls cannot be run, so they are not accepted.
func TestUnofferedTools(t *testing.T) {
	c := newClient(func(c *client, _ string) (string, error) {
		if c.asksFor(`{"requestId":"r1","callId":"c1","name":"runTests","input":{}}`) {
			t.Error("it was taken")
		}
		return `{"status":"completed"}`, nil
	})
	wantError(t, c.adapter.Send(t.Context(), request, func(string) {}), "copilotEmpty", true)
}

// A round carries its tools and the results of earlier calls.
func TestARoundOnTheWire(t *testing.T) {
	c := newClient(func(*client, string) (string, error) { return `{"status":"cancelled"}`, nil })
	safe := false
	r := request
	r.Round, r.Model = 1, "gpt-4.1"
	r.Tools = []copilot.Tool{{Name: "runTests", InputSchema: json.RawMessage(`{"type":"object"}`), Destructive: &safe}}
	r.Messages = append(slices.Clone(r.Messages), copilot.Message{
		Role: copilot.RoleTool, Content: "1 failed", Status: copilot.CallCompleted,
		Call: &copilot.ToolCall{ID: "c1", Name: "runTests", Input: json.RawMessage(`{"n":1}`)},
	})
	_ = c.adapter.Send(t.Context(), r, func(string) {})
	const want = `{"requestId":"r1","turnId":"t1","round":1,"attempt":2,"messages":[{"role":"user","content":"hello"},` +
		`{"role":"tool","content":"1 failed","callId":"c1","name":"runTests","input":{"n":1},"status":"completed"}],` +
		`"tools":[{"name":"runTests","inputSchema":{"type":"object"},"destructive":false}],"model":"gpt-4.1"}`
	if string(c.params) != want {
		t.Errorf("params\n%s, want\n%s", c.params, want)
	}
}

func TestCallToolAndItsEnds(t *testing.T) {
	gone, none := errors.New("gone"), copilot.ToolCall{Agent: "editor", Name: "runTests", Input: json.RawMessage("{}")}
	for name, c := range map[string]struct {
		answer string
		fails  error
		result string
		want   error // nil, ErrCancelled, or any failure
	}{
		"it ran":            {answer: `{"content":"1 failed"}`, result: "1 failed"},
		"it has changed":    {fails: &jsonrpc2.Error{Code: -32077}, want: copilot.ErrChanged},
		"it refuses":        {answer: `{"content":"the file is not there","refused":true}`, result: "the file is not there", want: copilot.ErrRefused},
		"it says nothing":   {answer: `{"content":""}`},
		"its own error":     {answer: `{"content":"no such file","isError":true}`, result: "no such file", want: gone},
		"no content":        {answer: `{}`, want: gone},
		"the client's":      {fails: &jsonrpc2.Error{Code: -32603, Message: "secret words"}, want: gone},
		"cancelled":         {fails: &jsonrpc2.Error{Code: -32800}, want: copilot.ErrCancelled},
		"the client is not": {fails: gone, want: gone},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newClient(func(_ *client, method string) (string, error) {
				if method != "copilot/invokeTool" {
					t.Errorf("method %s", method)
				}
				return c.answer, c.fails
			})
			result, err := cl.adapter.CallTool(t.Context(), t.Context(), copilot.ToolCall{ID: "c1", Agent: "editor", Name: "runTests", Input: json.RawMessage("{}")})
			if result != c.result || (err == nil) != (c.want == nil) || errors.Is(err, copilot.ErrCancelled) != errors.Is(c.want, copilot.ErrCancelled) ||
				errors.Is(err, copilot.ErrChanged) != errors.Is(c.want, copilot.ErrChanged) || errors.Is(err, copilot.ErrRefused) != errors.Is(c.want, copilot.ErrRefused) {
				t.Errorf("got %q, %v; want %q, %v", result, err, c.result, c.want)
			}
			if err != nil && c.fails != nil && err.Error() == c.fails.Error() {
				t.Errorf("%v repeats what the client said", err)
			}
			if string(cl.params) != `{"callId":"c1","name":"runTests","input":{},"hash":"`+none.Hash()+`"}` {
				t.Errorf("params %s", cl.params)
			}
		})
	}
}

// A call that is no longer wanted is cancelled at the client, but its result is still
// accepted: it may have run.
func TestCancelledCallIsAwaited(t *testing.T) {
	release := make(chan struct{})
	w := connect(t, func(json.RawMessage, func(int, string)) (any, error) {
		<-release
		return map[string]any{"content": "it ran"}, nil
	})
	wanted, stop := context.WithCancel(t.Context())
	stop()
	ended := make(chan string, 1)
	go func() {
		result, err := w.adapter.CallTool(t.Context(), wanted, copilot.ToolCall{ID: "c1", Name: "runTests"})
		if err != nil {
			result = err.Error()
		}
		ended <- result
	}()
	select {
	case <-w.cancelled:
	case <-time.After(patience):
		t.Fatal("the client was not told")
	}
	close(release)
	if result := <-ended; result != "it ran" {
		t.Errorf("got %q", result)
	}
}

// docs/agents.md promises 10 minutes for a call.
func TestToolLimit(t *testing.T) {
	c := newClient(func(*client, string) (string, error) { return "", nil })
	if got := c.adapter.ToolLimit(); got != 10*time.Minute {
		t.Errorf("a call may take %v", got)
	}
}
