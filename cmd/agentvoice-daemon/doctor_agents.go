package main

import (
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot/acp"
)

// agents lists the installed coding agents, and how to sign in to the chosen one. Only the
// agent itself knows whether the user is signed in.
func agents(chosen string) (string, error) {
	if command, ok := strings.CutPrefix(chosen, "acp:"); ok {
		path, err := acp.Find(command)
		if err != nil {
			what, fix, _ := strings.Cut(err.Error(), "; ")
			return "", fault{what, fix}
		}
		k, known := acp.KnownAgent(command)
		asks := "no mode of it is known in which it asks before each change: it may act unasked, as its own settings say"
		if k.Mode != "" {
			asks = "it is set to its mode " + k.Mode + ", in which it changes nothing unasked"
		}
		if !known {
			return path[0] + "; " + asks, nil
		}
		says := []string{fmt.Sprintf("%s at %s", k.Title, path[0]), k.Tried.String(), asks}
		if k.Wider != "" {
			says = append(says, k.Wider)
		}
		if k.SignIn != "" {
			says = append(says, "to sign in, "+k.SignIn)
		}
		return strings.Join(says, "; "), nil
	}
	var found []string
	for _, k := range acp.Agents {
		if _, err := acp.Find(k.Name); err == nil {
			found = append(found, fmt.Sprintf("%s (acp:%s)", k.Title, k.Name))
		}
	}
	if len(found) == 0 {
		return "no coding agent is installed; to use one, set agentvoice.agent, for example to acp:codex-acp (" + acp.Agents[0].HowToInstall() + ")", nil
	}
	return "available for agentvoice.agent: " + strings.Join(found, ", "), nil
}
