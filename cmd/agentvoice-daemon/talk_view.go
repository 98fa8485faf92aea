package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// talkView shows a conversation in the terminal: one line per event, and a status line at
// the bottom if the output is a terminal.
type talkView struct {
	screen
	stamp   func(time.Time) string // formats a time in margin-2 characters
	verbose bool                   // also shows the cause and turn of each state
	prompt  bool                   // tell the user once when to speak
	idle    chan struct{}          // closed when the conversation is over

	mu         sync.Mutex
	state      string
	held       *protocol.StateParams // not yet shown; see hold
	via        string                // what the call goes over
	input      float64
	output     float64
	partial    string
	said       []words
	reference  *string // reference transcript, or nil
	turns      int
	cut        int
	unanswered int                 // turns that failed
	reason     string              // of the last warning
	asked      protocol.ToolParams // the call that awaits an answer; empty if none does
	fault      protocol.ErrorCode  // of the microphone
	over       bool
	failed     string
}

// words are what the user said, with the seq of their transcript.
type words struct {
	seq  int64
	text string
}

// newTalkView shows a conversation on out. prompt tells the user when to speak.
func newTalkView(out screen, started time.Time, reference *string, prompt, verbose bool) *talkView {
	started = started.Truncate(time.Millisecond)
	return &talkView{
		screen: out, reference: reference, idle: make(chan struct{}),
		stamp:  func(at time.Time) string { return fmt.Sprintf("%8.3f s", at.Sub(started).Seconds()) },
		prompt: prompt, verbose: verbose,
	}
}

// notify shows one of the daemon's notifications.
func (v *talkView) notify(_ string, params any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch p := params.(type) {
	case protocol.StateParams:
		v.showState(p)
	case protocol.SessionParams:
		if v.verbose {
			v.path(p.Path)
		}
	case protocol.TurnParams:
		v.countTurn(p)
	case protocol.TranscriptParams:
		v.transcript(p)
	case protocol.ToolParams:
		v.tool(p)
	case protocol.NotificationParams:
		v.line(time.Time{}, "! "+p.Message)
		if advice := adviceOf(p); advice != "" {
			v.line(time.Time{}, "  "+advice)
		}
		if p.Severity != protocol.SeverityInfo && p.Message != "" {
			v.reason = p.Message
		}
	case protocol.ErrorParams:
		v.line(time.Time{}, "! "+p.Message+" "+p.Remediation)
		v.failed = p.Message + "; " + p.Remediation
	case protocol.Microphone:
		if v.fault != "" && p.Fault == "" {
			v.line(time.Time{}, "  The microphone works again.")
		}
		v.fault = p.Fault
	case protocol.LevelParams:
		v.input, v.output = p.Input, p.Output
		v.status()
	}
}

// adviceOf returns what the user can do about what a notification says.
func adviceOf(p protocol.NotificationParams) string {
	switch {
	case p.Remediation != "":
		return p.Remediation
	case p.Code == "" || p.Severity == protocol.SeverityInfo: // it is over
		return ""
	default:
		return protocol.English.NewErrorParams(p.Code, "").Remediation
	}
}

func (v *talkView) showState(p protocol.StateParams) {
	changed := p.Label != v.state
	v.state = p.Label // for the status line
	if v.verbose {
		v.line(p.Since.Time, fmt.Sprintf("%-24s %s%s", p.Label, p.Cause, suffix(" ", p.TurnID)))
	} else if changed {
		v.held = nil
		if p.State == protocol.StateProcessing || p.State == protocol.StateWaitingForCopilot {
			v.hold(p)
		} else {
			v.line(p.Since.Time, p.Label)
		}
	}
	if p.State == protocol.StateListening {
		if v.prompt {
			v.prompt = false
			v.line(time.Time{}, "Speak now. Ctrl-C ends the conversation.")
		}
		v.failed = "" // it recovered
	}
	if p.State == protocol.StateIdle && !v.over {
		v.over = true
		close(v.idle)
	}
}

// brief is how long a state in which the assistant works must last to be shown.
const brief = 100 * time.Millisecond

// hold shows a state once it has lasted for brief, or before another line.
func (v *talkView) hold(p protocol.StateParams) {
	v.held = &p
	time.AfterFunc(brief, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.held == &p {
			v.showHeld()
		}
	})
}

func (v *talkView) showHeld() {
	if p := v.held; p != nil {
		v.held = nil
		v.line(p.Since.Time, p.Label)
	}
}

// path shows what the call with the service goes over, when that is another one.
func (v *talkView) path(now string) {
	if now != "" && now != v.via {
		v.line(time.Time{}, "  the voice goes over "+now)
	}
	v.via = now
}

// tool shows a call that awaits approval as a whole, and the outcome of every call.
func (v *talkView) tool(p protocol.ToolParams) {
	if p.CallID == v.asked.CallID {
		v.asked = protocol.ToolParams{}
	}
	switch p.Status {
	case protocol.ToolRequested, protocol.ToolRunning:
	case protocol.ToolWaiting:
		v.asked = p
		v.line(time.Time{}, "  asks: "+p.Question)
		for _, row := range slices.Concat(members(p.Input), besides(p)) {
			v.line(time.Time{}, "    "+row)
		}
		return
	default:
		v.line(time.Time{}, fmt.Sprintf("  tool %s: %s", p.Name, p.Status))
	}
}

// answer allows or refuses the call that is shown, as a click does in an editor.
func (v *talkView) answer(d *daemon.Daemon, allowed bool) {
	v.mu.Lock()
	asked := v.asked
	v.mu.Unlock()
	if asked.CallID == "" {
		return
	}
	if err := d.Approve(asked.CallID, asked.Hash, allowed, func(csm.Reply, protocol.Snapshot) {}); err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.line(time.Time{}, "! "+err.Error())
	}
}

// besides returns what belongs to the call of a coding agent besides its input, as rows.
func besides(p protocol.ToolParams) (rows []string) {
	add := func(name, text string) {
		for i, row := range strings.Split(text, "\n") {
			if i == 0 {
				row = name + ": " + row
			}
			rows = append(rows, row)
		}
	}
	if p.Title != "" {
		add("what the agent says", p.Title)
	}
	for _, diff := range p.Diffs {
		if diff.Old != nil {
			add(diff.Path+", old text", *diff.Old)
		}
		add(diff.Path+", new text", diff.New)
	}
	if len(p.Files) > 0 {
		add("files", strings.Join(p.Files, ", "))
	}
	if p.Folder != "" {
		add("folder", p.Folder)
	}
	return rows
}

// members returns the members of a call's input, one or more rows each.
func members(input protocol.Any) (rows []string) {
	var of map[string]json.RawMessage
	if json.Unmarshal(input, &of) != nil {
		return []string{string(input)}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		text := string(of[name])
		var plain string
		if json.Unmarshal(of[name], &plain) == nil {
			text = plain
		}
		for i, row := range strings.Split(text, "\n") {
			if i == 0 {
				row = name + ": " + row
			} else {
				row = "  " + row
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (v *talkView) countTurn(p protocol.TurnParams) {
	switch {
	case p.Event == protocol.TurnInterrupted:
		v.turns++
		v.cut++
	case p.Event == protocol.TurnCompleted && p.Outcome == protocol.OutcomeFailed:
		v.turns++
		v.unanswered++
	case p.Event == protocol.TurnCompleted && p.Outcome != protocol.OutcomeDropped:
		v.turns++
	}
}

func (v *talkView) transcript(p protocol.TranscriptParams) {
	switch {
	case p.Role == protocol.RoleUser && p.Final:
		v.partial = ""
		if i := slices.IndexFunc(v.said, func(s words) bool { return s.seq == p.Replaces }); i >= 0 {
			v.said[i] = words{p.Seq, p.Text}
		} else {
			v.said = append(v.said, words{p.Seq, p.Text})
		}
		v.line(time.Time{}, "  you: "+p.Text)
	case p.Role == protocol.RoleAssistant && p.Final:
		for i, row := range answerRows(p.Text) {
			if i == 0 {
				v.line(time.Time{}, "  assistant: "+row)
			} else {
				v.line(time.Time{}, "    "+row)
			}
		}
	case p.Role == protocol.RoleUser:
		v.partial = p.Text
		v.status()
	}
}

// answerRows returns the rows of an answer: a paragraph is one row, and code keeps its
// lines.
func answerRows(text string) (rows []string) {
	var prose []string
	flush := func() {
		if len(prose) > 0 {
			rows, prose = append(rows, strings.Join(prose, " ")), nil
		}
	}
	code := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		switch fence := strings.HasPrefix(strings.TrimSpace(line), "```"); {
		case fence:
			flush()
			code = !code
		case code:
			rows = append(rows, "  "+line)
		case strings.TrimSpace(line) == "":
			flush()
		default:
			prose = append(prose, strings.Fields(line)...)
		}
	}
	flush()
	return rows
}

// line prints a line above the status line. at is the conversation time, zero to omit it.
func (v *talkView) line(at time.Time, text string) {
	v.showHeld()
	when := "          "
	if !at.IsZero() {
		when = v.stamp(at)
	}
	for i, row := range wrap(visible(text), v.room()-margin) {
		if i > 0 {
			when = strings.Repeat(" ", margin-2)
		}
		fmt.Fprintf(v.out, "%s%s  %s\n", v.erase(), when, row)
	}
	v.status()
}

// margin is the width of the time column.
const margin = 12

// status draws the status line: state, levels and partial transcript.
func (v *talkView) status() {
	if !v.live || v.over {
		return
	}
	state, said := visible(v.state), visible(v.partial)
	levels := fmt.Sprintf("mic %s  voice %s", bar(v.input), bar(v.output))
	left := state + strings.Repeat(" ", max(24-cells(state), 0)) + " " + levels + "  "
	if room := v.room(); room-cells(left) < 20 { // a narrow terminal has either the levels or the words
		if left = state + "  "; said == "" {
			left += levels
		}
		left, _ = split(left, room)
	}
	v.draw(left + tail(said, v.room()-cells(left)))
}

// followResizes redraws the status line when the size of the terminal changes, until the returned
// function is called or ctx is done.
func (v *talkView) followResizes(ctx context.Context) (stop func()) {
	if !v.live || len(resizeSignals) == 0 { // then the next level redraws it
		return func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, resizeSignals...)
	go func() {
		defer signal.Stop(resized)
		for {
			select {
			case <-ctx.Done():
				return
			case <-resized:
			}
			v.mu.Lock()
			v.status()
			v.mu.Unlock()
		}
	}()
	return stop
}

// bar draws a level, as a share of full scale, with eight characters.
func bar(share float64) string {
	n := 0
	for limit := 0.003; n < 8 && share > limit; limit *= 2 {
		n++
	}
	return strings.Repeat("▮", n) + strings.Repeat("▯", 8-n)
}

func suffix(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}

// finish prints a summary of the conversation.
func (v *talkView) finish() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	failed := ""
	if v.unanswered > 0 {
		failed = fmt.Sprintf(", %d failed", v.unanswered)
	}
	fmt.Fprintf(v.out, "%s%s, %d interrupted%s\n", v.erase(), plural(v.turns, "turn"), v.cut, failed)
	if v.unanswered > 0 && v.unanswered == v.turns {
		return fmt.Errorf("no question was answered: %s", strings.TrimSuffix(v.reason, "."))
	}
	if v.failed != "" && v.turns == 0 {
		return fmt.Errorf("the conversation did not start: %s", v.failed)
	}
	if v.reference == nil {
		return nil
	}
	var said []string
	for _, s := range v.said {
		said = append(said, s.text)
	}
	wrong, words := wer.Compute(*v.reference, strings.Join(said, " "))
	fmt.Fprintf(v.out, "word error rate %.1f %% (%d of %d words)\n", 100*float64(wrong)/float64(max(words, 1)), wrong, words)
	return nil
}
