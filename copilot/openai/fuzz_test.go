package openai

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/reasoning"
)

// FuzzStream reads an answer of a chat endpoint, whatever it sends.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", "data: {\n", ": ping\n\n", "data:\ndata:\n\n", "data: null\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]}}]}\n\n",
		"data: {\"error\":[]}\n\n", "data: {\"usage\":{\"prompt_tokens\":-1}}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"<think>\"},\"finish_reason\":\"length\"}]}\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var said strings.Builder
		var models reasoning.Source
		s := stream{events: newEvents(bytes.NewReader(data)), ctx: t.Context(), emit: func(text string) { said.WriteString(text) }, filter: models.New("m"), tools: true}
		_ = s.read()
		s.calls.report(func(copilot.ToolCall) {})
		if said.Len() > len(data)+1000 {
			t.Errorf("%d bytes became %d", len(data), said.Len())
		}
	})
}
