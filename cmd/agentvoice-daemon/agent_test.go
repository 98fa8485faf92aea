//go:build cgo && agents && linux

package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// model is a scripted model. The agents that use it are real; each has its own API.
type model struct {
	mu     sync.Mutex
	asked  int
	name   string // of the model, in the last request
	past   string // the last request
	answer func(asked int, words string) (says, command string)
	slow   time.Duration // between two words
}

// reply returns the answer to the user's words, or to the result of a command.
func (m *model) reply(words string, result bool) (says, command string) {
	if result {
		return "The command is done.", ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	return m.answer(m.asked, words)
}

// words returns the words of an answer, at the pace of the model, while the agent waits.
func (m *model) words(r *http.Request, says string) iter.Seq[string] {
	m.mu.Lock()
	slow := m.slow
	m.mu.Unlock()
	return func(yield func(string) bool) {
		for word := range strings.SplitAfterSeq(says, " ") {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(slow):
			}
			if !yield(word) {
				return
			}
		}
	}
}

// serveAgent puts a coding agent in the PATH, and returns the URL of the model's API.
// AGENTVOICE_AGENTS is the folder of agents, installed by scripts/agents.sh.
func serveAgent(t *testing.T, agent string, api http.Handler) (url string) {
	t.Helper()
	agents := os.Getenv("AGENTVOICE_AGENTS")
	if !exists(filepath.Join(agents, agent)) {
		t.Fatalf("%s is not installed in AGENTVOICE_AGENTS; run scripts/agents.sh", agent)
	}
	t.Setenv("PATH", agents+string(os.PathListSeparator)+os.Getenv("PATH"))
	service := httptest.NewServer(api)
	t.Cleanup(service.Close)
	return service.URL
}

// enterWorkspace makes an empty folder the working folder.
func enterWorkspace(t *testing.T) (workspace string) {
	t.Helper()
	workspace = t.TempDir()
	t.Chdir(workspace)
	return workspace
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// typed is a sidecar that is used with typed text.
type typed struct {
	*sidecar
	m *model
}

// fileMaker is a model that makes the files first.txt and second.txt when asked to.
func fileMaker() *model {
	return &model{answer: func(_ int, words string) (string, string) {
		for _, name := range []string{"first", "second"} {
			if strings.Contains(words, name+" file") {
				return "I will make it.", "touch " + name + ".txt"
			}
		}
		return "Hello there.", ""
	}}
}

// begin starts a sidecar with an agent, and its conversation.
func begin(t *testing.T, agent string) *sidecar {
	t.Helper()
	s := startSidecar(t, filepath.Join(t.TempDir(), "record"), "", "--set", "agentvoice.agent=acp:"+agent)
	s.openHere()
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	return s
}

func (k typed) ask(words string) {
	k.t.Helper()
	k.forget()
	k.call(protocol.MethodSendText, `{"text":"`+words+`"}`, nil)
}

func (k typed) answered(words string) {
	k.t.Helper()
	k.written(words)
	k.state(protocol.StateListening)
}

// written waits for an answer, which may have to be spoken yet.
func (k typed) written(words string) {
	k.t.Helper()
	k.until("the answer "+words, func(m wireMessage) bool {
		return m.Method == protocol.NotifyTranscript && strings.Contains(string(m.Params), words) && strings.Contains(string(m.Params), `"final":true`)
	})
}

func (k typed) tool(status protocol.ToolStatus) (p protocol.ToolParams) {
	k.t.Helper()
	k.until("a tool that is "+string(status), func(m wireMessage) bool {
		return m.Method == protocol.NotifyTool && json.Unmarshal(m.Params, &p) == nil && p.Status == status
	})
	return p
}

func (k typed) told(words string) {
	k.t.Helper()
	k.until("the words "+words, func(m wireMessage) bool {
		return m.Method == protocol.NotifyNotification && strings.Contains(string(m.Params), words)
	})
}

// makesFirstFile asks a fileMaker for an answer and for the first file, which is approved.
// reason is the agent's reason.
func (k typed) makesFirstFile(workspace, reason string) {
	k.t.Helper()
	k.ask("hello")
	k.answered("Hello there.")

	k.ask("make the first file")
	p := k.tool(protocol.ToolWaiting)
	if !strings.Contains(p.Question, "It would run touch.") || !p.Destructive || len(p.Commands) != 1 || p.Commands[0] != "touch first.txt" {
		k.t.Errorf("the question is %q, of %q, input %s", p.Question, p.Commands, p.Input)
	}
	k.call(protocol.MethodSendText, `{"text":"why?"}`, nil)
	k.told("It says: " + reason)
	k.call(protocol.MethodApproveTool, `{"callId":"`+p.CallID+`","approved":true,"hash":"`+p.Hash+`"}`, nil)
	k.tool(protocol.ToolCompleted)
	k.answered("The command is done.")
	if !exists(filepath.Join(workspace, "first.txt")) {
		k.t.Error("the tool that was allowed did not run")
	}
}

// agentPID returns the process id of the daemon's agent, whose command line contains name.
func (k typed) agentPID(name string) (pid int) {
	k.t.Helper()
	out, err := exec.Command("ps", "-o", "pid=,ppid=,args=", "-e").Output()
	if err != nil {
		k.t.Fatal(err)
	}
	for _, l := range strings.Split(string(out), "\n") {
		var p, parent int
		if n, _ := fmt.Sscan(l, &p, &parent); n == 2 && parent == k.cmd.Process.Pid && strings.Contains(l, name) {
			pid = p
		}
	}
	if pid == 0 {
		k.t.Fatal("no agent runs")
	}
	return pid
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func endProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for alive(pid) { // until the daemon has noticed
		time.Sleep(10 * time.Millisecond)
	}
}
