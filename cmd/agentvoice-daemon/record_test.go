package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// patience limits every wait on a slow machine; no test passes because of it.
const patience = time.Minute

// sidecar is a live daemon in its own process: real time, local engines, no devices.
type sidecar struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	id  int

	mu   sync.Mutex
	got  []wireMessage
	more chan struct{}
}

type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// startSidecar starts a daemon that records to folder.
func startSidecar(t *testing.T, folder string, capabilities string, args ...string) *sidecar {
	t.Helper()
	s := &sidecar{t: t, more: make(chan struct{}, 1)}
	s.cmd = exec.Command(os.Args[0], append([]string{"serve", "--stdio", "--audio-in", "null", "--audio-out", "null"}, args...)...)
	s.cmd.Args[0] = "agentvoice-daemon" // required by testscript.Main
	s.cmd.Env = append(os.Environ(), assets.RecordEnv+"="+folder)
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in = in
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	go s.read(bufio.NewReader(out))
	s.send("initialize", `{"processId":0,"clientInfo":{"name":"test","version":"1"},"locale":"en","protocolVersion":"1.0","configuration":{},"capabilities":{`+capabilities+`}}`)
	return s
}

func (s *sidecar) read(out *bufio.Reader) {
	for {
		var n int
		if _, err := fmt.Fscanf(out, "Content-Length: %d\r\n\r\n", &n); err != nil {
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(out, body); err != nil {
			return
		}
		var m wireMessage
		if err := json.Unmarshal(body, &m); err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, m)
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
	}
}

func (s *sidecar) write(body string) {
	_, _ = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body) // it may already have exited
}

// send sends a request and returns its id.
func (s *sidecar) send(method, params string) string {
	s.id++
	id := strconv.Itoa(s.id)
	s.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return id
}

// until waits for a message.
func (s *sidecar) until(what string, is func(wireMessage) bool) wireMessage {
	s.t.Helper()
	late := time.After(patience)
	for seen := 0; ; {
		s.mu.Lock()
		got := s.got
		s.mu.Unlock()
		for ; seen < len(got); seen++ {
			if is(got[seen]) {
				return got[seen]
			}
		}
		select {
		case <-s.more:
		case <-late:
			s.t.Fatalf("no %s in %d messages", what, len(got))
		}
	}
}

func (s *sidecar) call(method, params string, result any) {
	s.t.Helper()
	id := s.send(method, params)
	m := s.until(method, func(m wireMessage) bool { return m.Method == "" && string(m.ID) == id })
	if m.Error != nil {
		s.t.Fatalf("%s: %s", method, m.Error)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			s.t.Fatal(err)
		}
	}
}

// state waits for a state of the conversation.
func (s *sidecar) state(want protocol.State) {
	s.t.Helper()
	s.until(string(want), func(m wireMessage) bool {
		return m.Method == protocol.NotifyState && strings.Contains(string(m.Params), `"state":"`+string(want)+`"`)
	})
}

// notice waits for a notification with a code and returns it.
func (s *sidecar) notice(code protocol.ErrorCode) string {
	s.t.Helper()
	return string(s.until(string(code), func(m wireMessage) bool {
		return m.Method == protocol.NotifyNotification && strings.Contains(string(m.Params), `"code":"`+string(code)+`"`)
	}).Params)
}

// openHere says that the current folder is open and trusted.
func (s *sidecar) openHere() {
	s.t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		s.t.Fatal(err)
	}
	s.call(protocol.MethodWorkspace, fmt.Sprintf(`{"folders":[{"path":%q,"trusted":true}]}`, dir), nil)
}

// forget drops the messages received so far.
func (s *sidecar) forget() {
	s.mu.Lock()
	s.got = nil
	s.mu.Unlock()
}

func (s *sidecar) kill() {
	_ = s.cmd.Process.Kill() // it may already have exited
	_ = s.cmd.Wait()
}

// end shuts the daemon down as an editor does.
func (s *sidecar) end() {
	s.t.Helper()
	s.call(protocol.MethodShutdown, "null", nil)
	s.write(`{"jsonrpc":"2.0","method":"exit"}`)
	if err := s.cmd.Wait(); err != nil {
		s.t.Error(err)
	}
}

// onRecord reads a record like the command sessions.
func onRecord(t *testing.T, folder string) []registry.Session {
	t.Helper()
	list, err := readSessions(t.Context(), filepath.Join(folder, "sessions.db"), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// watchStates makes the database log each state change.
func watchStates(t *testing.T, folder string) func() []string {
	t.Helper()
	path := filepath.Join(folder, "sessions.db")
	r, err := registry.Open(t.Context(), registry.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), `CREATE TABLE seen (change TEXT); CREATE TRIGGER seeing AFTER UPDATE OF state ON sessions
		BEGIN INSERT INTO seen VALUES (OLD.state || ' ' || NEW.state); END`)
	if err != nil {
		t.Fatal(err)
	}
	return func() (changes []string) {
		rows, err := db.QueryContext(t.Context(), "SELECT change FROM seen ORDER BY rowid")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var c string
			if err := rows.Scan(&c); err != nil {
				t.Fatal(err)
			}
			changes = append(changes, c)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return changes
	}
}

// The tables of 003 in a live daemon: every state change of a conversation with a
// question to the user, a failed turn and a failed start is written to the database
// according to the status and the guard map, and published accordingly.
func Test003StatesArePersistedLive(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "record")
	changes := watchStates(t, folder)
	s := startSidecar(t, folder, `"copilot":true,"tools":true`)
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	s.write(`{"jsonrpc":"2.0","method":"` + protocol.MethodCopilotTools + `","params":{"tools":[{"name":"look","description":"","inputSchema":{"type":"object"}}]}}`)

	// A turn with a question to the user: turn_started, question_requested,
	// approval_resolved, turn_complete.
	asked := func() (json.RawMessage, protocol.CopilotSendParams) {
		m := s.until("copilot/send", func(m wireMessage) bool { return m.Method == protocol.MethodCopilotSend })
		var p protocol.CopilotSendParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		s.forget()
		return m.ID, p
	}
	answer := func(id json.RawMessage, result string) {
		s.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
	}
	s.send(protocol.MethodSendText, `{"text":"look at it"}`)
	id, p := asked()
	s.write(`{"jsonrpc":"2.0","method":"` + protocol.MethodCopilotToolCall + `","params":{"requestId":"` + p.RequestID + `","callId":"c1","name":"look","input":{}}}`)
	answer(id, `{"status":"completed"}`)
	sessionIs(s, "waiting")
	s.call(protocol.MethodApproveTool, `{"callId":"c1","approved":false}`, nil)
	id, p = asked()
	s.write(`{"jsonrpc":"2.0","method":"` + protocol.MethodCopilotDelta + `","params":{"requestId":"` + p.RequestID + `","seq":0,"text":"No."}}`)
	answer(id, `{"status":"completed"}`)
	sessionIs(s, "ready")
	s.forget()

	// A failed turn: turn_error.
	s.send(protocol.MethodSendText, `{"text":"and again"}`)
	id, _ = asked()
	answer(id, `{"status":"failed","error":{"code":"copilotFailed","message":"no","retryable":false}}`)
	sessionIs(s, "ready")

	// The end, and a session that cannot be activated: terminating, terminated, error.
	s.call(protocol.MethodEnd, "{}", nil)
	sessionIs(s, "inactive")
	s.forget()
	s.call(protocol.MethodConfigure, `{"agentvoice.provider":"openai"}`, nil)
	s.call(protocol.MethodStart, "{}", nil)
	sessionIs(s, "error")
	s.end()

	want := []string{
		"inactive activating", "activating ready", "ready running", "running waiting", "waiting running", "running ready",
		"ready running", "running ready", "ready deactivating", "deactivating inactive",
		"inactive activating", "activating error", "error inactive",
	}
	if got := changes(); !slices.Equal(got, want) {
		t.Errorf("the database saw\n%q, want\n%q", got, want)
	}
	list := onRecord(t, folder)
	if len(list) != 2 || list[0].Provider != "openai" || list[0].Turns != 0 || list[1].Provider != "local" || list[1].Turns != 2 {
		t.Errorf("the record has %+v", list)
	}
	for _, l := range list {
		if l.State != session.Inactive || l.Crashed || l.Ended.IsZero() {
			t.Errorf("not ended: %+v", l)
		}
	}
}

// sessionIs waits for a state of the session.
func sessionIs(s *sidecar, want string) {
	s.t.Helper()
	s.until("session that is "+want, func(m wireMessage) bool {
		return m.Method == protocol.NotifySession && strings.Contains(string(m.Params), `"state":"`+want+`"`)
	})
}

// Two concurrent daemons: each lists the sessions of both, and the end of one does not
// affect those of the other.
//
//test:long
func Test003TwoDaemonsLive(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "record")
	talking := func() *sidecar {
		s := startSidecar(t, folder, "")
		s.call(protocol.MethodStart, "{}", nil)
		s.state(protocol.StateListening)
		return s
	}
	one := talking()
	two := talking() // opens the record during the first one's conversation
	states := func(s *sidecar) (list []string) {
		var r protocol.SessionsResult
		s.call(protocol.MethodSessions, "null", &r)
		for _, l := range r.Sessions {
			list = append(list, string(l.State)+string(l.CrashedIn))
		}
		slices.Sort(list)
		return list
	}
	if got := states(one); !slices.Equal(got, []string{"ready", "ready"}) {
		t.Errorf("the sessions of both are %v", got)
	}
	two.end()
	if got := states(one); !slices.Equal(got, []string{"inactive", "ready"}) {
		t.Errorf("after the end of one they are %v", got)
	}
	one.kill()
	three := startSidecar(t, folder, "")
	if got := states(three); !slices.Equal(got, []string{"inactive", "inactiveready"}) {
		t.Errorf("after the crash of the other they are %v", got)
	}
	three.end()
}

// SEC-002: without permission nothing is stored on disk, and this daemon's data is
// removed when the user revokes the permission during a conversation.
func TestSEC002RecordLive(t *testing.T) {
	never := filepath.Join(t.TempDir(), "never")
	s := startSidecar(t, never, "", "--set", "agentvoice.privacy.persist=false")
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	var r protocol.SessionsResult
	if s.call(protocol.MethodSessions, "null", &r); len(r.Sessions) != 1 || r.Sessions[0].State != protocol.SessionReady {
		t.Errorf("in memory there is %+v", r.Sessions)
	}
	s.end()
	if _, err := os.Stat(never); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is on disk: %v", err)
	}

	folder := filepath.Join(t.TempDir(), "record")
	s = startSidecar(t, folder, "")
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	if s.call(protocol.MethodSessions, "null", &r); len(r.Sessions) != 1 || len(onRecord(t, folder)) != 1 {
		t.Fatalf("%d sessions, and %d on disk", len(r.Sessions), len(onRecord(t, folder)))
	}
	id := r.Sessions[0].ID
	s.call(protocol.MethodConfigure, `{"agentvoice.privacy.persist":false}`, nil)
	if s.call(protocol.MethodSessions, "null", &r); len(r.Sessions) != 1 || r.Sessions[0].ID != id || r.Sessions[0].State != protocol.SessionReady {
		t.Errorf("in memory there is %+v", r.Sessions)
	}
	for _, name := range []string{"sessions.db", "sessions.db-wal"} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if name == "sessions.db" && err != nil || strings.Contains(string(b), id) {
			t.Errorf("%s holds the session still, or %v", name, err)
		}
	}
	s.call(protocol.MethodEnd, "{}", nil)
	sessionIs(s, "inactive")
	s.end()
	if left := onRecord(t, folder); len(left) != 0 {
		t.Errorf("on disk there is %+v", left)
	}
}

// An unwritable or damaged record is reported, and the conversation continues.
func TestRecordTroubleLive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "record")
	if err := os.MkdirAll(damaged, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "sessions.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, says string
		code         protocol.ErrorCode
	}{
		{filepath.Join(file, "record"), "not a directory", protocol.CodeRecordUnavailable},
		{damaged, "sessions.db.damaged-", protocol.CodeRecordDamaged},
	} {
		s := startSidecar(t, c.folder, "", "--log-level", "disabled")
		if says := s.notice(c.code); !strings.Contains(says, c.says) || strings.Contains(says, c.folder) {
			t.Errorf("told: %s", says)
		}
		s.call(protocol.MethodStart, "{}", nil)
		s.state(protocol.StateListening)
		var r protocol.SessionsResult
		if s.call(protocol.MethodSessions, "null", &r); len(r.Sessions) != 1 || r.Sessions[0].State != protocol.SessionReady {
			t.Errorf("%s: the sessions are %+v", c.code, r.Sessions)
		}
		s.end()
	}
	if list := onRecord(t, damaged); len(list) != 1 {
		t.Errorf("the new record has %+v", list)
	}
}

// A disk that fills up during a conversation is reported once; the record continues in
// memory with the session's state.
func TestFullDiskLive(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "record")
	watchStates(t, folder)
	db, err := sql.Open("sqlite", filepath.Join(folder, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// From the second state on, writes fail as on a full disk.
	if _, err := db.ExecContext(t.Context(), `CREATE TRIGGER full BEFORE UPDATE OF state ON sessions WHEN NEW.state = 'ready' BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`); err != nil {
		t.Fatal(err)
	}
	s := startSidecar(t, folder, "", "--log-level", "disabled")
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	if says := s.notice(protocol.CodeRecordUnavailable); !strings.Contains(says, "database or disk is full") {
		t.Errorf("told: %s", says)
	}
	s.send(protocol.MethodSendText, `{"text":"hello"}`)
	s.state(protocol.StateSpeaking)
	var r protocol.SessionsResult
	if s.call(protocol.MethodSessions, "null", &r); len(r.Sessions) != 1 || r.Sessions[0].State != protocol.SessionRunning && r.Sessions[0].State != protocol.SessionReady {
		t.Errorf("the sessions are %+v", r.Sessions)
	}
	s.end()
}

// A spent budget ends paid conversations in all of the user's daemons, but not local
// ones.
func TestBudgetLive(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "record")
	r, err := registry.Open(t.Context(), registry.Options{Path: filepath.Join(folder, "sessions.db"), Daemon: "before"})
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(t.Context(), "openai", time.Now())
	err = errors.Join(err, r.Use(t.Context(), id, usage.Use{Provider: "openai", Model: "gpt-4o", Tokens: usage.Tokens{TextOut: 200_000}}, time.Now()), r.Close())
	if err != nil {
		t.Fatal(err)
	}
	s := startSidecar(t, folder, "", "--log-level", "disabled", "--set", "agentvoice.budget.month=2")
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	var u protocol.UsageResult
	if s.call(protocol.MethodUsage, "null", &u); u.Cost == nil || u.Cost.Amount != 2 || u.Sessions != 2 {
		t.Errorf("the usage is %+v", u)
	}
	s.call(protocol.MethodEnd, "{}", nil)
	s.state(protocol.StateIdle)
	s.call(protocol.MethodConfigure, `{"agentvoice.provider":"compatible","agentvoice.endpoint":"http://192.0.2.1","agentvoice.budget.prices":"whisper-1 minute=1; tts-1 minute=1"}`, nil)
	s.call(protocol.MethodStart, "{}", nil)
	if says := s.notice(protocol.CodeBudgetSpent); !strings.Contains(says, "2.00 / 2.00 USD") {
		t.Errorf("told: %s", says)
	}
	sessionIs(s, "deactivating")
	s.state(protocol.StateIdle)
	// Another machine's models have no known price.
	s.call(protocol.MethodConfigure, `{"agentvoice.budget.prices":""}`, nil)
	s.call(protocol.MethodStart, "{}", nil)
	if says := s.notice(protocol.CodePriceUnknown); !strings.Contains(says, "agentvoice.budget.prices") || !strings.Contains(says, "whisper-1: minute, or") || !strings.Contains(says, "; tts-1: characters, or minute") {
		t.Errorf("told: %s", says)
	}
	s.end()
}
