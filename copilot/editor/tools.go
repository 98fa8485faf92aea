package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

const methodInvoke = "copilot/invokeTool"

type toolCallParams struct {
	RequestID   string          `json:"requestId"`
	CallID      string          `json:"callId"`
	Name        string          `json:"name"`
	Input       json.RawMessage `json:"input"`
	Destructive *bool           `json:"destructive"`
	Allowed     bool            `json:"allowed"`
}

// HandleToolCall handles the params of one copilot/toolCall notification. It reports
// whether the call was accepted: it is new and belongs to a live answer that may call
// tools. It never blocks. An error says that the params are malformed, without quoting
// them.
func (a *Adapter) HandleToolCall(params json.RawMessage) (taken bool, err error) {
	var c toolCallParams
	err = json.Unmarshal(params, &c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil || c.RequestID == "" || c.CallID == "" || c.Name == "" {
		a.stats.ToolCallsDropped++
		return false, errors.New("copilot/toolCall: want requestId, callId and name (strings), and input (an object)")
	}
	ans := a.live[c.RequestID]
	if ans == nil || ans.broken != nil || ans.wanted == nil || ans.wanted[c.CallID] || len(ans.wanted) == maxCalls ||
		ans.bytes+len(c.Input) > maxAnswer {
		a.stats.ToolCallsDropped++
		return false, nil
	}
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	a.stats.ToolCalls++
	ans.wanted[c.CallID] = true
	ans.bytes += len(c.Input)
	ans.queue = append(ans.queue, piece{call: &copilot.ToolCall{ID: c.CallID, Agent: a.Name(), Name: c.Name, Input: c.Input, Destructive: c.Destructive, Allowed: c.Allowed}})
	ans.stir()
	return true, nil
}

// ToolLimit is the time limit of a tool call: builds and tests take minutes.
const ToolLimit = 10 * time.Minute

// ToolLimit implements copilot.Limiter.
func (*Adapter) ToolLimit() time.Duration { return ToolLimit }

// CallTool implements copilot.Caller: the client runs the tool.
func (a *Adapter) CallTool(ctx, wanted context.Context, c copilot.ToolCall) (string, error) {
	params := struct {
		CallID string          `json:"callId"`
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`
		Hash   string          `json:"hash"`
	}{c.ID, c.Name, c.Input, c.Hash()}
	var result struct {
		Content *string `json:"content"`
		IsError bool    `json:"isError"`
		Refused bool    `json:"refused"`
	}
	err := a.caller.Await(ctx, wanted, methodInvoke, params, &result)
	var rpc *jsonrpc2.Error
	switch {
	case errors.As(err, &rpc) && rpc.Code == codeRequestCancelled:
		return "", copilot.ErrCancelled
	case errors.As(err, &rpc) && rpc.Code == codeCallChanged:
		return "", copilot.ErrChanged
	case errors.As(err, &rpc):
		// Drop the client's message, which may contain anything.
		return "", failed(fmt.Sprintf("the editor could not run the tool (error %d)", rpc.Code))
	case err != nil:
		return "", failed("the connection to the editor was lost")
	case result.Content == nil:
		return "", failed("the editor's result of a tool has no content")
	case result.Refused:
		return *result.Content, copilot.ErrRefused
	case result.IsError:
		return *result.Content, failed("the tool returned an error")
	}
	return *result.Content, nil
}
