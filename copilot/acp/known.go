package acp

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Known is an agent that this adapter knows how to start.
type Known struct {
	Name    string   // in agentvoice.agent, after acp:
	Title   string   // for people
	Command []string // that starts it
	Install string   // what installs it
	SignIn  string   // how its user signs in
	Mode    string   // in which it asks before each change, "" where none is known
}

// Agents are the agents that are known, in the order in which they are listed.
var Agents = []Known{
	{"codex-acp", "Codex", []string{"codex-acp"}, "npm install -g @zed-industries/codex-acp", "run `codex login`, or set OPENAI_API_KEY", "read-only"},
	{"gemini", "Gemini CLI", []string{"gemini", "--acp"}, "npm install -g @google/gemini-cli", "run `gemini` once and sign in, or set GEMINI_API_KEY", "default"},
	{"copilot", "GitHub Copilot CLI", []string{"copilot", "--acp", "--stdio"}, "npm install -g @github/copilot", "run `copilot` once and enter /login", ""},
	{"opencode", "opencode", []string{"opencode", "acp"}, "npm install -g opencode-ai", "run `opencode auth login`", ""},
	{"claude-agent-acp", "Claude Agent", []string{"claude-agent-acp"}, "npm install -g @agentclientprotocol/claude-agent-acp", "run `claude` once and sign in, or set ANTHROPIC_API_KEY", "default"},
	{"qwen", "Qwen Code", []string{"qwen", "--acp"}, "npm install -g @qwen-code/qwen-code", "run `qwen` once and sign in", "default"},
}

// KnownAgent is the known agent that a command names; ok is false for another one.
func KnownAgent(command string) (k Known, ok bool) {
	for _, k := range Agents {
		if k.Name == strings.TrimSpace(command) {
			return k, true
		}
	}
	return Known{}, false
}

// title is what people call the agent of a command: its known name, or that of its program.
func title(command string) string {
	if k, ok := KnownAgent(command); ok {
		return k.Title
	}
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return strings.TrimSuffix(filepath.Base(program), ".exe")
}

// Find returns the program of a command with its arguments. The command is the name
// of a known agent, the path of a program, or a program and its arguments with spaces
// between them.
func Find(command string) ([]string, error) {
	command = strings.TrimSpace(command)
	if command == "" {
		return nil, fmt.Errorf("no agent is named after acp:; name its command, such as acp:codex-acp")
	}
	words, install := strings.Fields(command), "install it, or give its full path"
	if k, ok := KnownAgent(command); ok {
		words, install = k.Command, "install it with: "+k.Install
	} else if path, err := exec.LookPath(command); err == nil { // a path with spaces
		return []string{path}, nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("cannot find the agent %q; %s", words[0], install)
	}
	return append([]string{path}, words[1:]...), nil
}
