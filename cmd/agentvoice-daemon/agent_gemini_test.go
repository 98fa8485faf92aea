//go:build cgo && agents && linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// geminiPart is a part of a content of Gemini's API.
type geminiPart struct {
	Text             string          `json:"text,omitempty"`
	FunctionCall     *geminiCall     `json:"functionCall,omitempty"`
	FunctionResponse json.RawMessage `json:"functionResponse,omitempty"`
}

type geminiCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

// gemini is the scripted model with Gemini's API.
type gemini struct{ *model }

func (m gemini) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Contents []struct {
			Role  string
			Parts []geminiPart
		}
		GenerationConfig struct{ ResponseMimeType string }
	}
	switch {
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		_, _ = fmt.Fprint(w, `{"totalTokens":1}`)
		return
	case !strings.HasSuffix(r.URL.Path, "enerateContent") || json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Contents) == 0:
		http.NotFound(w, r)
		return
	}
	if body.GenerationConfig.ResponseMimeType == "application/json" { // which model is to answer, and who speaks next
		m.chunk(w, "", geminiPart{Text: `{"reasoning":"","next_speaker":"user","model_choice":"flash","complexity_reasoning":"","complexity_score":1}`})
		return
	}
	words, said := "", false // of the user, in the last content
	last := body.Contents[len(body.Contents)-1]
	for _, p := range last.Parts {
		words += p.Text
		said = said || p.FunctionResponse != nil
	}
	m.mu.Lock()
	m.name, _, _ = strings.Cut(filepath.Base(r.URL.Path), ":")
	m.mu.Unlock()
	says, command := m.reply(words, said)
	prefix := ""
	if strings.Contains(r.URL.Path, "stream") {
		w.Header().Set("Content-Type", "text/event-stream")
		prefix = "data: "
		for word := range m.words(r, says) {
			m.chunk(w, prefix, geminiPart{Text: word})
		}
		if r.Context().Err() != nil {
			return
		}
		says = ""
	}
	end := geminiPart{Text: says}
	if command != "" {
		end = geminiPart{FunctionCall: &geminiCall{fmt.Sprint("call_", m.asked), "run_shell_command", map[string]any{"command": command, "description": "Make the file that you named"}}}
	}
	m.chunk(w, prefix, end)
}

func (gemini) chunk(w http.ResponseWriter, prefix string, part geminiPart) {
	b, err := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []geminiPart{part}}}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n\n", prefix, b)
	}
	if err == nil {
		w.(http.Flusher).Flush()
	}
}

// startGemini points the real Gemini CLI at the scripted model and begins a conversation.
func startGemini(t *testing.T) (k typed, workspace string) {
	t.Helper()
	m := fileMaker()
	url := serveAgent(t, "gemini", gemini{m})
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`
	if err := os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"GEMINI_CLI_HOME": home, "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url,
	} {
		t.Setenv(name, value)
	}
	workspace = enterWorkspace(t)
	return typed{begin(t, "gemini"), m}, workspace
}

// By typed text through the sidecar: an answer, a tool that is allowed, one that is
// refused, and one whose question is interrupted. Gemini's prompt ends only when each
// permission is answered.
func TestGeminiByText(t *testing.T) {
	k, workspace := startGemini(t)
	k.makesFirstFile(workspace, "Make the file that you named")

	k.ask("make the second file")
	p := k.tool(protocol.ToolWaiting)
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
	if exists(filepath.Join(workspace, "second.txt")) {
		t.Error("a tool ran that was refused or whose question was interrupted")
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
	k.end()
}

// Its modes and models, in writing. It lists no sessions.
func TestGeminiChoices(t *testing.T) {
	k, _ := startGemini(t)
	k.ask("list the modes")
	k.told("The modes are Default, Auto Edit, YOLO and Plan. Now it is Default.")
	k.ask("switch to plan mode")
	k.told("The mode is Plan now.")
	k.ask("switch to yolo mode")
	k.told("Shall I switch to it?")
	k.ask("no")
	k.told("The mode stays as it is.")
	k.ask("list the modes")
	k.told("Now it is Plan.")
	k.ask("switch to the model gemini two point five pro")
	k.told("the model gemini-2.5-pro answers")
	k.ask("continue the last session")
	k.told("lists no earlier sessions")
	k.ask("hello")
	k.written("Hello there.")
	k.m.mu.Lock()
	if k.m.name != "gemini-2.5-pro" {
		t.Errorf("the model %q answered", k.m.name)
	}
	k.m.mu.Unlock()
	k.end()
}
