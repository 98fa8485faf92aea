package localrealtime

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Model generates text answers to the user. It is safe for concurrent use.
type Model interface {
	// Answer streams the answer to a prompt. It calls text with each piece and call
	// with each function call, in order and on one goroutine. It returns nil when the
	// answer is complete, ctx's error when ctx is done, or the failure. The error's
	// text is shown to the client.
	Answer(ctx context.Context, p Prompt, text func(string), call func(FunctionCall)) error
}

// Segmenter splits a streaming answer into pieces that can be spoken.
type Segmenter interface {
	Push(text string) []string
	Flush() []string
}

// Prompt is the input of a Model.
type Prompt struct {
	ID           string // response id
	Instructions string // "" uses the model's default
	Messages     []Message
	Tools        []Tool
	// ToolChoice is auto, none, required, or the name of the function to call.
	ToolChoice string
	MaxTokens  int // limit of the answer; 0 for unlimited
	// Used receives the usage that the model reports for the answer.
	Used func(Usage)
}

// Message is one entry of a prompt; entries are ordered from oldest to newest. A
// function call includes its output; calls without an output are omitted.
type Message struct {
	Role string // user, assistant, system; "" for a function call
	Text string // text of a message, or the output of Call
	Call *FunctionCall
}

// Tool is a function offered by the client.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
}

// FunctionCall is a function call made by an answer.
type FunctionCall struct {
	ID, Name  string
	Arguments string // JSON
}

// Usage is the token usage of an answer.
type Usage struct{ Input, Output int64 }

// maxPromptChars limits the messages of a prompt to about 50,000 tokens; the oldest are
// dropped first.
const maxPromptChars = 200_000

// nothingUnderstood replaces a user message without a transcript.
const nothingUnderstood = "(nothing that could be understood)"

// prompt returns the Model's prompt for r.
func (c *call) prompt(r *response) Prompt {
	p := Prompt{
		ID: r.id, Instructions: cmp.Or(r.ask.Instructions, c.session.Instructions),
		ToolChoice: cmp.Or(choiceOf(r.ask.ToolChoice), choiceOf(c.session.ToolChoice), "auto"),
		MaxTokens:  cmp.Or(limitOf(r.ask.MaxOutputTokens), limitOf(c.session.MaxOutputTokens)),
	}
	tools := c.session.Tools
	if len(r.ask.Tools) > 0 {
		tools = r.ask.Tools
	}
	p.Tools, _ = toolsOf(tools, "") // validated on receipt
	if r.ask.Input != nil {
		p.Messages = messagesOf(r.input, r.input)
		return p
	}
	p.Messages = messagesOf(c.items.remembered(), c.items.items)
	if before := c.items.summary.text; before != "" {
		p.Messages = append([]Message{{Role: "user", Text: summaryLead + before}}, p.Messages...)
	}
	return p
}

// messagesOf converts items to prompt messages, keeping the most recent ones that fit.
// Function outputs are looked up in all.
func messagesOf(items, all []item) []Message {
	outputs := map[string]string{}
	for _, it := range all {
		if it.Type == itemFunctionOutput {
			outputs[it.CallID] = it.Output
		}
	}
	var messages []Message
	size := 0
	for _, it := range slices.Backward(items) {
		var m Message
		switch it.Type {
		case itemFunctionCall:
			output, done := outputs[it.CallID]
			if !done {
				continue
			}
			m = Message{Text: output, Call: &FunctionCall{ID: it.CallID, Name: it.Name, Arguments: it.Arguments}}
			size += len(it.Arguments)
		case itemFunctionOutput:
			continue
		default:
			if m = (Message{Role: it.Role, Text: it.remembered()}); m.Text == "" {
				continue
			}
		}
		if size += len(m.Text); size > maxPromptChars && len(messages) > 0 {
			break
		}
		messages = append(messages, m)
	}
	slices.Reverse(messages)
	return messages
}

// remembered returns the text of a message as shown to the model.
func (it item) remembered() string {
	if it.written != "" {
		return it.written
	}
	var texts []string
	for _, p := range it.Content {
		if t := strings.TrimSpace(p.text()); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 && it.Role == "user" {
		return nothingUnderstood
	}
	return strings.Join(texts, "\n")
}

// toolsOf parses and validates the tools of a session or a response.
func toolsOf(raw json.RawMessage, param string) ([]Tool, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var all []struct {
		Type string `json:"type"`
		Tool
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, decodeError(err, param+".")
	}
	var tools []Tool
	for _, t := range all {
		switch {
		case t.Type != "function":
			return nil, invalidf("invalid_value", param+".type", "%s.type must be \"function\": this server runs no tools of its own", param)
		case t.Name == "":
			return nil, invalidf("missing_required_parameter", param+".name", "%s.name is missing", param)
		}
		tools = append(tools, t.Tool)
	}
	return tools, nil
}

// choiceOf returns auto, none, required or a function name; "" if unset.
func choiceOf(raw json.RawMessage) (choice string) {
	if len(raw) == 0 || json.Unmarshal(raw, &choice) == nil {
		return choice
	}
	var function struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(raw, &function)
	return function.Name
}

// limitOf returns 0 for "inf" or if unset.
func limitOf(raw json.RawMessage) (n int) {
	_ = json.Unmarshal(raw, &n)
	return max(n, 0)
}
