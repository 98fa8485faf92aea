package daemon

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The prompt of a later round has the summary, the heard part of what was said since,
// and the outcomes of calls. Merged utterances are one message.
func TestPrompt(t *testing.T) {
	c := newContent()
	for id, text := range []string{0: "", 1: "Do the tests", 2: "pass?"} {
		c.setUtterance(uint64(id), text)
	}
	c.setSummary(3, "User: Hello.")
	c.beginRound(5, 0, spoken.Options{})
	c.extend(5, "Let me check. And more.")
	ran := c.newCall(5, copilot.ToolCall{ID: "c1", Name: "runTests"})
	c.setResult(ran, "1 failed")
	refused := c.newCall(5, copilot.ToolCall{ID: "c2", Name: "fix"})
	e := csm.SendCopilot{Request: 5, Round: 1, Utterance: 1, More: []uint64{2}, Summary: 3, History: []history.Item{
		{Utterance: 1, More: []uint64{2}}, {Request: 5, Heard: 13}, {Tool: ran, Outcome: history.Done}, {Tool: refused, Outcome: history.Rejected},
	}}
	var got []string
	for _, m := range c.prompt(e) {
		line := string(m.Role) + ": " + m.Content
		if m.Call != nil {
			line += " (" + m.Call.ID + " " + string(m.Status) + ")"
		}
		got = append(got, line)
	}
	want := []string{
		"user: [What was said before, in short]\nUser: Hello.", "user: Do the tests pass?", "assistant: Let me check.",
		"tool: 1 failed (c1 completed)", "tool: The user did not allow this call. It was not run. (c2 rejected)",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the prompt is\n%q, want\n%q", got, want)
	}
	e.Round, e.History = 0, nil
	if got := c.prompt(e); len(got) != 2 || got[1].Content != "Do the tests pass?" {
		t.Errorf("the first round's is %+v", got)
	}
}

// An extract names the speakers, is bounded, and is deterministic.
func TestExtract(t *testing.T) {
	c := newContent()
	var e csm.Summarise
	for n := range 200 {
		id := c.newID()
		c.setUtterance(id, fmt.Sprintf("Number %d: %s", n, strings.Repeat("many words ", 40)))
		e.Items = append(e.Items, history.Item{Utterance: id})
	}
	e.Job = 1
	c.extract(e)
	first := c.summary(1)
	if n := utf8.RuneCountInString(first); n > extractTotal || n < extractTotal/2 || !strings.Contains(first, "User: Number 199: many words") {
		t.Errorf("%d characters: %s", n, first)
	}
	for _, line := range strings.Split(first, "\n") {
		if utf8.RuneCountInString(line) > extractLine {
			t.Errorf("a line of %d characters: %s", utf8.RuneCountInString(line), line)
		}
	}
	e.Job = 2
	if c.extract(e); c.summary(2) != first {
		t.Error("the second time it is another one")
	}
	c.extract(csm.Summarise{Job: 3, Previous: 2, Items: e.Items[:1]})
	if !strings.HasSuffix(c.summary(3), "User: Number 0: many words many words many words many words many words many words many words many words many words…") {
		t.Errorf("after the one before comes %q", c.summary(3)[len(c.summary(3))-200:])
	}
}

// Restarting a round keeps the earlier rounds, and positions count over all rounds.
func TestRoundsOfAnAnswer(t *testing.T) {
	c := newContent()
	var posted []csm.CopilotSegment
	post := func(e csm.Event) {
		if seg, ok := e.(csm.CopilotSegment); ok {
			posted = append(posted, seg)
		}
	}
	say := func(round int, text string) {
		s := newSegmenter(c, 1, round, post, spoken.Options{Locale: "en"})
		s.push(text)
		s.flush()
	}
	say(0, "Grüße. ")
	say(1, "Lost on the way.")
	say(1, "It works.") // the second attempt
	if got := c.answer(1, -1); got != "Grüße.\n\nIt works." {
		t.Errorf("the answer is %q", got)
	}
	last := posted[len(posted)-1]
	if last.Round != 1 || c.source(1, last.Start, last.End) != "It works." || c.spoken(1, last.Start) != "It works." {
		t.Errorf("the last piece is %+v: %q, said %q", last, c.source(1, last.Start, last.End), c.spoken(1, last.Start))
	}
}

func TestCoreConfigFollowsTheSettings(t *testing.T) {
	for name, want := range map[string]struct {
		mode      turn.Mode
		eagerness turn.Eagerness
	}{
		protocol.TurnAutomatic: {turn.Semantic, turn.High}, protocol.TurnPatient: {turn.Semantic, turn.Low},
		protocol.TurnServer: {turn.Server, turn.Auto}, protocol.TurnPhrase: {turn.Manual, turn.Auto}, protocol.TurnPushToTalk: {turn.Manual, turn.Auto},
	} {
		s := protocol.DefaultSettings()
		s.TurnDetection.Mode, s.TurnDetection.Eagerness, s.TurnDetection.Silence = name, protocol.EagernessHigh, 700e6
		if c := coreConfig(s); c.Turns != want.mode || c.Eagerness != want.eagerness || c.Silence != 1700e6 || c.Tools {
			t.Errorf("%s: %v, %v, %v", name, c.Turns, c.Eagerness, c.Silence)
		}
	}
}

func TestInterruptionFollowsTheSettings(t *testing.T) {
	for profile, want := range map[string]struct {
		by      csm.Interruption
		confirm time.Duration
	}{
		protocol.ProfileDefault: {csm.Confirmed, 120e6}, protocol.ProfileAssertive: {csm.Confirmed, 0},
		protocol.ProfileCautious: {csm.ByWords, 120e6}, protocol.ProfileOff: {csm.Never, 120e6},
	} {
		s := protocol.DefaultSettings()
		s.Interruption.Profile, s.Interruption.Confirm = profile, 120e6
		if c := coreConfig(s); c.Interruption != want.by || c.Confirm != want.confirm {
			t.Errorf("%s: %v, confirmed after %v", profile, c.Interruption, c.Confirm)
		}
	}
}
