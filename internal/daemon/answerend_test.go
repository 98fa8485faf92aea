package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestEndOfAFailedRequest(t *testing.T) {
	for _, tt := range []struct {
		code          csm.Code
		whole, noText protocol.AnswerEnd
	}{
		{csm.CodeAnswerCutLength, protocol.EndLength, protocol.EndLength},
		{csm.CodeAnswerCutTurns, protocol.EndTurnLimit, protocol.EndTurnLimit},
		{csm.CodeAnswerCutFilter, protocol.EndFilter, protocol.EndFilter},
		{csm.CodeAnswerCutOff, protocol.EndInterrupted, protocol.EndInterrupted},
		{csm.CodeCopilotStalled, protocol.EndStall, ""},
		{csm.CodeAgentEnded, protocol.EndInterrupted, ""},
	} {
		if got := endOf(tt.code, true); got != tt.whole {
			t.Errorf("%s with text: %q, want %q", tt.code, got, tt.whole)
		}
		if got := endOf(tt.code, false); got != tt.noText {
			t.Errorf("%s without text: %q, want %q", tt.code, got, tt.noText)
		}
	}
	for _, end := range protocol.AnswerEnds {
		if got, want := isCut(end), end != protocol.EndWhole && end != protocol.EndUnknown; got != want {
			t.Errorf("isCut(%s) = %t", end, got)
		}
	}
	if isCut("") {
		t.Error("no end counts as cut")
	}
}

// The request of an answer says how it ended.
func TestEndOfARequest(t *testing.T) {
	for _, tt := range []struct {
		name string
		send func(r copilot.Request, emit func(string)) error
		want protocol.AnswerEnd
	}{
		{"whole", func(_ copilot.Request, emit func(string)) error { emit("All."); return nil }, protocol.EndWhole},
		{"unknown", func(r copilot.Request, emit func(string)) error { emit("All."); r.EndUnknown(); return nil }, protocol.EndUnknown},
		{"length", func(_ copilot.Request, emit func(string)) error {
			emit("Half")
			return &copilot.Error{Code: copilot.CutByLength}
		}, protocol.EndLength},
		{"failed", func(copilot.Request, func(string)) error { return &copilot.Error{Code: "copilotQuota"} }, ""},
		{"failed after text", func(_ copilot.Request, emit func(string)) error {
			emit("Half")
			return &copilot.Error{Code: "copilotQuota"}
		}, protocol.EndInterrupted},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAssistant(newIdle(t, nil), tooled{&able{}, tt.send})
			a.clock = dispatch.NewClock(1)
			a.room = func(context.Context) bool { return true }
			a.post = func(csm.Event) {}
			a.send(csm.SendCopilot{Request: 7, Deadline: time.Hour}, "")
			a.wg.Wait()
			if got := a.content.end(7); got != tt.want {
				t.Errorf("%s: ended %q, want %q", tt.name, got, tt.want)
			}
			a.close()
		})
	}
}

func TestEndOfATurn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		request uint64
		known   protocol.AnswerEnd
		text    string
		failed  csm.Code
		end     csm.TurnEnd
		want    protocol.AnswerEnd
		kept    protocol.AnswerEnd
	}{
		{"whole", 1, protocol.EndWhole, "All.", "", csm.Answered, protocol.EndWhole, protocol.EndWhole},
		{"unknown", 1, protocol.EndUnknown, "All.", "", csm.Answered, protocol.EndUnknown, protocol.EndUnknown},
		{"cut", 1, protocol.EndLength, "Half", csm.CodeAnswerCutLength, csm.TurnFailed, protocol.EndLength, protocol.EndLength},
		{"cut and interrupted", 1, protocol.EndLength, "Half", "", csm.TurnCutOff, protocol.EndLength, protocol.EndLength},
		{"whole and interrupted", 1, protocol.EndWhole, "All.", "", csm.TurnCutOff, protocol.EndWhole, protocol.EndWhole},
		{"interrupted", 1, "", "Half", "", csm.TurnCutOff, protocol.EndInterrupted, ""},
		{"interrupted before any text", 1, "", "", "", csm.TurnCutOff, "", ""},
		{"stalled", 1, "", "Half", csm.CodeCopilotStalled, csm.TurnFailed, protocol.EndStall, protocol.EndStall},
		{"timeout", 1, "", "", csm.CodeCopilotTimeout, csm.TurnFailed, "", ""},
		{"voice failed", 1, protocol.EndWhole, "All.", csm.CodeSpeechFailed, csm.TurnFailed, protocol.EndWhole, protocol.EndWhole},
		{"no request", 0, "", "", csm.CodeRecognitionFailed, csm.TurnFailed, "", ""},
	} {
		c := newContent()
		if tt.text != "" {
			c.extend(tt.request, tt.text)
		}
		if tt.known != "" {
			c.setEnd(tt.request, tt.known)
		}
		if got := c.endOfTurn(csm.Turn{Request: tt.request, Failed: tt.failed}, tt.end); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := c.end(tt.request); got != tt.kept {
			t.Errorf("%s: stored %q, want %q", tt.name, got, tt.kept)
		}
	}
}

// A cut answer is marked as such in later prompts, and only that.
func TestCutAnswerIsMarkedInThePrompt(t *testing.T) {
	for end, want := range map[protocol.AnswerEnd]bool{"": false, protocol.EndWhole: false, protocol.EndUnknown: false, protocol.EndLength: true, protocol.EndStall: true} {
		c := newContent()
		c.extend(1, "Half an")
		if end != "" {
			c.setEnd(1, end)
		}
		got := c.messages([]history.Item{{Request: 1, Heard: 7}})
		if len(got) != 1 || got[0].Cut != want || got[0].Content != "Half an" {
			t.Errorf("%q: %+v", end, got)
		}
	}
}

// Words that were recognised from speech are marked in this prompt and in later ones,
// also among typed words that they were merged with. Typed words and the daemon's own are not.
func TestDictatedWordsAreMarkedInThePrompt(t *testing.T) {
	c := newContent()
	for id, dictated := range map[uint64]bool{1: true, 2: false, 3: true} {
		c.setUtterance(id, "words")
		if dictated {
			c.setDictated(id)
		}
	}
	for _, tt := range []struct {
		utterance uint64
		more      []uint64
		want      bool
	}{{1, nil, true}, {2, nil, false}, {2, []uint64{3}, true}, {2, []uint64{2}, false}} {
		now := c.prompt(csm.SendCopilot{Request: 1, Utterance: tt.utterance, More: tt.more})
		later := c.messages([]history.Item{{Utterance: tt.utterance, More: tt.more}})
		if len(now) != 1 || len(later) != 1 || now[0].Dictated != tt.want || later[0].Dictated != tt.want {
			t.Errorf("%d %v: %+v and later %+v, want %t", tt.utterance, tt.more, now, later, tt.want)
		}
	}
	c.forget()
	if c.isDictated(1, nil) {
		t.Error("the mark outlives the conversation")
	}
	r := newRoom(t, protocol.DefaultSettings(), false, "All is fixed.", false)
	r.hears("what is a monad")
	if !r.d.content.isDictated(r.next, nil) {
		t.Error("spoken words are not marked")
	}
	r = newRoom(t, protocol.DefaultSettings(), false, "All is fixed.", false)
	r.hears("summarise that")
	if r.d.content.isDictated(r.next, nil) {
		t.Error("the request that a command stands for is marked as dictated")
	}
	r = newRoom(t, protocol.DefaultSettings(), false, "", false)
	r.types("what is a monad")
	for id := range r.d.content.utterances {
		if r.d.content.isDictated(id, nil) {
			t.Error("typed words are marked as dictated")
		}
	}
}

// A tool that is not the editor's is narrated like one of them, unless an agent reports
// its own activities.
func TestActivityOfAnotherTool(t *testing.T) {
	for _, tt := range []struct {
		adapter copilot.Adapter
		tool    string
		want    copilot.ActivityKind
	}{
		{nil, "deploy", copilot.Calling},
		{&able{}, "deploy", copilot.Calling},
		{&able{}, "editor_run_tests", copilot.Running},
		{&agentic{}, "deploy", ""},
	} {
		d := newIdle(t, nil)
		if tt.adapter != nil {
			d.assistant = newAssistant(d, tt.adapter)
			t.Cleanup(d.assistant.close)
		}
		if got := d.activityOf(copilot.ToolCall{Name: tt.tool}).Kind; got != tt.want {
			t.Errorf("%s of %T: %q, want %q", tt.tool, tt.adapter, got, tt.want)
		}
	}
	k := newTask(t, protocol.English)
	k.works(15 * time.Second)
	k.does(copilot.Calling, "1")
	k.does(copilot.Calling, "2")
	k.works(time.Second)
	k.said("Using 2 tools.")
}

// agentic is an adapter of an agent.
type agentic struct{ able }

func (*agentic) ToolLimit() time.Duration { return time.Minute }
func (*agentic) MaxRounds() int           { return 10 }
