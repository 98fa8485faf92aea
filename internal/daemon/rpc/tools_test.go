package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// withTools is a client whose assistant may call tools.
var withTools = object{"copilot": true, "tools": true}

// wantsTool requests a tool call within an answer.
func (c *client) wantsTool(p protocol.CopilotSendParams, callID, name string, input, more object) {
	c.t.Helper()
	params := object{"requestId": p.RequestID, "callId": callID, "name": name, "input": input}
	for k, v := range more {
		params[k] = v
	}
	c.notify(protocol.MethodCopilotToolCall, params)
}

// tool reads up to a tool notification with a status.
func (c *client) tool(want protocol.ToolStatus) protocol.ToolParams {
	c.t.Helper()
	var p protocol.ToolParams
	c.until("tool "+string(want), func(m message) bool {
		if m.Method != protocol.NotifyTool {
			return false
		}
		p = protocol.ToolParams{}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		return p.Status == want
	})
	return p
}

// allow allows a call as it was shown last.
func (c *client) allow(callID string) {
	c.t.Helper()
	c.call(protocol.MethodApproveTool, object{"callId": callID, "approved": true, "hash": c.hashes[callID]}, nil)
}

// invoked reads up to a copilot/invokeTool.
func (c *client) invoked() (id json.RawMessage, p protocol.InvokeToolParams) {
	c.t.Helper()
	m := c.until("copilot/invokeTool", func(m message) bool { return m.Method == protocol.MethodInvokeTool })
	if err := json.Unmarshal(m.Params, &p); err != nil {
		c.t.Fatal(err)
	}
	return m.ID, p
}

// never checks that no further message of a method has arrived so far.
func (c *client) never(method string) {
	c.t.Helper()
	c.call(protocol.MethodState, nil, nil) // its answer follows everything else
	for _, m := range c.seen {
		if m.Method == method {
			c.t.Errorf("there was a %s: %s", method, m.Params)
		}
	}
}

// ask types a question that is answered by a tool call, up to the question whether it
// may run.
func (c *client) ask(name string, input, more object) (protocol.CopilotSendParams, protocol.ToolParams) {
	c.t.Helper()
	c.request(protocol.MethodSendText, object{"text": "Do the tests pass?"})
	id, p := c.asked()
	c.delta(p, 0, "Let me check.")
	c.wantsTool(p, "call-1", name, input, more)
	c.respond(id, completedResult)
	return p, c.tool(protocol.ToolWaiting)
}

var completedResult = object{"status": "completed"}

// A tool is asked about, approved by a click, and runs once; its result is in the next
// round of the same question, whose answer is spoken.
func TestToolAllowedByAClick(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(withTools)
	first, asked := c.ask("runTests", object{"path": "/home/user/project/parser_test.go"}, object{"destructive": false})
	if asked.CallID != "call-1" || asked.RequestID != first.RequestID || asked.TurnID != first.TurnID || asked.Name != "runTests" || asked.Destructive {
		t.Errorf("the question is of %+v", asked)
	}
	if want := "Yes or no: May I use the tool run tests on parser_test.go? The panel shows the whole call."; asked.Question != want {
		t.Errorf("the question is %q, want %q", asked.Question, want)
	}
	c.never(protocol.MethodInvokeTool)
	c.refused(protocol.MethodApproveTool, object{"callId": "call-2", "approved": true}, protocol.CodeInvalidState)
	for _, hash := range []string{"", "0", strings.ToUpper(asked.Hash)} { // of another call, or of none
		c.refused(protocol.MethodApproveTool, object{"callId": "call-1", "approved": true, "hash": hash}, protocol.CodeCallChanged)
	}
	c.never(protocol.MethodInvokeTool)
	c.allow("call-1")
	id, run := c.invoked()
	if run.CallID != "call-1" || run.Name != "runTests" || run.Hash != asked.Hash || run.Hash == "" || !strings.Contains(string(run.Input), "parser_test.go") {
		t.Errorf("copilot/invokeTool is %+v", run)
	}
	c.refused(protocol.MethodApproveTool, object{"callId": "call-1", "approved": true, "hash": asked.Hash}, protocol.CodeInvalidState)
	c.respond(id, object{"content": "1 failed, 41 passed"})
	if done := c.tool(protocol.ToolCompleted); done.CallID != "call-1" {
		t.Errorf("the end is of %+v", done)
	}
	id, second := c.asked()
	last := second.Messages[len(second.Messages)-1]
	if second.RequestID != first.RequestID || second.Round != 1 || second.Attempt != 1 || second.Messages[0].Content != "Do the tests pass?" {
		t.Errorf("the second round is %+v", second)
	}
	if last.Role != protocol.MessageTool || last.CallID != "call-1" || last.Content != "1 failed, 41 passed" || last.Status != protocol.ToolCompleted {
		t.Errorf("its last message is %+v", last)
	}
	c.delta(second, 0, "One test fails.")
	c.respond(id, completedResult)
	c.call(protocol.MethodAdvance, object{"ms": 10000}, nil)
	var words protocol.TranscriptResult
	c.call(protocol.MethodTranscript, nil, &words)
	if answer := words.Entries[len(words.Entries)-1]; answer.Text != "Let me check.\n\nOne test fails." || !answer.Final ||
		answer.HeardChars == nil || *answer.HeardChars != len("Let me check.\n\nOne test fails.") {
		t.Errorf("the transcript is %+v", words.Entries)
	}
	c.never(protocol.MethodInvokeTool) // a second time
	c.end()
}

// A tool that refuses to run has failed, for the panel and the assistant, and the answer goes on.
func TestToolRefusesToRun(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(withTools)
	c.ask("runTests", object{}, object{"destructive": false})
	c.allow("call-1")
	id, _ := c.invoked()
	c.respond(id, object{"content": "No folder is open.", "refused": true})
	if failed := c.tool(protocol.ToolFailed); failed.CallID != "call-1" {
		t.Errorf("the end is of %+v", failed)
	}
	_, second := c.asked()
	if last := second.Messages[len(second.Messages)-1]; second.Round != 1 || last.Content != "No folder is open." || last.Status != protocol.ToolFailed {
		t.Errorf("the second round ends with %+v", last)
	}
	c.end()
}

// After the question about a call, the label says that the user's answer is awaited.
func TestLabelWhileAnAnswerIsAwaited(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(withTools)
	c.ask("runTests", object{}, object{"destructive": false})
	c.call(protocol.MethodAdvance, object{"ms": 10000}, nil)
	var now protocol.Snapshot
	c.call(protocol.MethodState, nil, &now)
	if now.State != protocol.StateListening || now.Label != "● Waiting for your answer" {
		t.Errorf("the state is %s, labelled %q", now.State, now.Label)
	}
	c.allow("call-1")
	id, _ := c.invoked()
	c.respond(id, object{"content": "passed"})
	c.tool(protocol.ToolCompleted)
	c.call(protocol.MethodState, nil, &now)
	if strings.Contains(now.Label, "answer") {
		t.Errorf("after the answer, the label is still %q", now.Label)
	}
	c.end()
}

// A rejected tool does not run, and the assistant is told.
func TestToolRejected(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(withTools)
	first, _ := c.ask("runTests", object{}, nil)
	c.call(protocol.MethodApproveTool, object{"callId": "call-1", "approved": false}, nil)
	id, second := c.asked()
	last := second.Messages[len(second.Messages)-1]
	if second.RequestID != first.RequestID || last.Status != protocol.ToolRejected || !strings.Contains(last.Content, "did not allow") {
		t.Errorf("the second round is %+v", second)
	}
	c.delta(second, 0, "All right.")
	c.respond(id, completedResult)
	c.state(protocol.StateSpeaking)
	c.never(protocol.MethodInvokeTool)
	c.end()
}

// The user interrupts while a tool runs: the client is told to stop it, a result that
// it still returns is kept, and it is not run again.
func TestInterruptedWhileAToolRuns(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(withTools)
	c.ask("runTests", object{}, object{"destructive": false})
	c.allow("call-1")
	id, _ := c.invoked()
	c.call(protocol.MethodInterrupt, object{"source": "button"}, nil)
	told := false
	for _, m := range c.seen {
		told = told || m.Method == protocol.MethodCancelRequest
	}
	if !told {
		c.until("the cancellation", func(m message) bool { return m.Method == protocol.MethodCancelRequest })
	}
	c.request(protocol.MethodSendText, object{"text": "What came of it?"})
	c.respond(id, object{"content": "1 failed"}) // it could not be stopped
	c.tool(protocol.ToolCompleted)
	next, p := c.asked()
	found := false
	for _, m := range p.Messages {
		found = found || m.Role == protocol.MessageTool && m.Content == "1 failed"
	}
	if !found || p.Round != 0 {
		t.Errorf("the next question is %+v, want the result in it", p)
	}
	c.delta(p, 0, "One test fails.")
	c.respond(next, completedResult)
	c.state(protocol.StateSpeaking)
	c.never(protocol.MethodInvokeTool)
	c.end()
}

// A tool that the client cannot run ends the turn with a spoken explanation; a retry is
// a separate call, which needs approval again.
func TestToolFailsAndIsTriedAgain(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(withTools)
	c.ask("runTests", object{}, object{"destructive": false})
	c.allow("call-1")
	id, _ := c.invoked()
	c.send(object{"jsonrpc": "2.0", "id": id, "error": object{"code": -32603, "message": "words of the user"}})
	c.tool(protocol.ToolFailed)
	failed := c.until("the failure", func(m message) bool { return m.Method == protocol.NotifyNotification })
	if !strings.Contains(string(failed.Params), "toolFailed") || strings.Contains(string(failed.Params), "words of the user") {
		t.Errorf("the failure is %s", failed.Params)
	}
	c.call(protocol.MethodAdvance, object{"ms": 10000}, nil)
	c.refused(protocol.MethodRetry, object{"stage": "search"}, protocol.CodeNothingToRetry)
	c.call(protocol.MethodRetry, object{"stage": "call"}, nil)
	again := c.tool(protocol.ToolWaiting)
	if again.CallID == "call-1" || again.RetryOf != "call-1" || again.Name != "runTests" {
		t.Errorf("the call that is tried again is %+v", again)
	}
	c.allow(again.CallID)
	id, run := c.invoked()
	if run.CallID != again.CallID {
		t.Errorf("it runs as %+v", run)
	}
	c.respond(id, object{"content": "42 passed"})
	_, p := c.asked()
	if last := p.Messages[len(p.Messages)-1]; last.Content != "42 passed" {
		t.Errorf("the last message is %+v", last)
	}
	c.end()
}
