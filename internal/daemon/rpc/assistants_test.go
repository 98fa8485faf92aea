package rpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/headless"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// another is an assistant that answers through the client too. Its requests name it as the model.
type another struct {
	copilot.Adapter
	copilot.Caller
	daemon.Waiter
}

func (another) Title() string { return "Codex" }

func (a another) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	r.Model = strings.TrimPrefix("codex "+r.Model, " ")
	return a.Adapter.Send(ctx, r, emit)
}

// withAssistants serves a client that can choose between its own assistant, Codex, and the
// offline one.
func withAssistants(t *testing.T) *client {
	cfg := scriptedConfig(t, "auto speech 0ms 1s")
	script, err := headless.Parse("auto speech 0ms 1s")
	if err != nil {
		t.Fatal(err)
	}
	clock := cfg.Clock.(*dispatch.Virtual)
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		codex := another{c.Copilot, c.Copilot.(copilot.Caller), c.Copilot.(daemon.Waiter)}
		stage := headless.New(script, clock, daemon.Config{
			Settings: c.Settings, Locale: c.Locale, Adapter: c.Copilot, Notify: c.Notify, Verify: true, Log: zerolog.Nop(), Editor: c.Editor,
			Choose: func(s protocol.Settings, _ string, _ bool) copilot.Adapter {
				if s.Agent == "" {
					return nil
				}
				return codex
			},
			Assistants: func(s protocol.Settings) ([]protocol.Assistant, string) {
				selected := s.Agent
				if selected == "" {
					selected = protocol.EditorAssistant
				}
				return []protocol.Assistant{
					{ID: protocol.EditorAssistant, Title: "Copilot", Found: true}, {ID: "acp:codex-acp", Title: "Codex", Found: true},
					{ID: protocol.OfflineAssistant, Title: "Agent Voice", Found: true}, {ID: "acp:gemini", Title: "Gemini CLI", Install: "npm install"},
				}, selected
			},
			Check: func(_ context.Context, _ protocol.Settings, id, folder string) error {
				switch {
				case id == "acp:gemini":
					return &copilot.Error{Code: string(csm.CodeAgentSignIn)}
				case folder == "":
					return errors.New("no folder")
				}
				return nil
			},
		})
		return rpc.Backend{Daemon: stage.Daemon(), Audio: stage.World(), PressToTalk: stage.World().PressToTalk, Stage: stage}, nil
	}
	return serve(t, cfg, true)
}

// selects selects an assistant and waits for what the daemon says of it.
func (c *client) selects(id, says string) {
	c.t.Helper()
	answer := c.request(protocol.MethodSelectAssistant, object{"id": id})
	c.until(says, func(m message) bool { return strings.Contains(string(m.Params), says) })
	c.answer(answer)
}

// The assistant that is chosen during an answer answers the next message, and knows what was
// said. The request that runs keeps the one that it began with, through all its rounds.
func TestAssistantSelectedInTheMiddle(t *testing.T) {
	c := withAssistants(t)
	c.initialize(withTools, object{"agentvoice.copilot.model": "gpt-4.1"})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.request(protocol.MethodSendText, object{"text": "Do the tests pass?"})
	id, p := c.asked()
	c.wantsTool(p, "call-1", "runTests", object{}, nil)
	c.selects("acp:codex-acp", "From your next message on, Codex answers. It gets what was said so far, but not what was read or changed meanwhile.")
	c.respond(id, completedResult)
	c.tool(protocol.ToolWaiting)
	c.allow("call-1")
	run, _ := c.invoked()
	c.respond(run, object{"content": "42 passed"})
	id, p = c.asked()
	if p.Round != 1 || p.Model != "gpt-4.1" {
		t.Errorf("the second round is %+v, want the assistant it began with", p)
	}
	c.delta(p, 0, "Yes.")
	c.respond(id, completedResult)
	c.call(protocol.MethodAdvance, object{"ms": 5000}, nil)

	c.request(protocol.MethodSendText, object{"text": "Who are you?"})
	id, p = c.asked()
	if p.Model != "codex " {
		t.Errorf("the next message goes to %q, want Codex without a model of Copilot's", p.Model)
	}
	if first := p.Messages[0].Content; first != "Do the tests pass?" || p.Messages[len(p.Messages)-1].Content != "Who are you?" {
		t.Errorf("it gets %+v", p.Messages)
	}
	c.delta(p, 0, "Codex.")
	c.respond(id, completedResult)
	c.call(protocol.MethodAdvance, object{"ms": 5000}, nil)

	c.selects("copilot", "From your next message on, Copilot answers. It gets what was said so far")
	c.request(protocol.MethodSendText, object{"text": "And now?"})
	if _, p = c.asked(); p.Model != "gpt-4.1" {
		t.Errorf("the next message goes to %q, want Copilot's model", p.Model)
	}
	c.end()
}

// A model that is chosen for one assistant stays with it.
func TestModelsStayWithTheirAssistant(t *testing.T) {
	c := withAssistants(t)
	c.initialize(withTools, object{"agentvoice.copilot.model": "gpt-4.1"})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.selects("acp:codex-acp", "From your next message on, Codex answers.")
	c.call(protocol.MethodSelectModel, object{"id": "large"}, nil)
	c.request(protocol.MethodSendText, object{"text": "And with more thought?"})
	id, p := c.asked()
	if p.Model != "codex large" {
		t.Errorf("the next message goes to %q, want the model that was chosen", p.Model)
	}
	c.delta(p, 0, "Still Codex.")
	c.respond(id, completedResult)
	c.call(protocol.MethodAdvance, object{"ms": 5000}, nil)
	c.selects("copilot", "From your next message on, Copilot answers.")
	c.request(protocol.MethodSendText, object{"text": "And now?"})
	if _, p = c.asked(); p.Model != "gpt-4.1" {
		t.Errorf("the next message goes to %q, want Copilot's model", p.Model)
	}
	c.end()
}

// The list says what is installed; a check tries one, and says why it cannot answer.
func TestAssistantsAreListedAndChecked(t *testing.T) {
	c := withAssistants(t)
	c.initialize(withTools, nil)
	var all protocol.AssistantsResult
	c.call(protocol.MethodAssistants, object{}, &all)
	if all.Selected != protocol.EditorAssistant || len(all.Assistants) != 4 || all.Assistants[3].Ready != nil {
		t.Errorf("the list is %+v", all)
	}
	c.call(protocol.MethodAssistants, object{"check": "acp:gemini"}, &all)
	if g := all.Assistants[3]; g.Ready == nil || *g.Ready || g.Code != protocol.CodeAgentSignIn || g.Reason != "The coding agent is not signed in." {
		t.Errorf("the check found %+v", g)
	}
	c.call(protocol.MethodSelectAssistant, object{"id": "acp:codex-acp"}, nil)
	c.call(protocol.MethodAssistants, nil, &all)
	if all.Selected != "acp:codex-acp" {
		t.Errorf("selected %q", all.Selected)
	}
	c.refused(protocol.MethodSelectAssistant, object{"id": "acp:nobody"}, protocol.CodeInvalidParams)
	c.end()
}
