package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
)

func TestEndIsReportedAsUnknown(t *testing.T) {
	for _, tt := range []struct {
		events  []string
		unknown bool
	}{
		{[]string{content("a"), finish("stop"), "[DONE]"}, false},
		{[]string{content("a"), finish("STOP")}, false},
		{[]string{content("a"), "[DONE]"}, true},
		{[]string{content("a"), finish("some new reason")}, true},
		{[]string{content("a"), finish("length")}, false}, // known, and an error
		{[]string{"[DONE]"}, false},                       // empty, which is an error
	} {
		unknown := 0
		r := request
		r.EndUnknown = func() { unknown++ }
		_ = serve(t, sse(tt.events...)).Send(t.Context(), r, func(string) {})
		if (unknown == 1) != tt.unknown || unknown > 1 {
			t.Errorf("%q: reported %d times, want %t", tt.events, unknown, tt.unknown)
		}
	}
}

// TestReasoningIsNotText: reasoning is a sign of life, and nothing else.
func TestReasoningIsNotText(t *testing.T) {
	for name, events := range map[string][]string{
		"tags":        {content("<think>CANARY"), content(" CANARY</th"), content("ink>four")},
		"a field":     {`{"choices":[{"delta":{"reasoning_content":"CANARY"}}]}`, content("four")},
		"an object":   {`{"choices":[{"delta":{"reasoning":{"text":"CANARY"}}}]}`, content("four")},
		"details":     {`{"choices":[{"delta":{"content":"","reasoning_details":[{"type":"reasoning.text","text":"CANARY"}]}}]}`, content("four")},
		"parts":       {`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"CANARY"}]}]}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"fo"},{"type":"text","text":"ur"}]}}]}`},
		"both fields": {`{"choices":[{"delta":{"content":null,"reasoning":"CANARY","reasoning_content":"CANARY"}}]}`, content("four")},
		"field, tags": {`{"choices":[{"delta":{"reasoning":"CANARY"}}]}`, content("<think>CANARY</think>four")},
		"other field": {`{"choices":[{"delta":{"reasoning":"CANARY"}}]}`, content("four")},
	} {
		var pieces []string
		err := serve(t, sse(append(events, finish("stop"))...)).Send(t.Context(), request, func(s string) { pieces = append(pieces, s) })
		if err != nil || strings.Join(pieces, "") != "four" || pieces[0] != "" {
			t.Errorf("%s: got %q, %v, want a sign of life and the answer", name, pieces, err)
		}
	}
}

// TestUnmarkedReasoning: the text of a model whose template begins the reasoning is held
// until the reasoning ends, or until the service reports reasoning in a field.
func TestUnmarkedReasoning(t *testing.T) {
	thinking := func(o *openai.Options) { o.Model = "deepseek-r1:7b" }
	var pieces []string
	emit := func(s string) { pieces = append(pieces, s) }
	a := serve(t, sse(content("CANARY"), content(" plan</think>fo"), content("ur"), finish("stop")), thinking)
	if err := a.Send(t.Context(), request, emit); err != nil || !slices.Equal(pieces, []string{"", "fo", "ur"}) {
		t.Errorf("got %q, %v", pieces, err)
	}
	pieces = nil
	a = serve(t, sse(`{"choices":[{"delta":{"reasoning":"CANARY"}}]}`, content("fo"), content("ur"), finish("stop")), thinking)
	if err := a.Send(t.Context(), request, emit); err != nil || !slices.Equal(pieces, []string{"", "fo", "ur"}) {
		t.Errorf("with a field: got %q, %v", pieces, err)
	}
	a = serve(t, sse(content("four"), finish("stop")), thinking)
	if text, err := send(t, a); text != "four" || err != nil {
		t.Errorf("without reasoning: got %q, %v", text, err)
	}
	a = serve(t, sse(content("CANARY"), finish("length")), thinking)
	if text, err := send(t, a); text != "" || wantError(t, err, "answerCutLength", false) == nil {
		t.Errorf("cut reasoning: got %q", text)
	}
}

func TestNotesOfMessages(t *testing.T) {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&body)
		writeEvents(w, content("ok"), finish("stop"))
	})
	r := copilot.Request{Messages: []copilot.Message{
		{Role: copilot.RoleUser, Content: "typed"}, {Role: copilot.RoleAssistant, Content: "whole"},
		{Role: copilot.RoleUser, Content: "spoken", Dictated: true}, {Role: copilot.RoleAssistant, Content: "half", Cut: true},
	}}
	if err := a.Send(t.Context(), r, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"typed", "whole", "spoken\n\n" + copilot.DictatedNote, "half\n\n" + copilot.CutNote} {
		if got := body.Messages[i+1].Content; got != want {
			t.Errorf("message %d is sent as %q, want %q", i, got, want)
		}
	}
}

// TestEmptyReasoningIsNoSign: servers send the field with every piece of the answer.
func TestEmptyReasoningIsNoSign(t *testing.T) {
	for _, empty := range []string{`null`, `""`, `[]`} {
		a := serve(t, sse(`{"choices":[{"delta":{"reasoning":`+empty+`,"content":"CANARY"}}]}`, content("</think>four"), finish("stop")), func(o *openai.Options) { o.Model = "qwq" })
		if text, err := send(t, a); text != "four" || err != nil {
			t.Errorf("%s: got %q, %v; the text is no longer held", empty, text, err)
		}
	}
}

func TestCutSummaryIsUsed(t *testing.T) {
	said := []copilot.Message{{Role: copilot.RoleUser, Content: "hello"}}
	if text, err := serve(t, sse(content("A summary"), finish("length"))).Summarise(t.Context(), said); text != "A summary" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if text, err := serve(t, sse(content("A summary"), finish("content_filter"))).Summarise(t.Context(), said); text != "" || err == nil {
		t.Errorf("a filtered summary: got %q, %v", text, err)
	}
}
