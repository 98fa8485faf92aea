package daemon

import (
	"context"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// "What did you do" lists the calls that the agent made by itself among the others.
func TestDeedsOfTheAgent(t *testing.T) {
	r := newRoom(t, protocol.DefaultSettings(), false, "", false)
	r.types("fix the parser")
	c := r.d.content
	c.newAnswer(r.request)
	own := func(id, name string, status copilot.CallStatus) {
		c.setOwnCall(r.request, copilot.OwnCall{ID: id, Name: name, Status: status})
	}
	own("1", "Read `parser.go`", copilot.CallRunning)
	own("2", "Fetch", copilot.CallRunning)
	c.newCall(r.request, copilot.ToolCall{ID: "asked", Name: "runTests"})
	r.d.pub.tools = append(r.d.pub.tools, protocol.ToolParams{CallID: "asked", Name: "runTests", Status: protocol.ToolCompleted})
	own("3", "Run", copilot.CallRunning)
	own("4", "Think", copilot.CallRunning)
	own("5", "Plan", copilot.CallRunning)
	own("1", "Read `parser.go`", copilot.CallCompleted)
	own("2", "Fetch", copilot.CallFailed)
	own("4", "Think", copilot.CallCancelled)
	c.setOwnCall(r.request, copilot.OwnCall{ID: "3", Name: "Run", Status: copilot.CallRunning, Asked: true}) // listed with the asked ones
	want := "I used tools 5 times. Read parser.go: done. Fetch: failed. run tests: done. Think: cancelled. Plan: still running."
	if got := r.d.deeds(); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	for range maxDeeds {
		c.setOwnCall(r.request, copilot.OwnCall{ID: string(rune('a' + len(c.ownCalls()))), Name: "Read", Status: copilot.CallCompleted})
	}
	if got := r.d.deeds(); !strings.HasPrefix(got, "I used tools 15 times. Read: done.") || strings.Count(got, "Read: done.") != maxDeeds {
		t.Errorf("said %q, want the last %d of 15", got, maxDeeds)
	}
	c.forget()
	own("9", "Late", copilot.CallCompleted)
	if got := c.ownCalls(); len(got) != 0 {
		t.Errorf("after the conversation %+v", got)
	}
}

// acts is an agent that makes calls by itself.
type acts []copilot.OwnCall

func (acts) Name() string { return "acts" }
func (a acts) Send(_ context.Context, r copilot.Request, _ func(string)) error {
	for _, c := range a {
		r.Called(c)
	}
	return nil
}

// The core learns of a call that the agent began by itself and that may change something: what the
// user adds then does not take the request back. Calls that the user was asked about it knows.
func TestAnAgentThatActsByItself(t *testing.T) {
	for _, c := range []struct {
		call  copilot.OwnCall
		acted bool
	}{
		{copilot.OwnCall{ID: "1", Name: "Edit", Status: copilot.CallRunning}, true},
		{copilot.OwnCall{ID: "1", Name: "Read", Status: copilot.CallRunning, Reads: true}, false},
		{copilot.OwnCall{ID: "1", Name: "Edit", Status: copilot.CallRunning, Asked: true}, false},
	} {
		a, next := errands(t, acts{c.call})
		a.send(csm.SendCopilot{Request: 1, Turn: 1, Utterance: 1}, "")
		acted := false
		for e := next(); csm.KindOf(e) != csm.KindCopilotDone; e = next() {
			d, _ := e.(csm.CopilotDelta)
			acted = acted || d.Acted
		}
		if acted != c.acted {
			t.Errorf("%+v: the core is told %v, want %v", c.call, acted, c.acted)
		}
	}
}

func TestOwnCallsAreBounded(t *testing.T) {
	c := newContent()
	c.newAnswer(1)
	id := []byte{0, 0}
	for n := range maxOwnCalls + 1 {
		id[0], id[1] = byte(n), byte(n>>8)
		c.setOwnCall(1, copilot.OwnCall{ID: string(id)})
	}
	if n := len(c.ownCalls()); n != maxOwnCalls {
		t.Errorf("%d calls are stored, want %d", n, maxOwnCalls)
	}
	c.setOwnCall(1, copilot.OwnCall{ID: "\x00\x00", Status: copilot.CallFailed})
	if got := c.ownCalls()[0]; got.Status != copilot.CallFailed {
		t.Errorf("the first call is %+v, want its new status", got)
	}
}
