package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
)

// lived is a live daemon whose session changes are read one by one.
type lived struct {
	*sidecar
	at    int // number of received messages already read
	calls int
}

// next waits for the next wanted message after the previous one.
func (l *lived) next(what string, want func(wireMessage) bool) wireMessage {
	l.t.Helper()
	late := time.After(patience)
	for {
		l.mu.Lock()
		got := l.got[l.at:]
		l.mu.Unlock()
		for _, m := range got {
			l.at++
			if want(m) {
				return m
			}
		}
		select {
		case <-l.more:
		case <-late:
			l.t.Fatalf("no %s", what)
		}
	}
}

// change waits for the next session change.
func (l *lived) change() (from, to session.State) {
	l.t.Helper()
	var p protocol.SessionParams
	l.next("change of the session", func(m wireMessage) bool {
		p = protocol.SessionParams{}
		return m.Method == protocol.NotifySession && json.Unmarshal(m.Params, &p) == nil && p.State != p.PreviousState
	})
	if err := from.UnmarshalText([]byte(p.PreviousState)); err != nil {
		l.t.Fatal(err)
	}
	if err := to.UnmarshalText([]byte(p.State)); err != nil {
		l.t.Fatal(err)
	}
	return from, to
}

func (l *lived) start() { l.send(protocol.MethodStart, "{}") }
func (l *lived) end()   { l.send(protocol.MethodEnd, "{}") }

// listening waits until the conversation is listening.
func (l *lived) listening() {
	l.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var now protocol.Snapshot
		if l.call(protocol.MethodState, "{}", &now); now.State == protocol.StateListening {
			return
		}
		if time.Now().After(late) {
			l.t.Fatalf("still in %s", now.State)
		}
	}
}

// ask sends a message once the conversation is listening.
func (l *lived) ask() {
	l.t.Helper()
	l.listening()
	l.write(`{"jsonrpc":"2.0","method":"` + protocol.MethodCopilotTools + `","params":{"tools":[{"name":"look","description":"","inputSchema":{"type":"object"}}]}}`)
	l.send(protocol.MethodSendText, `{"text":"look at it"}`)
}

// stall pauses the conversation for a reason with a limit of one second.
func (l *lived) stall() { l.send(protocol.MethodSuspend, `{"reason":"diagnostics"}`) }

// request waits for the request to the assistant.
func (l *lived) request() (id string, requestID string) {
	l.t.Helper()
	m := l.next("copilot/send", func(m wireMessage) bool { return m.Method == protocol.MethodCopilotSend })
	var p protocol.CopilotSendParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		l.t.Fatal(err)
	}
	return string(m.ID), p.RequestID
}

func (l *lived) result(id, result string) {
	l.write(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
}

// answered makes the assistant answer.
func (l *lived) answered() {
	id, request := l.request()
	l.write(`{"jsonrpc":"2.0","method":"` + protocol.MethodCopilotDelta + `","params":{"requestId":"` + request + `","seq":0,"text":"Yes."}}`)
	l.result(id, `{"status":"completed"}`)
}

// fails makes the assistant fail.
func (l *lived) fails() {
	id, _ := l.request()
	l.result(id, `{"status":"failed","error":{"code":"copilotFailed","message":"no","retryable":false}}`)
}

// wantsTool makes the assistant call a tool, which the user is asked about.
func (l *lived) wantsTool() {
	id, request := l.request()
	l.calls++
	l.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"`+protocol.MethodCopilotToolCall+`","params":{"requestId":"%s","callId":"c%d","name":"look","input":{}}}`, request, l.calls))
	l.result(id, `{"status":"completed"}`)
}

func (l *lived) rejects() {
	l.send(protocol.MethodApproveTool, fmt.Sprintf(`{"callId":"c%d","approved":false}`, l.calls))
}

// asksForKey starts a conversation with a service, and returns the id of the request for
// its key.
func (l *lived) asksForKey() (id string) {
	l.t.Helper()
	l.call(protocol.MethodConfigure, `{"agentvoice.provider":"openai"}`, nil)
	l.start()
	return string(l.until("request for the key", func(m wireMessage) bool { return m.Method == protocol.MethodCredentials }).ID)
}

// noKey starts a conversation with a service for which there is no key.
func (l *lived) noKey() {
	l.write(`{"jsonrpc":"2.0","id":` + l.asksForKey() + `,"error":{"code":-32000,"message":"none"}}`)
}

func (l *lived) withoutService() {
	l.call(protocol.MethodConfigure, `{"agentvoice.provider":"local"}`, nil)
	l.start()
}

// specifiedMap is the guard map of 003, verbatim.
var specifiedMap = map[session.State][]session.State{
	session.Inactive:     {session.Activating},
	session.Activating:   {session.Ready, session.Error, session.Inactive},
	session.Ready:        {session.Running, session.Deactivating, session.Inactive, session.Error},
	session.Running:      {session.Ready, session.Waiting, session.Error, session.Deactivating},
	session.Waiting:      {session.Running, session.Error, session.Deactivating},
	session.Deactivating: {session.Inactive, session.Error},
	session.Error:        {session.Inactive, session.Activating},
}

// specifiedTarget is the status mapping of 003, verbatim.
var specifiedTarget = map[session.Status]session.State{
	session.Created: session.Activating, session.Connected: session.Ready, session.TurnStarted: session.Running,
	session.TurnComplete:      session.Ready,
	session.TurnError:         session.Ready, // "if currently running or waiting", as here
	session.QuestionRequested: session.Waiting, session.ApprovalResolved: session.Running,
	session.TerminationBegun: session.Deactivating, session.Terminated: session.Inactive, session.Failed: session.Error,
}

// occurrence is a trigger of a live session, and the status that it leads to. Without do,
// it follows automatically.
type occurrence struct {
	do     func(*lived)
	status session.Status
}

// occurrences are two lives of a daemon that cover everything in the tables that a daemon
// can cause.
var occurrences = [][]occurrence{
	{
		{(*lived).start, session.Created},
		{nil, session.Connected},
		{func(l *lived) { l.listening(); l.stall() }, session.Failed},
		{nil, session.Created}, // it recovers
		{nil, session.Connected},
		{(*lived).ask, session.TurnStarted},
		{(*lived).answered, session.TurnComplete},
		{(*lived).ask, session.TurnStarted},
		{(*lived).fails, session.TurnError},
		{(*lived).ask, session.TurnStarted},
		{(*lived).stall, session.Failed},
		{nil, session.Created},
		{nil, session.Connected},
		{(*lived).ask, session.TurnStarted},
		{(*lived).end, session.TerminationBegun}, // while running
		{nil, session.Terminated},
		{func(l *lived) { l.asksForKey() }, session.Created},
		{(*lived).end, session.Terminated}, // while activating
	},
	{
		{(*lived).start, session.Created},
		{nil, session.Connected},
		{(*lived).ask, session.TurnStarted},
		{(*lived).wantsTool, session.QuestionRequested},
		{(*lived).stall, session.Failed},
		{nil, session.Created},
		{nil, session.Connected},
		{(*lived).ask, session.TurnStarted},
		{(*lived).wantsTool, session.QuestionRequested},
		{(*lived).rejects, session.ApprovalResolved},
		{(*lived).wantsTool, session.QuestionRequested},
		{(*lived).end, session.TerminationBegun}, // while waiting
		{nil, session.Terminated},
		{(*lived).noKey, session.Created},
		{nil, session.Failed},
		{nil, session.Terminated},
		{(*lived).withoutService, session.Created},
		{nil, session.Connected},
		{func(l *lived) { l.listening(); l.end() }, session.TerminationBegun}, // while ready
		{nil, session.Terminated},
	},
}

// unreachable changes are allowed by the guard map but never made by a daemon: its
// tear-down always ends at a deadline.
var unreachable = [2]session.State{session.Deactivating, session.Error}

// The guard map and status mapping of 003 in live daemons: every allowed change and every
// status occurs, is published according to the specification's tables, and is written to
// the database, which rejects all other changes. Only a crash leads from ready to
// inactive, which the next daemon detects.
//
//test:long
func Test003TablesLive(t *testing.T) {
	seen, told := map[[2]session.State]bool{}, map[session.Status]bool{}
	folder := filepath.Join(t.TempDir(), "record")
	changes := watchStates(t, folder)
	var written []string
	for n, life := range occurrences {
		l := &lived{sidecar: startSidecar(t, folder, `"copilot":true,"tools":true,"secrets":true`, "--log-level", "disabled", "--set", "agentvoice.suspend.maxMs=1000")}
		was := session.Inactive
		for i, o := range life {
			if o.do != nil {
				o.do(l)
			}
			want := specifiedTarget[o.status]
			if from, to := l.change(); from != was || to != want {
				t.Fatalf("life %d, change %d: %v leads from %v to %v, want from %v to %v", n, i, o.status, from, to, was, want)
			}
			seen[[2]session.State{was, want}], told[o.status] = true, true
			if was == session.Error && want == session.Activating { // another session on record
				written = append(written, "error inactive", "inactive activating")
			} else {
				written = append(written, was.String()+" "+want.String())
			}
			was = want
		}
		l.sidecar.end()
	}

	crashes := &lived{sidecar: startSidecar(t, folder, "")}
	crashes.start()
	crashes.change()
	crashes.change() // ready
	var sessions protocol.SessionsResult
	crashes.call(protocol.MethodSessions, "null", &sessions) // recorded
	crashes.kill()
	r, err := registry.Open(t.Context(), registry.Options{Path: filepath.Join(folder, "sessions.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	seen[[2]session.State{session.Ready, session.Inactive}] = true
	written = append(written, "inactive activating", "activating ready", "ready inactive")

	if got := changes(); !slices.Equal(got, written) {
		t.Errorf("the database saw\n%q, want\n%q", got, written)
	}
	for from, targets := range specifiedMap {
		for _, to := range targets {
			if change := [2]session.State{from, to}; change != unreachable && !seen[change] {
				t.Errorf("no daemon went from %v to %v", from, to)
			}
		}
	}
	for status := range specifiedTarget {
		if !told[status] {
			t.Errorf("no daemon reported %v", status)
		}
	}
	for from := range specifiedMap {
		for to := range specifiedMap {
			err := tryChange(t, filepath.Join(folder, "sessions.db"), from, to)
			if from != to && (err == nil) != slices.Contains(specifiedMap[from], to) {
				t.Errorf("the daemon's database, from %v to %v: %v", from, to, err)
			}
		}
	}
}

// tryChange tries a change of state in a daemon's database, and undoes it.
func tryChange(t *testing.T, path string, from, to session.State) error {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO sessions (id, daemon, provider, state, started) VALUES ('tried', '', '', 'inactive', 0)"); err != nil {
		t.Fatal(err)
	}
	change := func(to session.State) error {
		_, err := tx.ExecContext(t.Context(), "UPDATE sessions SET state = ? WHERE id = 'tried'", to.String())
		return err
	}
	for _, next := range session.Path(session.Inactive, from) {
		if err := change(next); err != nil {
			t.Fatal(err)
		}
	}
	return change(to)
}
