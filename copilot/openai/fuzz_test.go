package openai

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/reasoning"
)

// FuzzStream reads an answer of a chat endpoint, whatever it sends.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", "data: {\n", ": ping\n\n", "data:\ndata:\n\n", "data: null\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]}}]}\n\n",
		"data: {\"error\":[]}\n\n", "data: {\"usage\":{\"prompt_tokens\":-1}}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"<think>\"},\"finish_reason\":\"length\"}]}\n\n",
		"data:{\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("\xca", 1000) + "\"}}]}\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var said strings.Builder
		var models reasoning.Source
		s := stream{events: newEvents(bytes.NewReader(data)), ctx: t.Context(), emit: func(text string) { said.WriteString(text) }, filter: models.New("m"), tools: true}
		_ = s.read()
		s.calls.report(func(copilot.ToolCall) {})
		most := len(data) + 1000
		for rest := data; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 { // becomes the replacement character, of three bytes
				most += 2
			}
			rest = rest[n:]
		}
		if said.Len() > most {
			t.Errorf("%d bytes became %d, more than %d", len(data), said.Len(), most)
		}
	})
}
