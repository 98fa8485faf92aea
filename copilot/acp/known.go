package acp

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Known is an agent that this adapter can start by name.
type Known struct {
	Name    string   // in agentvoice.agent, after acp:
	Title   string   // display name
	Command []string // command line that starts it
	Install string   // command that installs it
	SignIn  string   // how to sign in
	Mode    string   // its asking mode, or "" if unknown
}

// Agents lists the known agents in display order.
var Agents = []Known{
	{"codex-acp", "Codex", []string{"codex-acp"}, "npm install -g @zed-industries/codex-acp", "run `codex login` (with a key: `codex login --with-api-key`)", "read-only"},
	{"gemini", "Gemini CLI", []string{"gemini", "--acp"}, "npm install -g @google/gemini-cli", "run `gemini` once and sign in, or set GEMINI_API_KEY", "default"},
	{"copilot", "GitHub Copilot CLI", []string{"copilot", "--acp", "--stdio"}, "npm install -g @github/copilot", "run `copilot` once and enter /login", ""},
	{"opencode", "opencode", []string{"opencode", "acp"}, "npm install -g opencode-ai", "run `opencode auth login`", ""},
	{"claude-agent-acp", "Claude Agent", []string{"claude-agent-acp"}, "npm install -g @agentclientprotocol/claude-agent-acp", "run `claude` once and sign in, or set ANTHROPIC_API_KEY", "default"},
	{"qwen", "Qwen Code", []string{"qwen", "--acp"}, "npm install -g @qwen-code/qwen-code", "run `qwen` once and sign in", "default"},
}

// KnownAgent returns the known agent that a command names.
func KnownAgent(command string) (k Known, ok bool) {
	for _, k := range Agents {
		if k.Name == strings.TrimSpace(command) {
			return k, true
		}
	}
	return Known{}, false
}

// Title returns the display name of a known agent, or the program name of another
// command.
func Title(command string) string {
	if k, ok := KnownAgent(command); ok {
		return k.Title
	}
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return strings.TrimSuffix(filepath.Base(program), ".exe")
}

// Find returns the program of a command with its arguments. The command is the name of a
// known agent, the path of a program, or a program and its arguments separated by spaces.
func Find(command string) ([]string, error) {
	command = strings.TrimSpace(command)
	if command == "" {
		return nil, fmt.Errorf("no agent is named after acp:; name its command, such as acp:codex-acp")
	}
	words, install := strings.Fields(command), "install it, or give its full path"
	if k, ok := KnownAgent(command); ok {
		words, install = k.Command, "install it with: "+k.Install
	} else if path, err := exec.LookPath(command); err == nil { // a path that contains spaces
		return []string{path}, nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("cannot find the agent %q; %s", words[0], install)
	}
	return append([]string{path}, words[1:]...), nil
}
