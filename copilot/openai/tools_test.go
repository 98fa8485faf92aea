package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
)

// callChunk is a piece of two tool calls.
const (
	callBegin = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":"}},{"index":1,"id":"call_2","type":"function","function":{"name":"time","arguments":""}}]}}]}`
	callRest  = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Rome\"}"}}]}}]}`
)

// A request with a tool choice offers the tools, links each result to its call, and
// receives complete calls.
func TestTools(t *testing.T) {
	var got map[string]any
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		writeEvents(w, callBegin, callRest, finish("tool_calls"), "[DONE]")
	})
	var calls []copilot.ToolCall
	err := a.Send(t.Context(), copilot.Request{
		Instructions: "Be brief.", ToolChoice: "weather", MaxTokens: 50,
		Tools: []copilot.Tool{{Name: "weather", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []copilot.Message{
			{Role: copilot.RoleUser, Content: "Rome?"},
			{Role: copilot.RoleTool, Content: "rain", Call: &copilot.ToolCall{ID: "c1", Name: "weather", Input: json.RawMessage(`{}`)}},
			{Role: copilot.RoleTool, Content: "noon", Call: &copilot.ToolCall{ID: "c2", Name: "time", Input: json.RawMessage(`{}`)}},
		},
		Wants: func(c copilot.ToolCall) { calls = append(calls, c) },
	}, func(text string) { t.Errorf("text %q", text) })
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != 2 || calls[0].ID != "call_1" || string(calls[0].Input) != `{"city":"Rome"}` || calls[1].Name != "time" {
		t.Errorf("calls %+v", calls)
	}
	want := `{"max_tokens":50,"messages":[{"content":"Be brief.","role":"system"},{"content":"Rome?","role":"user"},` +
		`{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"weather"},"id":"c1","type":"function"},{"function":{"arguments":"{}","name":"time"},"id":"c2","type":"function"}]},` +
		`{"content":"rain","role":"tool","tool_call_id":"c1"},{"content":"noon","role":"tool","tool_call_id":"c2"}],"model":"test-model","stream":true,` +
		`"tool_choice":{"function":{"name":"weather"},"type":"function"},"tools":[{"function":{"name":"weather","parameters":{"type":"object"}},"type":"function"}]}`
	if b, _ := json.Marshal(got); string(b) != want {
		t.Errorf("the request is\n%s\nwant\n%s", b, want)
	}
}

// Without a tool choice no tools are offered, and an answer with only an unsolicited call
// counts as empty.
func TestToolsAreOmitted(t *testing.T) {
	a := serve(t, sse(callBegin, finish("tool_calls"), "[DONE]"), func(*openai.Options) {})
	r := request
	r.Tools, r.Wants = []copilot.Tool{{Name: "weather"}}, func(c copilot.ToolCall) { t.Errorf("call %+v", c) }
	wantError(t, a.Send(t.Context(), r, func(string) {}), "copilotEmpty", true)
}

// A tool choice without tools is left out: services reject it.
func TestToolChoiceNeedsTools(t *testing.T) {
	var got map[string]any
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		writeEvents(w, content("Yes."), finish("stop"), "[DONE]")
	})
	r := request
	r.ToolChoice = "auto"
	if err := a.Send(t.Context(), r, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if choice, ok := got["tool_choice"]; ok {
		t.Errorf("the tool choice %v was sent", choice)
	}
}
