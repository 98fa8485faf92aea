package localrealtime

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Model answers the user, in text. It is safe for concurrent use.
type Model interface {
	// Answer streams the answer to a prompt. It calls text with each piece and call with
	// each function that the answer calls, in order and on one goroutine, and returns
	// when the answer is whole (nil), when ctx is done (its error) or when it failed.
	// The error's text is shown to the client.
	Answer(ctx context.Context, p Prompt, text func(string), call func(FunctionCall)) error
}

// Segmenter cuts an answer that is being written into pieces that can be spoken.
type Segmenter interface {
	Push(text string) []string
	Flush() []string
}

// Prompt is what a Model answers.
type Prompt struct {
	ID           string // of the response
	Instructions string // "" leaves them to the model
	Messages     []Message
	Tools        []Tool
	// ToolChoice is auto, none, required, or the name of the function to call.
	ToolChoice string
	MaxTokens  int // of the answer; 0 for no limit
	// Used takes what the model says that the answer used.
	Used func(Usage)
}

// Message is one entry of a prompt, oldest first. A call of a function comes with its
// output; one without an output is left out.
type Message struct {
	Role string // user, assistant, system; "" for a call
	Text string // of a message, or the output of Call
	Call *FunctionCall
}

// Tool is a function that the client offers.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
}

// FunctionCall is a function that an answer calls.
type FunctionCall struct {
	ID, Name  string
	Arguments string // JSON
}

// Usage is what an answer used, in tokens.
type Usage struct{ Input, Output int64 }

// maxPromptChars bounds the messages of a prompt; the oldest are left out first. It is
// some 50,000 tokens.
const maxPromptChars = 200_000

// nothingUnderstood stands for what the user said where there is no transcript of it.
const nothingUnderstood = "(nothing that could be understood)"

// prompt is what r asks the model.
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
	p.Tools, _ = toolsOf(tools, "") // checked when they came
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

// messagesOf is what was said as a model sees it, as much of its end as fits. The outputs
// of calls are among all.
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

// remembered is what a message is to the model.
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

// toolsOf reads and checks the tools of a session or a response.
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

// choiceOf is auto, none, required or a function's name; "" where nothing is said.
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

// limitOf is 0 for "inf" and where nothing is said.
func limitOf(raw json.RawMessage) (n int) {
	_ = json.Unmarshal(raw, &n)
	return max(n, 0)
}
