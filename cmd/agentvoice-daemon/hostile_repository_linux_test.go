//go:build cgo && !race

package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// hostileSecret is in the files that must not be read.
const hostileSecret = "hunter2-the-secret"

// hostileRepository is a repository that attacks, and what it has achieved.
type hostileRepository struct {
	folder, out string
	trace       string // exists if a program of the attacker ran
}

// layHostile lays the repository, and makes it the working folder.
func layHostile(t *testing.T) hostileRepository {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(hostileFiles, "lay.sh"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := hostileRepository{filepath.Join(base, "w"), filepath.Join(base, "out"), filepath.Join(base, "ran")}
	canary := filepath.Join(base, "canary")
	err = errors.Join(os.Mkdir(r.folder, 0o700), os.Mkdir(r.out, 0o700), os.WriteFile(canary, []byte("#!/bin/sh\necho $0 >>"+r.trace+"\nexec cat\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	lay := exec.Command("sh", "-e", script)
	lay.Dir, lay.Env = r.folder, append(os.Environ(), "OUT="+r.out, "CANARY="+canary, "GIT_CONFIG_GLOBAL="+os.DevNull)
	if o, err := lay.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, o)
	}
	t.Chdir(r.folder)
	return r
}

// path returns the path of a file of the table.
func (r hostileRepository) path(file string) string {
	if outside, ok := strings.CutPrefix(file, "$OUT/"); ok {
		return filepath.Join(r.out, outside)
	}
	return filepath.Join(r.folder, file)
}

// accesses are the files that were opened or changed in watched folders.
type accesses struct {
	t       *testing.T
	fd      int
	folders map[int32]string
	opened  map[string]bool
	changed map[string]bool
}

// watch records from now on what any program opens in the repository and beside it.
func (r hostileRepository) watch(t *testing.T) *accesses {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	a := &accesses{t: t, fd: fd, folders: map[int32]string{}, opened: map[string]bool{}, changed: map[string]bool{}}
	for _, dir := range []string{r.folder, r.path(".git"), r.path(".git/hooks"), r.path(".vscode"), r.out, filepath.Join(r.out, "home")} {
		id, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN|syscall.IN_MODIFY|syscall.IN_CREATE|syscall.IN_DELETE|syscall.IN_MOVE)
		if err != nil {
			t.Fatal(err)
		}
		a.folders[int32(id)] = dir
	}
	return a
}

// read takes what was recorded.
func (a *accesses) read() {
	a.t.Helper()
	buffer := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(a.fd, buffer)
		if errors.Is(err, syscall.EAGAIN) {
			return
		}
		if err != nil {
			a.t.Fatal(err)
		}
		for rest := buffer[:n]; len(rest) >= syscall.SizeofInotifyEvent; {
			id, mask, length := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:]), binary.NativeEndian.Uint32(rest[12:])
			name := strings.TrimRight(string(rest[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+length]), "\x00")
			rest = rest[syscall.SizeofInotifyEvent+length:]
			switch path := filepath.Join(a.folders[id], name); {
			case mask&syscall.IN_Q_OVERFLOW != 0:
				a.t.Fatal("more was opened than can be recorded")
			case name == "" || mask&syscall.IN_ISDIR != 0:
			case mask&syscall.IN_OPEN != 0:
				a.opened[path] = true
			default:
				a.changed[path] = true
			}
		}
	}
}

// judge checks what happened to an attempt. said is all that the user was told.
func (r hostileRepository) judge(t *testing.T, what string, c hostileCell, a *accesses, said string) {
	t.Helper()
	for _, file := range c.Files {
		opened, changed := a.opened[r.path(file)], a.changed[r.path(file)]
		ok := !changed
		switch c.Happens {
		case "not opened":
			ok = ok && !opened
		case "opened for the format, not told", "under 300 MB":
			ok = ok && opened // or else the row proves nothing
		case "not changed":
		default:
			t.Fatalf("%s: files are not part of %q", what, c.Happens)
		}
		if !ok {
			t.Errorf("%s: want %s: opened %v, changed %v", what, file, opened, changed)
		}
	}
	for _, part := range c.Says {
		if !strings.Contains(said, part) {
			t.Errorf("%s: %q is not part of what was said:\n%s", what, part, said)
		}
	}
}

// ranNothing checks that no program of the attacker ran, and that no secret was told.
func (r hostileRepository) ranNothing(t *testing.T, said string) {
	t.Helper()
	if ran, err := os.ReadFile(r.trace); err == nil {
		t.Errorf("programs of the repository ran: %s", ran)
	}
	if strings.Contains(said, hostileSecret) {
		t.Errorf("a secret was told:\n%s", said)
	}
}

// talkIn runs talk in the working folder to the end of a silent recording. It returns what it
// printed, and its memory in KB.
func talkIn(t *testing.T, args ...string) (said string, memory int64, err error) {
	t.Helper()
	silence := filepath.Join(t.TempDir(), "silence.wav")
	if err := wavio.WriteMono(silence, audio.SampleRate, make([]int16, 2*audio.SampleRate)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], append([]string{"talk", "--speed", "10", "--audio-in", "wav:" + silence, "--audio-out", "null"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	peak := peakOf(t, cmd)
	out, err := cmd.CombinedOutput()
	return string(out), peak(), err
}

// TestHostileRepositoryInTalk: a repository that attacks, opened with talk: what was tried, and what
// happened.
func TestHostileRepositoryInTalk(t *testing.T) {
	table, r := hostileTable(t), layHostile(t)
	a := r.watch(t)
	refused, _, err := talkIn(t, "--agent", "acp:"+filepath.Join(filepath.Dir(r.out), "canary"))
	if a.read(); err == nil || len(a.opened) > 0 {
		t.Errorf("before the folder was trusted (%v), talk opened %v", err, a.opened)
	}
	said, memory, err := talkIn(t, "--agent", "offline")
	if err != nil || memory > maxHostileMemory {
		t.Errorf("talk: %v, %d KB\n%s", err, memory, said)
	}
	answers := map[string]string{}
	s := startSidecar(t, filepath.Join(t.TempDir(), "record"), "", "--set", "agentvoice.agent=offline") // the assistant of talk
	s.openHere()
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	for _, question := range []string{"which branch am I on", "how many files are there", "what is in this folder", "where is the function load tree", "what has changed"} {
		s.forget()
		s.call(protocol.MethodSendText, fmt.Sprintf(`{"text":%q}`, question), nil)
		answers[question] = string(s.until("an answer", func(m wireMessage) bool {
			return m.Method == protocol.NotifyTranscript && strings.Contains(string(m.Params), `"role":"assistant"`) && strings.Contains(string(m.Params), `"final":true`)
		}).Params)
		s.state(protocol.StateListening)
		said += answers[question] + "\n"
	}
	s.end()
	a.read()
	for _, row := range table {
		words := said
		switch row.Talk.Happens {
		case "not started":
			words = refused
		case "nothing of it ran":
			words = answers[row.Talk.Asks]
		}
		r.judge(t, row.What, row.Talk, a, words)
		t.Logf("| %s | %s |", row.What, row.Talk.Happens)
	}
	r.ranNothing(t, said+refused)
	t.Logf("talk took %d MB; opened were %v", memory>>10, slices.Sorted(maps.Keys(a.opened)))
}

// TestHostileRepositoryWithAnAgent: a repository that attacks, in which a coding agent asks for what
// the table tries: what the user is asked, and what can be allowed by voice.
func TestHostileRepositoryWithAnAgent(t *testing.T) {
	table, r := hostileTable(t), layHostile(t)
	agent := filepath.Join(t.TempDir(), "scripted-agent")
	if err := os.Symlink(os.Args[0], agent); err != nil {
		t.Fatal(err)
	}
	var calls, voiced []string
	for _, row := range table {
		if len(row.Agent.Call) == 0 {
			continue
		}
		var whole map[string]any
		if err := json.Unmarshal(row.Agent.Call, &whole); err != nil {
			t.Fatal(err)
		}
		whole["toolCallId"], whole["status"], whole["title"] = fmt.Sprintf("c%d", len(calls)), "pending", "Do it"
		call, _ := json.Marshal(whole) // it was JSON
		calls = append(calls, string(call))
		if row.Agent.Happens == "asked, by voice" {
			voiced = append(voiced, string(call))
		}
	}
	file := filepath.Join(t.TempDir(), "calls")
	if err := os.WriteFile(file, []byte(strings.Join(calls, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(scriptedCalls, file)
	a := r.watch(t)
	s := startSidecar(t, filepath.Join(t.TempDir(), "record"), "", "--set", "agentvoice.agent=acp:"+agent)
	s.call(protocol.MethodWorkspace, fmt.Sprintf(`{"folders":[{"path":%q,"name":"w","trusted":false}]}`, r.folder), nil)
	id := s.send(protocol.MethodStart, "{}")
	refused := string(s.until("the refusal", func(m wireMessage) bool { return m.Method == "" && string(m.ID) == id }).Error)
	if a.read(); len(a.opened)+len(a.changed) > 0 { // the agent would make a file
		t.Errorf("before the folder was trusted, %v were opened, and %v changed", a.opened, a.changed)
	}
	typed := s.typedWithoutFolder()
	if a.read(); len(a.opened)+len(a.changed) > 0 {
		t.Errorf("a typed message let the agent open %v and change %v", a.opened, a.changed)
	}
	s.openHere()
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"folders":[%q]}}`, protocol.MethodWorkspaceWords, r.folder))
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	notice := string(s.until("the notice", func(m wireMessage) bool {
		return m.Method == protocol.NotifyNotification && strings.Contains(string(m.Params), "voice-words.md")
	}).Params)
	s.call(protocol.MethodSendText, `{"text":"do it all"}`, nil)
	said, n := refused+notice, 0
	for _, row := range table {
		c, words := row.Agent, notice
		switch {
		case c.Happens == "not started":
			words = refused + typed
		case len(c.Call) > 0:
			words = r.answerCall(s, row, n)
			n++
		}
		said += words
		r.judge(t, row.What, c, a, words)
		t.Logf("| %s | %s | %s |", row.What, c.Happens, strings.ReplaceAll(words, filepath.Dir(r.out), ""))
	}
	s.until("the answer", func(m wireMessage) bool {
		return m.Method == protocol.NotifyTranscript && strings.Contains(string(m.Params), "All done.") && strings.Contains(string(m.Params), `"final":true`)
	})
	if ran, err := os.ReadFile("ran"); err != nil || strings.TrimSpace(string(ran)) != strings.Join(voiced, "\n") {
		t.Errorf("what ran is (%v)\n%s", err, ran)
	}
	s.end()
	a.read()
	for _, row := range table {
		if row.Agent.Happens == "not opened" {
			r.judge(t, row.What, row.Agent, a, "")
		}
	}
	r.ranNothing(t, said)
}

// typedWithoutFolder begins a conversation by a typed message, which asks for no folder, as the wake
// phrase asks for none. It returns what was said to it.
func (s *sidecar) typedWithoutFolder() string {
	s.t.Helper()
	s.call(protocol.MethodSendText, `{"text":"do it all"}`, nil)
	said := string(s.until("what was said", func(m wireMessage) bool {
		return m.Method == protocol.NotifyCaption
	}).Params)
	if want := protocol.CodeNoTrustedFolder.Spec().Spoken(protocol.English); !strings.Contains(said, want) {
		s.t.Errorf("a typed message was answered with %s, want %q", said, want)
	}
	s.call(protocol.MethodEnd, "{}", nil)
	s.state(protocol.StateIdle)
	return strings.ToLower(said)
}

// answerCall checks how call n can be allowed. What needs a click is refused, and what a voice can
// allow is allowed. It returns the question.
func (r hostileRepository) answerCall(s *sidecar, row hostileRow, n int) string {
	s.t.Helper()
	var p protocol.ToolParams
	s.until("the question about "+row.What, func(m wireMessage) bool {
		p = protocol.ToolParams{}
		return m.Method == protocol.NotifyTool && json.Unmarshal(m.Params, &p) == nil && p.Status == protocol.ToolWaiting && strings.HasPrefix(p.CallID, fmt.Sprintf("c%d#", n))
	})
	if want := row.Agent.Happens == "asked, by a click"; p.Click != want {
		s.t.Errorf("%s: a click is needed %v: %s", row.What, p.Click, p.Question)
	}
	s.call(protocol.MethodApproveTool, fmt.Sprintf(`{"callId":%q,"approved":%v,"hash":%q}`, p.CallID, !p.Click, p.Hash), nil)
	return p.Question
}
