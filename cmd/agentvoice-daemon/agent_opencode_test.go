//go:build cgo && agents && linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// completions is the scripted model with OpenAI's chat completions. Its commands run in the folder
// that they name after "in", or else in that of the agent. The command "ask" asks the user.
type completions struct{ *model }

func (m completions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model    string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []json.RawMessage
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") || json.Unmarshal(raw, &body) != nil || len(body.Messages) == 0 {
		http.NotFound(w, r)
		return
	}
	if len(body.Tools) == 0 { // a title for the session
		m.stream(w, r, "hello, my name is Ada", "")
		return
	}
	m.mu.Lock()
	m.name, m.past = body.Model, string(raw)
	m.mu.Unlock()
	last := body.Messages[len(body.Messages)-1]
	says, command := m.reply(string(last.Content), last.Role == "tool")
	m.stream(w, r, says, command)
}

func (m completions) stream(w http.ResponseWriter, r *http.Request, says, command string) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, reason any) {
		b, err := json.Marshal(map[string]any{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}})
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", b)
		}
		if err == nil {
			w.(http.Flusher).Flush()
		}
	}
	for word := range m.words(r, says) {
		chunk(map[string]any{"role": "assistant", "content": word}, nil)
	}
	if r.Context().Err() != nil {
		return
	}
	reason := "stop"
	if command != "" {
		reason = "tool_calls"
		name, call := "bash", map[string]any{"command": command, "description": "Make the file that you named"}
		if line, folder, ok := strings.Cut(command, " in "); ok {
			call["command"], call["workdir"] = line, folder
		}
		if command == "ask" {
			name, call = "question", map[string]any{"questions": []any{map[string]any{"question": "Which color do you want?", "header": "Color",
				"options": []any{map[string]any{"label": "Red", "description": "warm"}, map[string]any{"label": "Blue", "description": "cold"}}}}}
		}
		args, _ := json.Marshal(call) // strings do not fail
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprint("call_", time.Now().UnixNano()), "type": "function",
			"function": map[string]any{"name": name, "arguments": string(args)}}}}, nil)
	}
	chunk(map[string]any{}, reason)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// startOpencode points opencode, or Kilo, which is made from it, at the scripted model, and begins
// a conversation. It asks before it runs a command, as its configuration says.
func startOpencode(t *testing.T, name string) (k typed, workspace string) {
	t.Helper()
	m := fileMaker()
	url := serveAgent(t, name, completions{m})
	home := t.TempDir()
	config := fmt.Sprintf(`{"model": "scripted/small", "small_model": "scripted/small", "share": "disabled", "enabled_providers": ["scripted"],
"permission": {"bash": "ask", "edit": "ask"},
"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"baseURL": "%s/v1", "apiKey": "none"},
"models": {"small": {"name": "Small"}, "large": {"name": "Large"}}}}}`, url)
	folder := filepath.Join(home, ".config", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	prefix := strings.ToUpper(name)
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": "",
		prefix + "_DISABLE_AUTOUPDATE": "true", prefix + "_DISABLE_MODELS_FETCH": "true", prefix + "_DISABLE_LSP_DOWNLOAD": "true",
		"KILO_TELEMETRY_LEVEL": "off", "KILO_DISABLE_SESSION_INGEST": "true", "KILO_DISABLE_PRESENCE": "true",
		"HTTP_PROXY": noProxy, "HTTPS_PROXY": noProxy, "NO_PROXY": "127.0.0.1,localhost",
	} {
		t.Setenv(name, value)
	}
	if out, err := exec.Command(name, "models").CombinedOutput(); err != nil || !strings.Contains(string(out), "scripted/large") { // makes its database, too
		t.Fatalf("%s does not read its configuration: %v\n%s", name, err, out)
	}
	workspace = enterWorkspace(t)
	return typed{begin(t, name), m}, workspace
}

// noProxy is the address of a proxy that does not exist: an agent reaches this machine only.
const noProxy = "http://127.0.0.1:1"

func TestOpencodeByText(t *testing.T) {
	k, workspace := startOpencode(t, "opencode")
	k.answersAndAsks(workspace, "opencode")
}

func TestKiloByText(t *testing.T) {
	k, workspace := startOpencode(t, "kilo")
	k.ask("switch to code mode")
	k.told("Shall I switch to it?")
	k.ask("yes")
	k.told("The mode is code now.")
	k.answersAndAsks(workspace, "kilo")
}

// answersAndAsks drives the agent by typed text through the sidecar: an answer, a tool that is
// allowed, one in another folder that is refused, one whose question is interrupted, and an answer
// that is interrupted. The same process serves all of it.
func (k typed) answersAndAsks(workspace, agent string) {
	k.t.Helper()
	k.makesFirstFile(workspace, "Make the file that you named")
	process := k.agentPID(agent)
	other := filepath.Join(workspace, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		k.t.Fatal(err)
	}
	k.m.mu.Lock()
	k.m.answer = func(_ int, words string) (string, string) {
		if strings.Contains(words, "second file") {
			return "I will make it there.", "touch second.txt in " + other
		}
		return "Hello there.", ""
	}
	k.m.mu.Unlock()

	k.ask("make the second file")
	p := k.tool(protocol.ToolWaiting)
	if !strings.Contains(p.Question, "other") {
		k.t.Errorf("the question %q does not name the folder in which the command runs; its input is %s", p.Question, p.Input)
	}
	k.call(protocol.MethodApproveTool, `{"callId":"`+p.CallID+`","approved":false}`, nil)
	k.tool(protocol.ToolRejected)
	k.state(protocol.StateListening)

	k.ask("make the second file")
	k.tool(protocol.ToolWaiting)
	k.forget()
	k.call(protocol.MethodInterrupt, `{"source":"command"}`, nil)
	k.state(protocol.StateListening)
	k.ask("hello again")
	k.answered("Hello there.")
	if exists(filepath.Join(other, "second.txt")) || exists(filepath.Join(workspace, "second.txt")) {
		k.t.Error("a tool ran that was refused or whose question was interrupted")
	}

	k.m.mu.Lock()
	k.m.slow = 300 * time.Millisecond
	k.m.answer = func(int, string) (string, string) { return strings.Repeat("This is a very long answer. ", 30), "" }
	k.m.mu.Unlock()
	k.ask("tell me a story")
	k.until("the first words", func(m wireMessage) bool {
		return m.Method == protocol.NotifyTranscript && strings.Contains(string(m.Params), "very long answer")
	})
	k.forget()
	k.call(protocol.MethodInterrupt, `{"source":"command"}`, nil)
	k.state(protocol.StateListening)
	k.m.mu.Lock()
	k.m.slow, k.m.answer = 0, fileMaker().answer
	k.m.mu.Unlock()
	k.ask("hello once more")
	k.answered("Hello there.")
	if now := k.agentPID(agent); now != process {
		k.t.Error("the agent was started again: it did not stop when asked to")
	}
	k.end()
}

// Its modes, models and sessions, in writing: each name is checked, and the agent really changes.
// No mode of opencode is known to ask.
func TestOpencodeChoices(t *testing.T) {
	k, _ := startOpencode(t, "opencode")
	k.ask("hello, my name is Ada")
	k.told("may act without asking you")
	k.written("Hello there.")
	k.ask("list the modes")
	k.told("The modes are build and plan. Now it is build.")
	k.ask("switch to plan mode")
	k.told("The mode is plan now.")
	k.choices("opencode")
}

// Its modes, models and sessions, and its own question, which it keeps.
func TestKiloChoices(t *testing.T) {
	k, _ := startOpencode(t, "kilo")
	k.ask("list the modes")
	k.told("The modes are code, ask, debug, orchestrator and plan. Now it is ask.")
	k.ask("hello, my name is Ada")
	k.written("Hello there.")
	process := k.agentPID("kilo")
	k.m.mu.Lock()
	k.m.answer = func(_ int, words string) (string, string) {
		if strings.Contains(words, "paint it") {
			return "One question.", "ask"
		}
		return "Hello there.", ""
	}
	k.m.mu.Unlock()
	k.ask("paint it")
	if p := k.tool(protocol.ToolWaiting); !strings.Contains(p.Question, "Which color do you want?") || !strings.Contains(p.Question, "Blue") {
		t.Errorf("the question is %q", p.Question)
	}
	k.ask("the blue one")
	k.written("Hello there.")
	k.m.mu.Lock()
	if !strings.Contains(k.m.past, "the blue one") {
		t.Errorf("the agent was not told the answer")
	}
	k.m.mu.Unlock()
	if now := k.agentPID("kilo"); now != process {
		t.Error("the agent was started again: it did not stop when asked to")
	}
	k.choices("kilo")
}

// choices switches the model, ends the conversation, and continues its session in another one.
func (k typed) choices(agent string) {
	k.t.Helper()
	k.ask("list the models")
	k.told("Scripted Large and Scripted Small")
	k.ask("switch to the model large")
	k.told("the model Scripted Large answers")
	k.ask("hello again")
	k.written("Hello there.")
	k.m.mu.Lock()
	if k.m.name != "large" {
		k.t.Errorf("the model %q answered", k.m.name)
	}
	k.m.mu.Unlock()
	k.end()

	k = typed{begin(k.t, agent), k.m}
	k.ask("list the sessions")
	k.told("The earlier sessions are: 1, hello my name is Ada.")
	k.ask("continue the last session")
	k.told("Continuing the session “hello my name is Ada”.")
	k.ask("what is my name")
	k.written("Hello there.")
	k.m.mu.Lock()
	if !strings.Contains(k.m.past, "my name is Ada") {
		k.t.Error("the session that was continued does not know what was said in it")
	}
	k.m.mu.Unlock()
	k.end()
}
