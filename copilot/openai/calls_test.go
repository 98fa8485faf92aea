package openai

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// A service controls the names and sizes of calls, so both are bounded.
func TestCallsOfAnAnswerAreBounded(t *testing.T) {
	piece := func(index int, arguments string) callDelta {
		d := callDelta{Index: index, ID: "c"}
		d.Function.Name, d.Function.Arguments = "f", arguments
		return d
	}
	c := calls(nil).add([]callDelta{piece(-1, "a"), piece(maxCalls, "b"), piece(1<<40, "c")})
	if len(c) != 0 {
		t.Errorf("%d calls are kept of indexes out of bounds", len(c))
	}
	c = c.add([]callDelta{piece(maxCalls-1, "a")})
	c = c.add([]callDelta{piece(maxCalls-1, strings.Repeat("b", maxArguments))})
	if len(c) != maxCalls || string(c[maxCalls-1].Input) != "a" {
		t.Errorf("%d calls; the last has %d bytes", len(c), len(c[len(c)-1].Input))
	}
	c = c.add([]callDelta{piece(maxCalls-1, strings.Repeat("b", maxArguments-1))})
	if n := len(c[maxCalls-1].Input); n != maxArguments {
		t.Errorf("the last has %d bytes, want %d", n, maxArguments)
	}
}

// Only OpenAI's own models are asked for an effort: other servers reject unknown members.
func TestEffortIsAskedOfOpenAI(t *testing.T) {
	effort := func(model string) string { return map[string]string{"thinks": "none"}[model] }
	for base, want := range map[string]string{"": "none", "http://127.0.0.1:11434/v1": ""} {
		a, err := New(Options{BaseURL: base, Model: "thinks", Effort: effort})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.request(copilot.Request{}).Effort; got != want {
			t.Errorf("%q: %q, want %q", base, got, want)
		}
		if got := a.request(copilot.Request{Model: "other"}).Effort; got != "" {
			t.Errorf("%q, another model: %q", base, got)
		}
	}
}
