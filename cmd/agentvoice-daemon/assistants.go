package main

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/acp"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// assistants are those that a client of the daemon can choose.
type assistants struct {
	*assistantFlags
	editor bool // the client brings one
	// ask requests the key of a chat endpoint from the client; nil if it stores no secrets.
	ask func(context.Context, protocol.CredentialsParams) (protocol.CredentialsResult, error)
}

// of returns the assistants for a client.
func (f *assistantFlags) of(c rpc.Client) assistants {
	return assistants{f, c.Copilot != nil, c.Credential}
}

// isChat reports whether an assistant is a chat endpoint, and with which model; "" is that of the
// settings.
func isChat(name string) (model string, is bool) {
	kind, model, _ := strings.Cut(name, ":")
	return model, kind == protocol.ChatAssistant
}

// chat returns the assistant of a chat endpoint. The key in the environment is for the address of
// the command line, or OpenAI's; an address in the settings gets only the key that the client
// stores for it.
func (f assistants) chat(s protocol.ChatSettings, model string) (*openai.Adapter, error) {
	o := openai.Options{
		BaseURL: cmp.Or(s.Endpoint, f.endpoint), Model: cmp.Or(model, s.Model, f.model),
		Effort: services.Effort, Transport: f.transport,
	}
	if s.Endpoint == "" {
		o.Key = openai.NewKey(os.Getenv(envOpenAI))
	}
	if own, base := o.Key, o.BaseURL; f.ask != nil {
		o.Ask = func(ctx context.Context) openai.Key {
			secret, err := f.ask(ctx, protocol.CredentialsParams{Provider: protocol.ProviderOpenAI, Kind: protocol.CredentialChatKey, Endpoint: base})
			if err != nil || secret.Value == "" { // a server on this machine needs none
				return own
			}
			return openai.NewKey(secret.Value)
		}
	}
	return openai.New(o)
}

// idOf returns the id of the assistant for the settings.
func (f assistants) idOf(s protocol.Settings) string {
	name := s.Agent
	switch model, chat := isChat(name); {
	case name == "" && f.editor:
		return protocol.EditorAssistant
	case name == "" && f.agent != "":
		s.Agent = f.agent
		return f.idOf(s)
	case chat:
		return protocol.ChatAssistant + ":" + cmp.Or(model, s.Chat.Model, f.model)
	case name == protocol.OfflineAssistant || strings.HasPrefix(name, protocol.AgentPrefix):
		return name
	}
	return protocol.AgentPrefix + name
}

// list returns the assistants, and the id of the one for the settings. Known agents that are not
// installed come last. Nothing is started.
func (f assistants) list(s protocol.Settings) (all []protocol.Assistant, selected string) {
	selected = f.idOf(s)
	if f.editor {
		all = append(all, protocol.Assistant{ID: protocol.EditorAssistant, Title: "Copilot", Found: true})
	}
	for _, k := range acp.Agents {
		all = append(all, agentOf(k))
	}
	model := cmp.Or(s.Chat.Model, f.model)
	has := s.Chat != protocol.ChatSettings{} || f.endpoint != "" || os.Getenv(envOpenAI) != ""
	all = append(all, f.endpointOf(s, model, has || selected == protocol.ChatAssistant+":"+model))
	if other, is := isChat(selected); is && other != model {
		all = append(all, f.endpointOf(s, other, true))
	}
	all = append(all, protocol.Assistant{ID: protocol.OfflineAssistant, Title: "Agent Voice", Found: true})
	if !slices.ContainsFunc(all, func(a protocol.Assistant) bool { return a.ID == selected }) {
		command := strings.TrimPrefix(selected, protocol.AgentPrefix)
		path, err := acp.Find(command)
		other := protocol.Assistant{ID: selected, Title: acp.Title(command), Found: err == nil}
		if err == nil {
			other.Where = path[0]
		}
		all = append(all, other)
	}
	slices.SortStableFunc(all, func(a, b protocol.Assistant) int { return rank(a) - rank(b) })
	return all, selected
}

func rank(a protocol.Assistant) int {
	if a.Found {
		return 0
	}
	return 1
}

// endpointOf returns a model of the chat endpoint as an assistant.
func (f assistants) endpointOf(s protocol.Settings, model string, found bool) protocol.Assistant {
	return protocol.Assistant{
		ID: protocol.ChatAssistant + ":" + model, Title: model, Found: found, Where: cmp.Or(s.Chat.Endpoint, f.endpoint, openai.DefaultBaseURL),
	}
}

// agentOf returns a known agent as an assistant.
func agentOf(k acp.Known) protocol.Assistant {
	a := protocol.Assistant{ID: protocol.AgentPrefix + k.Name, Title: k.Title, Install: k.Install, SignIn: k.SignIn, Page: k.Page}
	if path, err := acp.Find(k.Name); err == nil {
		a.Found, a.Where = true, path[0]
	}
	return a
}

// check tries an assistant and returns why it cannot answer. An agent is started in folder and
// opens a session, which it refuses where a sign-in is missing.
func (f assistants) check(ctx context.Context, s protocol.Settings, id, folder string) error {
	if id == protocol.EditorAssistant || id == protocol.OfflineAssistant {
		return nil
	}
	if model, chat := isChat(id); chat {
		return f.checkChat(ctx, s.Chat, model)
	}
	command := strings.TrimPrefix(id, protocol.AgentPrefix)
	if _, err := acp.Find(command); err != nil {
		return &copilot.Error{Code: string(csm.CodeAgentMissing), Message: err.Error()}
	}
	if folder == "" {
		return &copilot.Error{Code: string(csm.CodeNoTrustedFolder), Message: daemon.ErrNoTrustedFolder.Error()}
	}
	a, err := f.agentIn(command, folder)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	_, err = a.Modes(ctx)
	return err
}

// checkChat has a chat endpoint list its models.
func (f assistants) checkChat(ctx context.Context, s protocol.ChatSettings, model string) error {
	a, err := f.chat(s, model)
	if err != nil {
		return &copilot.Error{Code: string(csm.CodeCopilotFailed), Message: err.Error()}
	}
	defer func() { _ = a.Close() }()
	list, err := a.Models(ctx)
	if err != nil {
		return err
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(m copilot.Model) bool { return m.ID == a.Title() || m.ID == a.Title()+":latest" }) {
		return &copilot.Error{Code: string(csm.CodeModelUnavailable), Message: "the service does not list the model " + a.Title()}
	}
	return nil
}

func (f *assistantFlags) agentIn(command, dir string) (*acp.Adapter, error) {
	return acp.New(acp.Options{Command: command, Dir: dir, Withheld: []string{envOpenAI, envTURN, envAzure, envLocal, envOther}})
}
