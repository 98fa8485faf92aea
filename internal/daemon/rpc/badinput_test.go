package rpc_test

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/protocol/jsonrpc"
)

// Every message from a client is answered, and the daemon survives.
func TestBadMessages(t *testing.T) {
	c := scripted(t, "")
	c.initialize(nil, nil)
	for name, tc := range map[string]struct {
		body string
		id   string
		code int64
	}{
		"not JSON":                       {`{"jsonrpc":"2.0","id":7,`, "null", -32700},
		"not UTF-8":                      {"{\"a\":\"\xff\"}", "null", -32700},
		"empty":                          {``, "null", -32700},
		"a batch":                        {`[{"jsonrpc":"2.0","id":7,"method":"conversation/state"}]`, "null", -32600},
		"a number":                       {`7`, "null", -32600},
		"no method":                      {`{"jsonrpc":"2.0","id":7}`, "7", -32600},
		"no version":                     {`{"id":7,"method":"conversation/state"}`, "7", -32600},
		"params are a word":              {`{"jsonrpc":"2.0","id":7,"method":"conversation/state","params":"x"}`, "7", -32600},
		"unknown method":                 {`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, "7", -32601},
		"unknown $/ request":             {`{"jsonrpc":"2.0","id":7,"method":"$/such"}`, "7", -32601},
		"a method of the daemon":         {`{"jsonrpc":"2.0","id":7,"method":"copilot/send"}`, "7", -32601},
		"a notification, with id":        {`{"jsonrpc":"2.0","id":7,"method":"client/heartbeat"}`, "7", -32600},
		"params are a list":              {`{"jsonrpc":"2.0","id":7,"method":"conversation/sendText","params":["x"]}`, "7", -32602},
		"a field is missing":             {`{"jsonrpc":"2.0","id":7,"method":"conversation/sendText","params":{}}`, "7", -32602},
		"a field is a number":            {`{"jsonrpc":"2.0","id":7,"method":"conversation/sendText","params":{"text":5}}`, "7", -32602},
		"an unknown member":              {`{"jsonrpc":"2.0","id":7,"method":"conversation/sendText","params":{"text":"hello","loud":true}}`, "7", -32602},
		"a member of none":               {`{"jsonrpc":"2.0","id":7,"method":"conversation/state","params":{"verbose":true}}`, "7", -32602},
		"a member in capitals":           {`{"jsonrpc":"2.0","id":7,"method":"conversation/sendText","params":{"Text":"hello","text":"hello"}}`, "7", -32602},
		"settings in a member":           {`{"jsonrpc":"2.0","id":7,"method":"configuration/update","params":{"configuration":{"agentvoice.turnDetection.mode":"phrase"}}}`, "7", -32602},
		"a microphone that is not there": {`{"jsonrpc":"2.0","id":7,"method":"audio/select","params":{"input":"such"}}`, "7", -32602},
		"a speaker that is not there":    {`{"jsonrpc":"2.0","id":7,"method":"audio/select","params":{"input":"headless-microphone","output":"such"}}`, "7", -32602},
		"no device at all":               {`{"jsonrpc":"2.0","id":7,"method":"audio/select","params":{}}`, "7", -32602},
		"a value is not allowed":         {`{"jsonrpc":"2.0","id":7,"method":"conversation/interrupt","params":{"source":"dog"}}`, "7", -32602},
		"a reason is a fact":             {`{"jsonrpc":"2.0","id":7,"method":"conversation/suspend","params":{"reason":"device"}}`, "7", -32602},
		"time goes back":                 {`{"jsonrpc":"2.0","id":7,"method":"headless/advance","params":{"ms":-1}}`, "7", -32602},
		"time is too long":               {`{"jsonrpc":"2.0","id":7,"method":"headless/advance","params":{"ms":1e15}}`, "7", -32602},
		"a text without words":           {`{"jsonrpc":"2.0","id":7,"method":"conversation/sendText","params":{"text":" \n"}}`, "7", -32009},
		"out of order":                   {`{"jsonrpc":"2.0","id":7,"method":"conversation/retry"}`, "7", -32003},
		"no tool call":                   {`{"jsonrpc":"2.0","id":7,"method":"copilot/approveTool","params":{"callId":"c","approved":true}}`, "7", -32004},
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.raw(tc.body)
			m := c.next()
			if m.Error == nil || m.Error.Code != tc.code || string(m.ID) != tc.id {
				t.Errorf("the answer has id %s and error %+v, want id %s and %d", m.ID, m.Error, tc.id, tc.code)
			}
			if m.Error != nil && m.Error.Data.Remediation == "" {
				t.Error("nothing says what to do")
			}
		})
	}
	c.t = t
	// Messages without an answer.
	c.raw(`{"jsonrpc":"2.0","method":"$/unknown"}`)
	c.raw(`{"jsonrpc":"2.0","method":"unknown"}`)
	c.raw(`{"jsonrpc":"2.0","method":"conversation/start"}`)
	c.raw(`{"jsonrpc":"2.0","method":"copilot/delta","params":{"requestId":"req-9","seq":0}}`)
	c.raw(`{"jsonrpc":"2.0","method":"copilot/delta","params":{"seq":"x"}}`)
	c.raw(`{"jsonrpc":"2.0","method":"copilot/toolCall","params":{"requestId":"req-9","callId":"c","name":"n","input":{}}}`)
	c.raw(`{"jsonrpc":"2.0","id":99,"result":null}`)
	c.raw(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":12345}}`)
	var now protocol.Snapshot
	if c.call(protocol.MethodState, nil, &now); now.State != protocol.StateIdle || len(c.seen) > 0 {
		t.Errorf("the state is %s, and the daemon said %+v", now.State, c.seen)
	}
	c.end()
}

// After an unreadable header, the stream cannot be resynchronised.
func TestBadHeaderEndsTheConnection(t *testing.T) {
	c := scripted(t, "")
	c.initialize(nil, nil)
	if _, err := c.in.Write([]byte("Content-Length: many\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-c.served:
		var bad *jsonrpc.HeaderError
		if err == nil || !strings.Contains(err.Error(), "Content-Length") || !errorsAs(err, &bad) {
			t.Errorf("Serve returned %v", err)
		}
		c.served <- nil
	case <-timeout():
		t.Fatal("Serve does not end")
	}
}

func TestOneIDForTwoRequests(t *testing.T) {
	cfg, _, _ := running(t)
	devices := newSlowAudio()
	c := serve(t, devices.in(cfg), true)
	c.initialize(nil, nil)
	c.raw(`{"jsonrpc":"2.0","id":50,"method":"audio/devices"}`)
	<-devices.asked
	c.raw(`{"jsonrpc":"2.0","id":50,"method":"conversation/state"}`)
	if m := c.answer("50"); m.Error == nil || m.Error.Data.Code != protocol.CodeInvalidRequest {
		t.Errorf("the second request was answered %+v", m)
	}
	close(devices.release)
	if m := c.answer("50"); m.Error != nil {
		t.Errorf("the first request was answered %+v", m.Error)
	}
	c.end()
}

func TestCancelRequest(t *testing.T) {
	cfg, _, _ := running(t)
	devices := newSlowAudio()
	c := serve(t, devices.in(cfg), true)
	c.initialize(nil, nil)
	id := c.request(protocol.MethodDevices, nil)
	<-devices.asked
	c.raw(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
	if m := c.answer(id); m.Error == nil || m.Error.Data.Code != protocol.CodeRequestCancelled {
		t.Errorf("the cancelled request was answered %+v", m)
	}
	close(devices.release)
	c.end()
	for _, m := range c.seen {
		if string(m.ID) == id {
			t.Errorf("it was answered twice: %+v", m)
		}
	}
}

// An unknown member of a request is named, at any depth, and nothing changes;
// initialize accepts those of later versions.
func TestUnknownMembersAreNamed(t *testing.T) {
	c := scripted(t, "")
	var r protocol.InitializeResult
	c.call(protocol.MethodInitialize, object{
		"protocolVersion": protocol.Version, "locale": "en", "capabilities": object{"copilot": true, "telepathy": true}, "later": 1,
	}, &r)
	data := c.refused(protocol.MethodConfigure, object{"configuration": object{"agentvoice.turnDetection.mode": "phrase"}}, protocol.CodeInvalidParams)
	if len(data.Fields) != 1 || data.Fields[0].Field != "configuration" {
		t.Errorf("the fields are %+v", data.Fields)
	}
	data = c.refused(protocol.MethodStart, object{"takeover": true, "context": object{"anything": object{"goes": 1}}}, protocol.CodeInvalidParams)
	if len(data.Fields) != 1 || data.Fields[0].Field != "takeover" || data.Fields[0].Allowed != "context, takeOver" {
		t.Errorf("the fields are %+v", data.Fields)
	}
	data = c.refused(protocol.MethodSelectDevice, object{"input": "headless-microphone", "output": "no-such"}, protocol.CodeInvalidParams)
	if len(data.Fields) != 1 || data.Fields[0].Field != "output" || !strings.Contains(data.Fields[0].Problem, `"no-such"`) {
		t.Errorf("the fields are %+v", data.Fields)
	}
	var now protocol.Snapshot
	if c.call(protocol.MethodState, nil, &now); now.State != protocol.StateIdle {
		t.Errorf("the state is %s", now.State)
	}
	c.end()
}

// Every client request refuses an unknown member.
func TestEveryRequestRefusesUnknownMembers(t *testing.T) {
	c := scripted(t, "")
	c.initialize(nil, nil)
	for _, m := range protocol.Messages {
		if m.Direction != protocol.ClientToDaemon || m.Notification || m.Method == protocol.MethodInitialize || m.Method == protocol.MethodShutdown {
			continue
		}
		data := c.refused(m.Method, object{"noSuchMember": 1}, protocol.CodeInvalidParams)
		found := false
		for _, f := range data.Fields {
			found = found || f.Field == "noSuchMember"
		}
		if !found {
			t.Errorf("%s names %+v", m.Method, data.Fields)
		}
	}
	c.end()
}
