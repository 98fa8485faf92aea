package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// A destructive tool needs a yes that names it: after a bare yes, the question is asked
// again. Words from before the question was heard do not count.
func TestToolAllowedByVoice(t *testing.T) {
	c := scripted(t, `
		auto speech 0ms 1s
		await answer copilot/send
		after 3s                     # "Let me see." and the question were heard
		say "Yes."
		after 3s                     # it was asked again
		say "Yes, delete it, please."
		after 1s                     # nothing took it back
	`)
	c.initializeAndListen(withTools)
	_, asked := c.ask("delete_file", object{"filePath": "/tmp/old.txt"}, nil)
	const question = "May I use the tool delete file on old.txt? The panel shows the whole call. It may not be possible to undo it. To allow it, say “yes, delete”; if not, say no."
	if !asked.Destructive || asked.Question != question {
		t.Errorf("the question is %+v", asked)
	}
	id, run := c.invoked()
	if run.CallID != "call-1" {
		t.Errorf("it runs as %+v", run)
	}
	questions := 0
	for _, m := range c.seen {
		if m.Method == protocol.NotifyCaption && strings.Contains(string(m.Params), "undo it") && strings.Contains(string(m.Params), `"heardChars":0`) {
			questions++
		}
	}
	if questions != 2 {
		t.Errorf("the question was asked %d times, want 2", questions)
	}
	c.respond(id, object{"content": "deleted"})
	c.asked()
	c.end()
}

// A no rejects the call; so do any other words, which become the next message.
func TestToolRefusedByVoice(t *testing.T) {
	for words, next := range map[string]string{
		"No.":                        "",
		"No, don't delete it.":       "",
		"No, show me the file first": "No, show me the file first",
		"What is in that file?":      "What is in that file?",
	} {
		t.Run(words, func(t *testing.T) {
			c := scripted(t, fmt.Sprintf("auto speech 0ms 1s\nawait answer copilot/send\nafter 3s\nsay %q", words))
			c.initializeAndListen(withTools)
			first, _ := c.ask("delete_file", object{"filePath": "/tmp/old.txt"}, nil)
			c.tool(protocol.ToolRejected)
			_, p := c.asked()
			last := p.Messages[len(p.Messages)-1]
			if next == "" && (p.RequestID != first.RequestID || last.Status != protocol.ToolRejected) {
				t.Errorf("the next round is %+v", p)
			}
			if next != "" && (p.RequestID == first.RequestID || last.Role != protocol.MessageUser || last.Content != next) {
				t.Errorf("the next message is %+v", p)
			}
			c.never(protocol.MethodInvokeTool)
			c.end()
		})
	}
}

// A yes that goes on with something else allows nothing, and drops nothing: the question is asked
// again.
func TestAnUnclearAnswerIsAskedAgain(t *testing.T) {
	for _, words := range []string{"Yes, but", "Yes, but show me the file first", "Sure, and", "Okay, but um", "Delete it and"} {
		t.Run(words, func(t *testing.T) {
			c := scripted(t, fmt.Sprintf("auto speech 0ms 1s\nawait answer copilot/send\nafter 3s\nsay %q\nafter 3s\nsay \"No.\"", words))
			c.initializeAndListen(withTools)
			first, _ := c.ask("delete_file", object{"filePath": "/tmp/old.txt"}, nil)
			c.tool(protocol.ToolRejected)
			if _, p := c.asked(); p.RequestID != first.RequestID {
				t.Errorf("the next request is %+v", p)
			}
			c.never(protocol.MethodInvokeTool)
			c.end()
		})
	}
}

// The list of tools goes with each request and says which are destructive.
func TestToolsThatTheClientOffers(t *testing.T) {
	c := scripted(t, "")
	r := c.initialize(withTools, nil)
	if !r.Capabilities.Tools || !r.Capabilities.Models {
		t.Errorf("capabilities %+v", r.Capabilities)
	}
	c.notify(protocol.MethodCopilotTools, object{"tools": []object{{"name": "runTests", "destructive": false}}})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.request(protocol.MethodSendText, object{"text": "Do the tests pass?"})
	id, p := c.asked()
	if len(p.Tools) != 1 || p.Tools[0].Name != "runTests" || p.Tools[0].Destructive == nil || *p.Tools[0].Destructive {
		t.Errorf("the tools are %+v", p.Tools)
	}
	c.wantsTool(p, "call-1", "runTests", object{}, nil)
	c.respond(id, completedResult)
	if asked := c.tool(protocol.ToolWaiting); asked.Destructive {
		t.Errorf("the question is of %+v", asked)
	}
	c.allow("call-1")
	id, _ = c.invoked()
	c.respond(id, object{"content": "42 passed"})
	if _, p = c.asked(); p.Round != 1 || len(p.Tools) != 1 {
		t.Errorf("the second round is %+v", p)
	}
	c.end()
}

// A client without capabilities.tools is not asked to run tools.
func TestWithoutToolsNoneIsTaken(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(object{"copilot": true})
	c.request(protocol.MethodSendText, object{"text": "Do the tests pass?"})
	id, p := c.asked()
	c.delta(p, 0, "I cannot tell.")
	c.wantsTool(p, "call-1", "runTests", object{}, nil)
	c.respond(id, completedResult)
	c.state(protocol.StateSpeaking)
	c.never(protocol.NotifyTool)
	var report protocol.Report
	c.call(protocol.MethodDiagnosticsReport, nil, &report)
	if report.Counters["copilot.toolCallsDropped"] != 1 {
		t.Errorf("counters %v", report.Counters)
	}
	c.end()
}

// A model selected during an answer answers the next question.
func TestModelSelectedInTheMiddle(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initialize(withTools, object{"agentvoice.copilot.model": "gpt-4.1"})
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.request(protocol.MethodSendText, object{"text": "Do the tests pass?"})
	id, p := c.asked()
	if p.Model != "gpt-4.1" {
		t.Errorf("the model is %q", p.Model)
	}
	c.wantsTool(p, "call-1", "runTests", object{}, nil)
	c.call(protocol.MethodSelectModel, object{"id": "o5"}, nil)
	c.respond(id, completedResult)
	c.tool(protocol.ToolWaiting)
	c.allow("call-1")
	run, _ := c.invoked()
	c.respond(run, object{"content": "42 passed"})
	id, p = c.asked()
	if p.Round != 1 || p.Model != "gpt-4.1" {
		t.Errorf("the second round is %+v, want the model it began with", p)
	}
	c.delta(p, 0, "Yes.")
	c.respond(id, completedResult)
	loaded := c.until("the model", func(m message) bool { return strings.Contains(string(m.Params), "modelLoading") })
	if !strings.Contains(string(loaded.Params), "The model o5 answers from now on.") || !strings.Contains(string(loaded.Params), `"progress":1`) {
		t.Errorf("the news is %s", loaded.Params)
	}
	c.call(protocol.MethodAdvance, object{"ms": 5000}, nil)
	c.request(protocol.MethodSendText, object{"text": "Which model are you?"})
	if _, p = c.asked(); p.Model != "o5" {
		t.Errorf("the model is %q", p.Model)
	}
	var models protocol.ModelsResult
	c.call(protocol.MethodModels, nil, &models)
	if models.Selected != "o5" || len(models.Models) != 0 {
		t.Errorf("models %+v", models)
	}
	c.end()
}

// A long conversation is summarised once each time it has grown too long; the prompt
// begins with the summary and stays short.
func TestALongConversationIsSummarised(t *testing.T) {
	c := scripted(t, "auto speech 0ms 100ms")
	c.initializeAndListen(object{"copilot": true})
	summaries, longest := map[string]int{}, 0
	for n := range 60 {
		c.request(protocol.MethodSendText, object{"text": fmt.Sprintf("Question %d, about the parser.", n)})
		id, p := c.asked()
		if first := p.Messages[0]; strings.HasPrefix(first.Content, "[What was said before, in short]") {
			summaries[first.Content]++
			if first.Role != protocol.MessageUser || !strings.Contains(first.Content, "User: Question 0, about the parser.") ||
				!strings.Contains(first.Content, "Assistant: Answer 0.") {
				t.Fatalf("the summary is %+v", first)
			}
		}
		longest = max(longest, len(p.Messages))
		if last := p.Messages[len(p.Messages)-1].Content; last != fmt.Sprintf("Question %d, about the parser.", n) {
			t.Fatalf("the last message is %q", last)
		}
		c.delta(p, 0, fmt.Sprintf("Answer %d.", n))
		c.respond(id, completedResult)
		c.call(protocol.MethodAdvance, object{"ms": 200}, nil)
		c.seen = nil
	}
	if len(summaries) != 3 || longest > 43 {
		t.Errorf("%d summaries in 120 items, and prompts of up to %d messages; want 3, and 43 at most", len(summaries), longest)
	}
	c.end()
}

// In the send-phrase mode a pause sends nothing: the phrase does, and is not part of
// the message.
func TestSendPhrase(t *testing.T) {
	c := scripted(t, `
		await state listening
		say "Explain the parser."
		after 20s
		say "In one sentence, send it!"
	`)
	c.initialize(object{"copilot": true}, object{"agentvoice.turnDetection.mode": "phrase"})
	c.call(protocol.MethodStart, nil, nil)
	_, p := c.asked()
	if len(p.Messages) != 1 || p.Messages[0].Content != "Explain the parser in one sentence" {
		raw, _ := json.Marshal(p.Messages)
		t.Errorf("the messages are %s", raw)
	}
	c.end()
}
