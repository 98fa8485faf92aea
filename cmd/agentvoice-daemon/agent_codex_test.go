//go:build cgo && agents && linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// responses is the scripted model with OpenAI's Responses API.
type responses struct{ *model }

func (m responses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model string
		Text  struct {
			Format struct{ Type string }
		}
		Input []struct {
			Type    string
			Role    string
			Content json.RawMessage
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/responses") || json.Unmarshal(raw, &body) != nil || len(body.Input) == 0 {
		http.NotFound(w, r)
		return
	}
	if body.Text.Format.Type == "json_schema" { // a title for the session: what Codex calls it without one
		m.stream(w, r, `{"title":"hello, my name is Ada"}`, "")
		return
	}
	m.mu.Lock()
	m.name, m.past = body.Model, string(raw)
	m.mu.Unlock()
	words := ""
	for _, in := range body.Input {
		var parts []struct{ Text string }
		if in.Role == "user" && json.Unmarshal(in.Content, &parts) == nil && len(parts) > 0 {
			words = fmt.Sprint(parts, len(body.Input))
		}
	}
	says, command := m.reply(words, strings.HasSuffix(body.Input[len(body.Input)-1].Type, "_output"))
	m.stream(w, r, says, command)
}

func (m responses) stream(w http.ResponseWriter, r *http.Request, says, command string) {
	w.Header().Set("Content-Type", "text/event-stream")
	seq := 0
	event := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, seq
		seq++
		b, err := json.Marshal(fields)
		if err == nil {
			_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
		}
		if err == nil {
			w.(http.Flusher).Flush()
		}
	}
	object := func(kind string, more map[string]any) map[string]any { more["type"] = kind; return more }
	message := func(content ...any) map[string]any {
		return object("message", map[string]any{"id": "m1", "role": "assistant", "status": "completed", "content": content})
	}
	event("response.created", map[string]any{"response": map[string]any{"id": "r1", "object": "response", "status": "in_progress", "output": []any{}}})
	event("response.output_item.added", map[string]any{"output_index": 0, "item": message()})
	for word := range m.words(r, says) {
		event("response.output_text.delta", map[string]any{"item_id": "m1", "output_index": 0, "content_index": 0, "delta": word})
	}
	if r.Context().Err() != nil {
		return
	}
	output := []any{message(map[string]any{"type": "output_text", "text": says, "annotations": []any{}})}
	event("response.output_item.done", map[string]any{"output_index": 0, "item": output[0]})
	if command != "" {
		args, _ := json.Marshal(map[string]string{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "The file is wanted."})
		call := object("function_call", map[string]any{"id": "f1", "call_id": fmt.Sprintf("call_%d", time.Now().UnixNano()), "status": "completed", "name": "exec_command", "arguments": string(args)})
		event("response.output_item.done", map[string]any{"output_index": 1, "item": call})
		output = append(output, call)
	}
	event("response.completed", map[string]any{"response": map[string]any{"id": "r1", "object": "response", "status": "completed", "output": output,
		"usage": map[string]any{"input_tokens": 1, "input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 2}}})
}

// codex configures the real agent for a scripted model and returns its working folder.
func codex(t *testing.T, m *model) (workspace string) {
	t.Helper()
	url := serveAgent(t, "codex-acp", responses{m})
	home := t.TempDir()
	config := fmt.Sprintf(`model = "gpt-6-sol"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
requires_openai_auth = false
`, url)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CODEX_HOME", home)
	t.Setenv("SCRIPTED_KEY", "none")
	return enterWorkspace(t)
}

// recordLines writes a recording of the lines with a pause after each. The noise is the same
// in every run.
func recordLines(t *testing.T, path string, lines []line) {
	t.Helper()
	synth, err := voice.Flite()()
	if err != nil {
		t.Fatal(err)
	}
	const rate = 16000
	pcm := make([]int16, rate*3/2)
	for _, l := range lines {
		var said []int16
		from := rate
		err := synth.Speak(t.Context(), "rms", l.words, func(piece []int16, rate int) error {
			said, from = append(said, piece...), rate
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := audio.NewResampler(from, rate)
		if err != nil {
			t.Fatal(err)
		}
		pcm = append(pcm, r.Flush(r.Process(nil, said))...)
		pcm = append(pcm, make([]int16, int(l.pause.Seconds()*rate))...)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range pcm {
		pcm[i] += int16(random.NormFloat64() * 8)
	}
	if err := wavio.WriteMono(path, rate, pcm); err != nil {
		t.Fatal(err)
	}
}

type line struct {
	words string
	pause time.Duration
}

// Scenario 1, by recorded speech: a question, an approved tool, a rejected tool, and an
// interrupted answer; the journal replays.
func TestCodexBySpeech(t *testing.T) {
	m := &model{answer: func(asked int, _ string) (string, string) {
		switch asked {
		case 2:
			return "I will make the file.", "touch allowed.txt"
		case 3:
			return "I will make another.", "touch refused.txt"
		case 4:
			return strings.Repeat("This is a very long answer. ", 30), ""
		}
		return "Hello there, this is the agent.", ""
	}}
	workspace := codex(t, m)
	out := t.TempDir()
	wav, journal := filepath.Join(out, "user.wav"), filepath.Join(out, "journal.jsonl")
	recordLines(t, wav, []line{
		{"what is the name of the project", 9 * time.Second}, {"please touch the file", 19 * time.Second}, {"yes, go ahead and run it", 9 * time.Second},
		{"please make another file", 19 * time.Second}, {"no", 6 * time.Second}, {"tell me the time", 8 * time.Second}, {"what is the current branch", 6 * time.Second},
	})
	run := func(args ...string) string {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Args[0] = "agentvoice-daemon"
		var text bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &text
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, &text)
		}
		return text.String()
	}
	text := run("talk", "--agent", "acp:codex-acp", "--trust", "--audio-in", "wav:"+wav, "--audio-out", "null", "--journal", journal, "--journal-content", "full")
	t.Log(text)
	if !exists(filepath.Join(workspace, "allowed.txt")) {
		t.Error("the tool that was allowed did not run")
	}
	if exists(filepath.Join(workspace, "refused.txt")) {
		t.Error("the tool that was refused ran")
	}
	said := strings.Join(strings.Fields(text), " ") // an answer's paragraphs are lines of their own
	for _, want := range []string{"assistant: Hello there, this is the agent.", "assistant: I will make the file. The command is done.", "● Interrupted"} {
		if !strings.Contains(said, want) {
			t.Errorf("the conversation has no %q", want)
		}
	}
	if got := run("replay", journal); !strings.Contains(got, "replay: identical") {
		t.Error(got)
	}
}

func startTyped(t *testing.T) (k typed, workspace string) {
	t.Helper()
	m := fileMaker()
	workspace = codex(t, m)
	return typed{begin(t, "codex-acp"), m}, workspace
}

// By typed text through the sidecar: an answer, an approved tool, and a tool whose
// question is interrupted.
func TestCodexByText(t *testing.T) {
	k, workspace := startTyped(t)
	k.makesFirstFile(workspace, "I will make it.")

	k.ask("make the second file")
	k.tool(protocol.ToolWaiting)
	k.forget()
	k.call(protocol.MethodInterrupt, `{"source":"command"}`, nil)
	k.state(protocol.StateListening)
	k.ask("hello again")
	k.answered("Hello there.")
	if exists(filepath.Join(workspace, "second.txt")) {
		t.Error("a tool ran whose question was interrupted")
	}
	k.end()
}

// Its modes, models and sessions, in writing: each name is checked, and the agent really
// changes.
func TestCodexChoices(t *testing.T) {
	k, _ := startTyped(t)
	k.ask("list the modes")
	k.told("The modes are Read-only, Workspace access, Auto review and Full access. Now it is Read-only.")
	k.ask("switch to plan mode")
	k.told("There is no mode “plan”.")
	k.ask("switch to full access mode")
	k.told("Shall I switch to it?")
	k.ask("yes")
	k.told("The mode is Full access now.")
	k.ask("list the modes")
	k.told("Now it is Full access.")
	k.ask("switch to read only mode")
	k.told("The mode is Read-only now.")

	k.ask("list the models")
	k.told("6.1 Sol")
	k.ask("switch to the model six point one sol")
	k.told("the model 6.1 Sol answers")
	k.ask("hello, my name is Ada")
	k.written("Hello there.")
	k.m.mu.Lock()
	if k.m.name != "gpt-6.1-sol" {
		t.Errorf("the model %q answered", k.m.name)
	}
	k.m.mu.Unlock()
	k.end()

	k = typed{begin(t, "codex-acp"), k.m}
	k.ask("list the sessions")
	k.told("The earlier sessions are: 1, hello my name is Ada.")
	k.ask("continue session 2")
	k.told("There is no session 2. There are 1.")
	k.ask("continue the last session")
	k.told("Continuing the session “hello my name is Ada”.")
	k.ask("what is my name")
	k.written("Hello there.")
	k.m.mu.Lock()
	if !strings.Contains(k.m.past, "my name is Ada") {
		t.Error("the session that was continued does not know what was said in it")
	}
	k.m.mu.Unlock()
	k.end()
}

// A killed agent is restarted, and an agent exits when its daemon is killed.
func TestCodexKilled(t *testing.T) {
	k, _ := startTyped(t)
	k.ask("hello")
	k.answered("Hello there.")
	first := k.agentPID("codex-acp")
	endProcess(t, first)
	k.ask("hello after a crash")
	k.answered("Hello there.")
	second := k.agentPID("codex-acp")
	if first == second {
		t.Error("the agent was not started again")
	}

	k.m.mu.Lock()
	k.m.slow = 200 * time.Millisecond
	k.m.mu.Unlock()
	k.ask("hello and die")
	k.until("the first words", func(m wireMessage) bool {
		return m.Method == protocol.NotifyTranscript && strings.Contains(string(m.Params), "Hello")
	})
	endProcess(t, second)
	k.until("the reason", func(m wireMessage) bool { return strings.Contains(string(m.Params), string(protocol.CodeAgentEnded)) })
	k.state(protocol.StateListening)
	k.ask("hello once more")
	k.answered("Hello there.")

	third := k.agentPID("codex-acp")
	k.kill()
	for end := time.Now().Add(patience); alive(third); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the agent outlives a daemon that was killed")
		}
	}
}
