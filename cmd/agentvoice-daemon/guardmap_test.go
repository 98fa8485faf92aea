package main

import (
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
	late := time.After(20 * time.Second)
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
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
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

// occurrence is a change of a live session: its trigger, the reported status and the new
// state. Without do, it follows automatically.
type occurrence struct {
	do     func(*lived)
	status session.Status
	from   session.State
	to     session.State
}

// occurrences are two lives of a daemon that cover everything in the tables that a daemon
// can cause.
var occurrences = [][]occurrence{
	{
		{(*lived).start, session.Created, session.Inactive, session.Activating},
		{nil, session.Connected, session.Activating, session.Ready},
		{func(l *lived) { l.listening(); l.stall() }, session.Failed, session.Ready, session.Error},
		{nil, session.Created, session.Error, session.Activating}, // it recovers
		{nil, session.Connected, session.Activating, session.Ready},
		{(*lived).ask, session.TurnStarted, session.Ready, session.Running},
		{(*lived).answered, session.TurnComplete, session.Running, session.Ready},
		{(*lived).ask, session.TurnStarted, session.Ready, session.Running},
		{(*lived).fails, session.TurnError, session.Running, session.Ready},
		{(*lived).ask, session.TurnStarted, session.Ready, session.Running},
		{(*lived).stall, session.Failed, session.Running, session.Error},
		{nil, session.Created, session.Error, session.Activating},
		{nil, session.Connected, session.Activating, session.Ready},
		{(*lived).ask, session.TurnStarted, session.Ready, session.Running},
		{(*lived).end, session.TerminationBegun, session.Running, session.Deactivating},
		{nil, session.Terminated, session.Deactivating, session.Inactive},
		{func(l *lived) { l.asksForKey() }, session.Created, session.Inactive, session.Activating},
		{(*lived).end, session.Terminated, session.Activating, session.Inactive},
	},
	{
		{(*lived).start, session.Created, session.Inactive, session.Activating},
		{nil, session.Connected, session.Activating, session.Ready},
		{(*lived).ask, session.TurnStarted, session.Ready, session.Running},
		{(*lived).wantsTool, session.QuestionRequested, session.Running, session.Waiting},
		{(*lived).stall, session.Failed, session.Waiting, session.Error},
		{nil, session.Created, session.Error, session.Activating},
		{nil, session.Connected, session.Activating, session.Ready},
		{(*lived).ask, session.TurnStarted, session.Ready, session.Running},
		{(*lived).wantsTool, session.QuestionRequested, session.Running, session.Waiting},
		{(*lived).rejects, session.ApprovalResolved, session.Waiting, session.Running},
		{(*lived).wantsTool, session.QuestionRequested, session.Running, session.Waiting},
		{(*lived).end, session.TerminationBegun, session.Waiting, session.Deactivating},
		{nil, session.Terminated, session.Deactivating, session.Inactive},
		{(*lived).noKey, session.Created, session.Inactive, session.Activating},
		{nil, session.Failed, session.Activating, session.Error},
		{nil, session.Terminated, session.Error, session.Inactive},
		{(*lived).withoutService, session.Created, session.Inactive, session.Activating},
		{nil, session.Connected, session.Activating, session.Ready},
		{func(l *lived) { l.listening(); l.end() }, session.TerminationBegun, session.Ready, session.Deactivating},
		{nil, session.Terminated, session.Deactivating, session.Inactive},
	},
}

// unreachable changes are allowed by the guard map but never made by a daemon: its
// tear-down always ends at a deadline. The registry's own test covers them.
var unreachable = [2]session.State{session.Deactivating, session.Error}

// The guard map and status mapping of 003 in live daemons: every allowed change and every
// status occurs, is published according to the tables, and is written to the database.
// Only a crash leads from ready to inactive, which the next daemon detects.
func Test003TablesLive(t *testing.T) {
	seen, told := map[[2]session.State]bool{}, map[session.Status]bool{}
	folder := filepath.Join(t.TempDir(), "record")
	changes := watchStates(t, folder)
	var written []string
	for n, life := range occurrences {
		l := &lived{sidecar: startSidecar(t, folder, `"copilot":true,"tools":true,"secrets":true`, "--log-level", "disabled", "--set", "agentvoice.suspend.maxMs=1000")}
		for i, o := range life {
			if o.do != nil {
				o.do(l)
			}
			if want, ok := session.Next(o.from, o.status); !ok || want != o.to {
				t.Errorf("the table leads from %v with %v to %v", o.from, o.status, want)
			}
			if from, to := l.change(); from != o.from || to != o.to {
				t.Fatalf("life %d, change %d is from %v to %v, want from %v to %v", n, i, from, to, o.from, o.to)
			}
			seen[[2]session.State{o.from, o.to}], told[o.status] = true, true
			if o.from == session.Error && o.to == session.Activating { // another session on record
				written = append(written, "error inactive", "inactive activating")
			} else {
				written = append(written, o.from.String()+" "+o.to.String())
			}
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
	for from := session.Inactive; from <= session.Error; from++ {
		for to := session.Inactive; to <= session.Error; to++ {
			change := [2]session.State{from, to}
			if session.Allowed(from, to) && change != unreachable && !seen[change] {
				t.Errorf("no daemon went from %v to %v", from, to)
			}
		}
	}
	for status := session.Created; status <= session.Failed; status++ {
		if !told[status] {
			t.Errorf("no daemon reported %v", status)
		}
	}
}
