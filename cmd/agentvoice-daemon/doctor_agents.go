package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/acp"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// examineAgent checks the assistant that the flags or the settings select. Without one it lists the
// coding agents that are installed.
func (f *doctorFlags) examineAgent(ctx context.Context, t *http.Transport) finding {
	if f.agent == "" {
		return check("agent", false, func() (string, error) { return installed(), nil })
	}
	if command, ok := strings.CutPrefix(f.agent, "acp:"); ok {
		return check("agent", true, func() (string, error) { return codingAgent(command) })
	}
	f.transport = t
	a, err := f.adapter()
	switch {
	case err != nil:
		return found("agent", true, "", nil, err)
	case f.agent == "offline":
		return found("agent", true, "offline: built-in answers that need no service", nil, nil)
	}
	detail, needed, err := f.chatService(ctx, a.(copilot.Lister), t)
	return found("agent", needed, detail, nil, err)
}

// chatService checks address, key and model of --agent openai by the list of its models, which costs
// nothing. Servers need not have that list, so a conversation may be possible without it.
func (f *doctorFlags) chatService(ctx context.Context, service copilot.Lister, t *http.Transport) (detail string, needed bool, err error) {
	model := f.assistantFlags.model
	where, err := reach(ctx, t, cmp.Or(f.assistantFlags.endpoint, openai.DefaultBaseURL), "--agent-endpoint", "")
	if err != nil {
		return "", true, err
	}
	key := "without a key"
	if os.Getenv(envOpenAI) != "" {
		key = "with the key in " + envOpenAI
	}
	ctx, stop := context.WithTimeout(ctx, checkTimeout)
	defer stop()
	list, err := service.Models(ctx)
	if err != nil {
		words := err.Error()
		if failed := (*copilot.Error)(nil); errors.As(err, &failed) {
			words, needed = failed.Message, failed.Code != string(protocol.CodeCopilotFailed)
		}
		what, fix, _ := strings.Cut(words, "; ")
		return "", needed, fault{fmt.Sprintf("%s does not list its models %s: %s", where, key, what), cmp.Or(fix, "check --agent-endpoint and "+envOpenAI)}
	}
	var names []string
	for _, m := range list {
		names = append(names, m.ID)
	}
	if len(names) > 0 && !slices.Contains(names, model) && !slices.Contains(names, model+":latest") { // Ollama's names
		slices.Sort(names)
		if like := nearest(model, names, len(model)/4); like != nil {
			names = like
		}
		return "", false, fault{fmt.Sprintf("%s does not list the model %s", where, model), "set --agent-model to one that it has, such as " + strings.Join(names[:min(len(names), 3)], ", ")}
	}
	return fmt.Sprintf("openai at %s, %s, model %s", where, key, model), true, nil
}

// codingAgent says where a coding agent is, and how to sign in to it. Only the agent itself knows
// whether the user is signed in.
func codingAgent(command string) (string, error) {
	path, err := acp.Find(command)
	if err != nil {
		return "", err
	}
	k, known := acp.KnownAgent(command)
	asks := "no mode of it is known in which it asks before each change: it may act unasked, as its own settings say"
	if k.Mode != "" {
		asks = "it is set to its mode " + k.Mode + ", in which it changes nothing unasked"
	}
	at := path[0]
	if v := packageVersion(at); v != "" {
		at += ", version " + v
	}
	if !known {
		return at + "; " + asks, nil
	}
	says := []string{fmt.Sprintf("%s at %s", k.Title, at), k.Tried.String(), asks}
	if k.Wider != "" {
		says = append(says, k.Wider)
	}
	if k.SignIn != "" {
		says = append(says, "to sign in, "+k.SignIn)
	}
	return strings.Join(says, "; "), nil
}

// packageVersion returns the version of the npm package that a program is part of, "" for others. The
// program is not started for it.
func packageVersion(program string) string {
	path, err := filepath.EvalSymlinks(program)
	if err != nil || path == program { // npm links the programs of a package
		return ""
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir) && filepath.Base(dir) != "node_modules"; dir = filepath.Dir(dir) {
		text, err := readNamed(filepath.Join(dir, "package.json"))
		var about struct{ Name, Version string }
		if err == nil && json.Unmarshal(text, &about) == nil && about.Name != "" {
			return about.Version
		}
	}
	return ""
}

// installed lists the installed coding agents.
func installed() string {
	var found []string
	for _, k := range acp.Agents {
		if _, err := acp.Find(k.Name); err == nil {
			found = append(found, fmt.Sprintf("%s (acp:%s)", k.Title, k.Name))
		}
	}
	if len(found) == 0 {
		return "no coding agent is installed; to use one, set agentvoice.agent, for example to acp:codex-acp (" + acp.Agents[0].HowToInstall() + ")"
	}
	return "available for agentvoice.agent: " + strings.Join(found, ", ")
}
