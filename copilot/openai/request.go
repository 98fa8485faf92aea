package openai

import (
	"cmp"
	"encoding/json"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// completion is a chat completion request.
type completion struct {
	Model      string    `json:"model"`
	Messages   []message `json:"messages"`
	Stream     bool      `json:"stream"`
	Options    *options  `json:"stream_options,omitempty"`
	Tools      []tool    `json:"tools,omitempty"`
	ToolChoice any       `json:"tool_choice,omitempty"`
	// MaxCompletion is OpenAI's current name of the limit, MaxTokens that of all other
	// servers.
	MaxCompletion int `json:"max_completion_tokens,omitempty"`
	MaxTokens     int `json:"max_tokens,omitempty"`
	// Effort is how much a model reasons before it answers.
	Effort string `json:"reasoning_effort,omitempty"`
}

// options request the usage at the end of the stream. They are sent only to services that
// document them, since some servers reject unknown members.
type options struct {
	Usage bool `json:"include_usage"`
}

type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"` // for the role tool
}

type tool struct {
	Type     string   `json:"type"` // always "function"
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // always "function"
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (a *Adapter) request(r copilot.Request) completion {
	messages := []message{{Role: "system", Content: cmp.Or(r.Instructions, a.opts.SystemPrompt)}}
	for _, m := range r.Messages {
		switch {
		case m.Role == copilot.RoleAssistant:
			messages = append(messages, message{Role: "assistant", Content: m.Noted()})
		case m.Role == copilot.RoleTool && r.ToolChoice != "" && m.Call != nil:
			messages = appendCall(messages, m)
		case m.Role == copilot.RoleTool:
			// The protocol requires the call that a tool message answers, but this prompt
			// holds only the result.
			messages = append(messages, message{Role: "user", Content: "[Result of a tool]\n" + m.Content})
		default:
			messages = append(messages, message{Role: "user", Content: m.Noted()})
		}
	}
	c := completion{Model: a.model(r), Messages: messages, Stream: true}
	if p := a.provider(); p == "openai" || p == "azure" {
		c.Options, c.MaxCompletion = &options{Usage: true}, r.MaxTokens
	} else {
		c.MaxTokens = r.MaxTokens
	}
	if a.provider() == "openai" && a.opts.Effort != nil {
		c.Effort = a.opts.Effort(c.Model)
	}
	if !offersTools(r) {
		return c
	}
	for _, t := range r.Tools {
		c.Tools = append(c.Tools, tool{"function", function{t.Name, t.Description, t.InputSchema}})
	}
	switch r.ToolChoice {
	case "auto", "none", "required":
		c.ToolChoice = r.ToolChoice
	default:
		c.ToolChoice = tool{"function", function{Name: r.ToolChoice}}
	}
	return c
}

// offersTools reports whether the service is told about tools.
func offersTools(r copilot.Request) bool { return r.ToolChoice != "" && len(r.Tools) > 0 }

// appendCall adds a call and its result: the call belongs to the preceding message of the
// assistant, as do further calls whose results follow.
func appendCall(messages []message, m copilot.Message) []message {
	at := len(messages) - 1
	for at >= 0 && messages[at].Role == "tool" {
		at--
	}
	if at < 0 || messages[at].Role != "assistant" {
		messages, at = append(messages, message{Role: "assistant"}), len(messages)
	}
	call := toolCall{ID: m.Call.ID, Type: "function"}
	call.Function.Name, call.Function.Arguments = m.Call.Name, string(m.Call.Input)
	messages[at].Calls = append(messages[at].Calls, call)
	return append(messages, message{Role: "tool", Content: m.Content, CallID: m.Call.ID})
}

// callDelta is a piece of a tool call.
type callDelta struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// maxCalls and maxArguments bound the calls of an answer and the bytes of their
// arguments.
const (
	maxCalls     = 64
	maxArguments = 1 << 20
)

// calls are the tool calls of one answer, by index.
type calls []copilot.ToolCall

// add merges pieces into the calls.
func (c calls) add(pieces []callDelta) calls {
	for _, p := range pieces {
		if p.Index < 0 || p.Index >= maxCalls {
			continue
		}
		for p.Index >= len(c) {
			c = append(c, copilot.ToolCall{})
		}
		call := &c[p.Index]
		call.ID, call.Name = cmp.Or(call.ID, p.ID), cmp.Or(call.Name, p.Function.Name)
		if len(call.Input)+len(p.Function.Arguments) <= maxArguments {
			call.Input = append(call.Input, p.Function.Arguments...)
		}
	}
	return c
}

// report passes the calls to wants.
func (c calls) report(wants func(copilot.ToolCall)) {
	for _, call := range c {
		if wants != nil && call.Name != "" {
			wants(call)
		}
	}
}
