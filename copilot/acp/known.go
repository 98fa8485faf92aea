package acp

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
)

// Known is an agent that this adapter can start by name.
type Known struct {
	Name    string   `json:"name"`              // in agentvoice.agent, after acp:
	Title   string   `json:"title"`             // display name
	Command []string `json:"command"`           // command line that starts it; the program is looked for in the PATH
	Licence string   `json:"licence"`           // SPDX identifier, or in words
	Needs   string   `json:"needs,omitempty"`   // program that it needs, with the oldest version; "" for none
	Install string   `json:"install,omitempty"` // command that installs it; "" if only its page says how
	SignIn  string   `json:"signIn,omitempty"`  // how to sign in; "" if not known
	Mode    string   `json:"mode,omitempty"`    // the mode that it is set to, in which it changes nothing unasked; "" if none is known
	Wider   string   `json:"wider,omitempty"`   // how to let it do more
	// Former is an older agent whose program has the same name, or nil.
	Former *Former `json:"former,omitempty"`
	// Tried is the last version that was run here; nil if none was.
	Tried *Tried `json:"tried,omitempty"`
	Page  string `json:"page"` // of its makers
}

// Former is an agent that another one has replaced.
type Former struct {
	Agent   string `json:"agent"`   // its name in its response to initialize
	Package string `json:"package"` // that installs it
}

// Tried says how an agent was run.
type Tried struct {
	Version string `json:"version"`
	Day     string `json:"day"` // such as 2026-11-30
	As      Trial  `json:"as"`
}

// Trial is how far an agent was run.
type Trial string

// The trials. Each includes those before it, but the session needs no sign-in.
const (
	Handshake    Trial = "handshake"    // it answered initialize
	AskedSignIn  Trial = "sign-in"      // it asked to be signed in
	Session      Trial = "session"      // it opened a session
	Conversation Trial = "conversation" // this project's tests drive it
)

var trials = map[Trial]string{
	Handshake: "started", AskedSignIn: "started, up to its sign-in", Session: "started, with a session but without a model", Conversation: "driven by tests",
}

// String says what was tried in a few words.
func (t *Tried) String() string {
	if t == nil {
		return "not tried here"
	}
	return fmt.Sprintf("version %s was %s on %s", t.Version, trials[t.As], t.Day)
}

//go:embed agents.json
var agentsFile []byte

// Agents lists the known agents in display order.
var Agents = func() []Known {
	all, err := readAgents(agentsFile)
	if err != nil {
		panic(err) // the file is part of the program, and tested
	}
	return all
}()

// readAgents reads the table of known agents.
func readAgents(data []byte) (all []Known, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("agents.json: %w", err)
	}
	for i, k := range all {
		switch twice := slices.ContainsFunc(all[:i], func(o Known) bool { return o.Name == k.Name }); {
		case twice:
			return nil, fmt.Errorf("agents.json has %s twice", k.Name)
		case k.Name == "" || k.Title == "" || len(k.Command) == 0 || k.Licence == "" || k.Page == "":
			return nil, fmt.Errorf("agents.json: %q needs name, title, command, licence and page", k.Name)
		case k.Tried == nil:
			continue
		}
		if _, err := time.Parse(time.DateOnly, k.Tried.Day); err != nil || k.Tried.Version == "" || trials[k.Tried.As] == "" {
			return nil, fmt.Errorf("agents.json: %s was tried as version %q, on %q, as %q", k.Name, k.Tried.Version, k.Tried.Day, k.Tried.As)
		}
	}
	return all, nil
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

// HowToInstall says how to install the agent, as the end of a sentence.
func (k Known) HowToInstall() string {
	switch {
	case k.Install == "":
		return "its page says how to install it: " + k.Page
	case k.Needs != "":
		return fmt.Sprintf("install it with: %s (needs %s or later)", k.Install, k.Needs)
	}
	return "install it with: " + k.Install
}

// replaced returns an error if an agent is the former one of a known agent. An agent of that name
// that does not say what it is, is an old version of the former one.
func replaced(command string, is *acpsdk.Implementation) error {
	for _, k := range Agents {
		f := k.Former
		if f == nil || is == nil && k.Name != strings.TrimSpace(command) || is != nil && is.Name != f.Agent {
			continue
		}
		version := ""
		if is != nil {
			version = " " + is.Version
		}
		return missing(fmt.Sprintf("%s%s is no longer maintained, and %s has another package now; run: npm uninstall -g %s && %s", f.Package, version, k.Title, f.Package, k.Install))
	}
	return nil
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
		words, install = k.Command, k.HowToInstall()
	} else if path, err := exec.LookPath(command); err == nil { // a path that contains spaces
		return []string{path}, nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("cannot find the agent %q; %s", words[0], install)
	}
	return append([]string{path}, words[1:]...), nil
}
