// Package openai is the adapter for OpenAI's chat completions and compatible servers,
// hosted or local, with or without a key.
//
// # Model
//
// Send makes one HTTP request and reads one stream of server-sent events. It never
// retries and has no deadline of its own: both are up to the caller, by ctx and by
// Retryable and After of the error.
//
// # Invariants
//
//   - An answer is complete only if the service says so, by a finish_reason or [DONE]; a
//     stream that just ends was cut off.
//   - A failure after words were emitted is not retryable, since they would be spoken
//     twice.
//   - Errors contain no message of the service, which may hold parts of the key or words
//     of the user.
//   - An answer that the service cut off (length, content filter) is an error that says so.
//   - Redirects are not followed. A key is sent only over TLS or to this machine.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/reasoning"
)

// DefaultBaseURL is OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

// DefaultSystemPrompt asks for answers that can be spoken.
const DefaultSystemPrompt = "You are a programming assistant in a spoken conversation: your answers are read aloud, and the user's words come from speech recognition, " +
	"so expect misheard words and names. Answer in one to three short sentences of plain prose that are easy to follow by ear. Say the most important thing first. " +
	"No headings, tables, emoji or links; lists only if asked for, of at most three items. Do not spell out code: describe it, and put code in a fenced block only when the user " +
	"asks to see it. If the question is unclear, ask one short question back."

// Options configure the adapter.
type Options struct {
	// BaseURL is the parent of chat/completions; default DefaultBaseURL. If it has no
	// path, the path is /v1.
	BaseURL string
	// Key may be empty, for servers without keys.
	Key Key
	// Ask returns the key of each request in place of Key, for a key that is not kept here;
	// may be nil.
	Ask func(ctx context.Context) Key
	// Model is the model of requests that name none; required.
	Model string
	// Effort returns the reasoning_effort to ask of a model of OpenAI, "" for its default; may be nil.
	Effort func(model string) string
	// SystemPrompt is sent before the conversation; default DefaultSystemPrompt.
	SystemPrompt string
	// Transport makes the requests; default a clone of http.DefaultTransport.
	Transport http.RoundTripper
}

// Adapter implements copilot.Adapter. It is safe for concurrent use.
type Adapter struct {
	opts   Options
	base   *url.URL
	client *http.Client
	models *reasoning.Source
}

// New returns an adapter, or an error that names the invalid option.
func New(o Options) (*Adapter, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	if o.SystemPrompt == "" {
		o.SystemPrompt = DefaultSystemPrompt
	}
	if o.Model == "" {
		return nil, errors.New("no model for the assistant; set one")
	}
	base, err := url.Parse(o.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("the assistant's base URL is not an http or https URL such as " + DefaultBaseURL)
	case base.User != nil:
		return nil, errors.New("the assistant's base URL contains a user name or password; set the key separately")
	case !o.Key.IsZero() && exposed(base):
		return nil, errExposed
	}
	if strings.Trim(base.Path, "/") == "" {
		base.Path = "/v1"
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	client := &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Adapter{opts: o, base: base, client: client, models: &reasoning.Source{}}, nil
}

// errExposed reports a key for an address without encryption.
var errExposed = errors.New("the assistant's key would be sent unencrypted; use an https base URL, or no key")

// exposed reports whether others could read a key that is sent to the address.
func exposed(base *url.URL) bool { return base.Scheme == "http" && !isLoopback(base.Hostname()) }

// key returns the key of a request.
func (a *Adapter) key(ctx context.Context) (Key, error) {
	if a.opts.Ask == nil {
		return a.opts.Key, nil
	}
	key := a.opts.Ask(ctx)
	if !key.IsZero() && exposed(a.base) {
		return Key{}, &copilot.Error{Code: codeAuthentication, Message: errExposed.Error()}
	}
	return key, nil
}

// do sends a request to the service; body is JSON, nil for none.
func (a *Adapter) do(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	key, err := a.key(ctx)
	if err != nil {
		return nil, err
	}
	if !key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+key.reveal())
	}
	return a.client.Do(req)
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Name returns "openai".
func (*Adapter) Name() string { return "openai" }

// Title implements copilot.Titled.
func (a *Adapter) Title() string { return a.opts.Model }

// Close closes idle connections.
func (a *Adapter) Close() error {
	a.client.CloseIdleConnections()
	return nil
}

// Hosted implements copilot.Hosted.
func (a *Adapter) Hosted(model string) (provider, of string) {
	return a.provider(), cmp.Or(model, a.opts.Model)
}

// MaySpeculate implements copilot.Speculative. The daemon offers the service no tools.
func (*Adapter) MaySpeculate() {}

// Send implements copilot.Adapter.
func (a *Adapter) Send(ctx context.Context, r copilot.Request, emit func(text string)) error {
	body, err := json.Marshal(a.request(r))
	if err != nil {
		return failed("cannot encode the request")
	}
	res, err := a.do(ctx, http.MethodPost, "chat/completions", body,
		http.Header{"Accept": {"text/event-stream"}, "X-Client-Request-Id": {r.ID}})
	if err == nil {
		defer func() { _ = res.Body.Close() }()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return connectFailure(err)
	case res.StatusCode != http.StatusOK:
		return statusFailure(res)
	}
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media != "text/event-stream" {
		return failed("the service did not return a stream; check the base URL")
	}
	s := stream{events: newEvents(res.Body), ctx: ctx, emit: emit, filter: a.models.New(a.model(r)), tools: r.ToolChoice != ""}
	if err = s.read(); err == nil {
		s.calls.report(r.Wants)
		if s.endOf() == endUnknown && r.EndUnknown != nil {
			r.EndUnknown()
		}
	}
	if u := s.usage; u != nil && r.Used != nil {
		r.Used(copilot.Usage{Provider: a.provider(), Model: a.model(r), Input: u.Prompt, Cached: u.Details.Cached, Output: u.Completion})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (a *Adapter) model(r copilot.Request) string { return cmp.Or(r.Model, a.opts.Model) }

// provider identifies the service by its address.
func (a *Adapter) provider() string {
	host := a.base.Hostname()
	switch {
	case host == "api.openai.com":
		return "openai"
	case strings.HasSuffix(host, ".openai.azure.com"):
		return "azure"
	case isLoopback(host):
		return "local"
	default:
		return "compatible"
	}
}

// maxAnswer limits the text of an answer with its reasoning, in bytes.
const maxAnswer = 4 << 20

// stream reads one answer.
type stream struct {
	ctx    context.Context
	events events
	emit   func(string)
	filter *reasoning.Filter
	spoke  bool // there was text other than reasoning
	tools  bool // tools were offered
	calls  calls
	reason string // finish_reason, "" until received
	bytes  int    // of text and reasoning, received
	usage  *usage // nil until received
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// chunk is the part of a chat.completion.chunk that is used.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content parts       `json:"content"`
			Refusal string      `json:"refusal"`
			Calls   []callDelta `json:"tool_calls"`
			// Reasoning, by the names and in the shapes that servers use.
			ReasoningContent json.RawMessage `json:"reasoning_content"`
			Reasoning        json.RawMessage `json:"reasoning"`
			ReasoningDetails json.RawMessage `json:"reasoning_details"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
	Usage *usage          `json:"usage"`
}

// parts is the content of a chunk: text, or a list of parts, of which some are reasoning.
type parts struct {
	text    string
	thought int // bytes of reasoning
}

// UnmarshalJSON reads either shape.
func (p *parts) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &p.text)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, raw := range list {
		var part struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(raw, &part); err != nil {
			return err
		}
		switch part.Type {
		case "text":
			p.text += part.Text
		case "thinking", "reasoning":
			p.thought += len(raw)
		}
	}
	return nil
}

func (s *stream) read() error {
	for {
		data, ok := s.events.next()
		if !ok {
			break
		}
		if strings.TrimSpace(string(data)) == doneMark {
			return s.whole()
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return s.final(failed("the service sent an invalid chunk"))
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return s.final(streamFailure(c.Error))
		}
		if s.take(c); s.bytes > maxAnswer {
			s.reason = "length"
			return s.whole()
		}
	}
	switch {
	case *s.events.over:
		return s.final(failed("the service sent a chunk that is too large"))
	case s.reason != "":
		return s.whole()
	}
	e := failed("the connection to the service was lost during the answer")
	e.Retryable = true
	return s.final(e)
}

// take emits the text of a chunk, unless ctx is done. Requests ask for one choice only.
func (s *stream) take(c chunk) {
	if c.Usage != nil {
		s.usage = c.Usage
	}
	if len(c.Choices) == 0 || s.ctx.Err() != nil {
		return
	}
	choice := c.Choices[0]
	delta := choice.Delta
	thought := delta.Content.thought
	for _, field := range []json.RawMessage{delta.ReasoningContent, delta.Reasoning, delta.ReasoningDetails} {
		if text := string(field); text != "" && text != "null" && text != `""` && text != "[]" {
			thought += len(text)
		}
	}
	if thought > 0 {
		s.say(s.filter.Separate())
	}
	for _, text := range []string{delta.Content.text, delta.Refusal} {
		if text != "" {
			s.say(s.filter.Push(text))
		}
	}
	s.bytes += thought + len(delta.Content.text) + len(delta.Refusal)
	if s.tools {
		s.calls = s.calls.add(delta.Calls)
	}
	if choice.FinishReason != nil && *choice.FinishReason != "" {
		s.reason = *choice.FinishReason
	}
}

// say emits text. Without text, it is a sign of life.
func (s *stream) say(text string) {
	s.emit(text)
	s.spoke = s.spoke || text != ""
}

// end is how the service says that an answer ended.
type end int

const (
	endUnknown end = iota
	endWhole
	endLength
	endFilter
	endBroken
)

// ends are the values of finish_reason, in lower case, of OpenAI and of services that add
// their own.
var ends = map[string]end{
	"stop": endWhole, "tool_calls": endWhole, "function_call": endWhole, "stop_sequence": endWhole, "end_turn": endWhole, "eos": endWhole, "eos_token": endWhole,
	"length": endLength, "max_tokens": endLength, "max_output_tokens": endLength, "model_length": endLength, "context_length": endLength,
	"model_context_window_exceeded": endLength,
	"content_filter":                endFilter, "content_filtered": endFilter, "safety": endFilter, "recitation": endFilter, "sensitive": endFilter, "refusal": endFilter,
	"error": endBroken, "abort": endBroken, "cancelled": endBroken, "network_error": endBroken, "insufficient_system_resource": endBroken,
}

func (s *stream) endOf() end { return ends[strings.ToLower(s.reason)] }

// whole ends an answer whose end the service marked.
func (s *stream) whole() error {
	end := s.endOf()
	if rest := s.filter.End(end != endLength); rest != "" && s.ctx.Err() == nil {
		s.say(rest)
	}
	switch {
	case end == endLength:
		return &copilot.Error{Code: copilot.CutByLength, Message: "the answer reached the length limit of the model"}
	case end == endFilter && s.spoke:
		return &copilot.Error{Code: copilot.CutByFilter, Message: "the service's content filter cut off this answer"}
	case end == endFilter:
		return blocked()
	case end == endBroken:
		e := failed("the service failed before the end of the answer")
		e.Retryable = true
		return s.final(e)
	case !s.spoke && len(s.calls) == 0:
		return &copilot.Error{Code: codeEmpty, Message: "the service gave an empty answer", Retryable: true}
	}
	return nil
}

// final ends an answer that was cut off by a failure. After words were emitted it forbids
// a retry, whatever the failure.
func (s *stream) final(e *copilot.Error) *copilot.Error {
	if rest := s.filter.End(false); rest != "" && s.ctx.Err() == nil {
		s.say(rest)
	}
	if s.spoke {
		e.Code, e.Retryable, e.After = copilot.CutOff, false, 0
	}
	return e
}

func failed(format string, args ...any) *copilot.Error {
	return &copilot.Error{Code: codeFailed, Message: fmt.Sprintf(format, args...)}
}
