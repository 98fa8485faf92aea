package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestWrapKeepsEveryWord(t *testing.T) {
	text := "  you: " + strings.Repeat("a few words that go on and on ", 9) + "end"
	rows := wrap(text, 40)
	for _, r := range rows {
		if n := len([]rune(r)); n > 40 {
			t.Errorf("row of %d characters: %q", n, r)
		}
	}
	if !slices.Equal(strings.Fields(strings.Join(rows, " ")), strings.Fields(text)) {
		t.Errorf("words were lost: %q", rows)
	}
	if rows := wrap(text, 0); len(rows) != 1 || rows[0] != text {
		t.Errorf("without a width: %q", rows)
	}
	if rows := wrap(strings.Repeat("x", 95), 40); len(rows) != 3 {
		t.Errorf("a word longer than a row: %q", rows)
	}
}

// A conversation that recovered from a fault counts as successful, even without any
// speech; one that ended in the fault does not.
func TestRecoveredFault(t *testing.T) {
	fault := protocol.ErrorParams{Code: protocol.CodeDeviceLost, Message: "The audio device is gone."}
	for name, test := range map[string]struct {
		params []any
		fails  bool
	}{
		"recovered": {[]any{fault, protocol.StateParams{State: protocol.StateListening}}, false},
		"faulted":   {[]any{protocol.StateParams{State: protocol.StateListening}, fault}, true},
	} {
		t.Run(name, func(t *testing.T) {
			v := &talkView{screen: screen{out: io.Discard}, idle: make(chan struct{})}
			for _, p := range test.params {
				v.notify("", p)
			}
			if err := v.finish(); (err != nil) != test.fails {
				t.Errorf("the command ends with %v", err)
			}
		})
	}
}

// The view tells the user once when to speak and shows states as text; --verbose adds
// causes.
func TestConversationView(t *testing.T) {
	states := []protocol.StateParams{
		{State: protocol.StatePreparing, Label: "⋯ Preparing", Cause: protocol.CauseUserStart},
		{State: protocol.StateListening, Label: "● Listening", Cause: "audio.primed"},
		{State: protocol.StateWaitingForCopilot, Label: "⋯ Waiting", Cause: "stt.final", TurnID: "t1"}, // brief
		{State: protocol.StateProcessing, Label: "⋯ Thinking", Cause: "copilot.delta", TurnID: "t1"},
		{State: protocol.StateListening, Label: "● Listening", Cause: "tts.complete"},
	}
	show := func(prompt, verbose bool) string {
		var out strings.Builder
		v := &talkView{screen: screen{out: &out}, idle: make(chan struct{}), prompt: prompt, verbose: verbose}
		v.notify("", states[0])
		for range 2 {
			v.notify("", protocol.SessionParams{State: protocol.SessionReady, Path: "websocket"})
		}
		for _, s := range states[1:] {
			v.notify("", s)
			if s.State == protocol.StateProcessing {
				time.Sleep(brief)
				synctest.Wait()
			}
		}
		lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		for i := range lines {
			lines[i] = strings.Join(strings.Fields(lines[i]), " ")
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct {
		prompt, verbose bool
		want            string
	}{
		{true, false, "⋯ Preparing\n● Listening\nSpeak now. Ctrl-C ends the conversation.\n⋯ Thinking\n● Listening"},
		{false, false, "⋯ Preparing\n● Listening\n⋯ Thinking\n● Listening"},
		{false, true, "⋯ Preparing user.start\nthe voice goes over websocket\n● Listening audio.primed\n⋯ Waiting stt.final t1\n⋯ Thinking copilot.delta t1\n● Listening tts.complete"},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := show(c.prompt, c.verbose); got != c.want {
				t.Errorf("prompt %v, verbose %v:\n%s\nwant\n%s", c.prompt, c.verbose, got, c.want)
			}
		})
	}
}

// A call is shown as a whole before it is allowed, and nothing in it can change what the
// terminal shows.
func TestToolsInTheView(t *testing.T) {
	var out strings.Builder
	v := &talkView{screen: screen{out: &out}, idle: make(chan struct{})}
	call := protocol.ToolParams{Name: "run_tests", Question: "May I use the tool run tests?", Input: protocol.Any(`{"command":"go test ./...\necho \u001b[2Kdone","all":true}`)}
	for _, status := range []protocol.ToolStatus{protocol.ToolRequested, protocol.ToolWaiting, protocol.ToolRunning, protocol.ToolCompleted} {
		call.Status = status
		v.notify("", call)
	}
	call.Status, call.Input = protocol.ToolWaiting, protocol.Any(`"not an object"`)
	v.notify("", call)
	want := `
  asks: May I use the tool run tests?
    all: true
    command: go test ./...
      echo �[2Kdone
  tool run_tests: completed
  asks: May I use the tool run tests?
    "not an object"
`
	if got := "\n" + strings.ReplaceAll(out.String(), strings.Repeat(" ", margin), ""); got != want {
		t.Errorf("it shows%s, want%s", got, want)
	}
}

func TestAnswerRows(t *testing.T) {
	got := answerRows("It is in\n`a.go`. \n\n```go\nfunc f() {\n\treturn\n}\n```\nThat  is all.\n")
	want := []string{"It is in `a.go`.", "  func f() {", "  \treturn", "  }", "That is all."}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if rows := answerRows(""); len(rows) != 0 {
		t.Errorf("an empty answer: %q", rows)
	}
}

// A fault of the microphone is shown with what to do, and so is its end. What is over needs no
// advice.
func TestMicrophoneFaultsInTheView(t *testing.T) {
	var out strings.Builder
	v := &talkView{screen: screen{out: &out}, idle: make(chan struct{})}
	for _, p := range []any{
		protocol.Microphone{Open: true},
		protocol.Microphone{Open: true, Fault: protocol.CodeMicrophoneMuted},
		protocol.NotificationParams{Message: "The microphone is muted.", Severity: protocol.SeverityWarning, Code: protocol.CodeMicrophoneMuted, Remediation: "Unmute it."},
		protocol.Microphone{Open: true},
		protocol.NotificationParams{Message: "The audio device is back.", Severity: protocol.SeverityInfo, Code: protocol.CodeDeviceLost},
	} {
		v.notify("", p)
	}
	const want = "! The microphone is muted.\n  Unmute it.\n  The microphone works again.\n! The audio device is back.\n"
	if got := strings.ReplaceAll(out.String(), strings.Repeat(" ", margin), ""); got != want {
		t.Errorf("it shows\n%s, want\n%s", got, want)
	}
}

// A failure is shown with what to do, and a conversation in which no question was
// answered fails.
func TestFailedTurnsInTheView(t *testing.T) {
	failed := protocol.TurnParams{Event: protocol.TurnCompleted, Outcome: protocol.OutcomeFailed}
	answered := protocol.TurnParams{Event: protocol.TurnCompleted, Outcome: protocol.OutcomeAnswered}
	why := protocol.NotificationParams{Message: "The service rejected the credentials.", Severity: protocol.SeverityError, Code: protocol.CodeAuthentication}
	for _, c := range []struct {
		params []any
		err    string
		want   string
	}{
		{[]any{why, failed}, "no question was answered: The service rejected the credentials",
			"! The service rejected the credentials.\n  Enter a valid key or sign in again, then start a new conversation.\n1 turn, 0 interrupted, 1 failed\n"},
		{[]any{failed, answered}, "", "2 turns, 0 interrupted, 1 failed\n"},
		{[]any{answered}, "", "1 turn, 0 interrupted\n"},
	} {
		var out strings.Builder
		v := &talkView{screen: screen{out: &out}, idle: make(chan struct{})}
		for _, p := range c.params {
			v.notify("", p)
		}
		err := v.finish()
		if got := strings.ReplaceAll(out.String(), strings.Repeat(" ", margin), ""); got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("shows\n%s and ends with %v, want\n%s and %q", got, err, c.want, c.err)
		}
	}
}

// The summary replaces the status line.
func TestSummaryHasItsOwnLine(t *testing.T) {
	var out strings.Builder
	v := &talkView{screen: screen{out: &out, live: true, columns: func() int { return 80 }}, idle: make(chan struct{}), stamp: func(time.Time) string { return "" }}
	v.notify("", protocol.StateParams{State: protocol.StateIdle, Label: "Ready"})
	if err := v.finish(); err != nil {
		t.Error(err)
	}
	if _, last, _ := strings.Cut(out.String(), "mic"); !strings.Contains(last, "\r\x1b[J0 turns, 0 interrupted\n") {
		t.Errorf("the terminal shows %q", out.String())
	}
}
