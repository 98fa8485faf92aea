//go:build cgo

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// able is a copilot.Adapter that also runs tools, loads models and summarises.
type able struct {
	*answers
	run func(wanted context.Context) (string, error) // replaced by the test while no tool runs

	mu        sync.Mutex
	calls     []string
	loads     []string // "MODEL after REQUEST", with the last request sent by then
	summaries [][]copilot.Message
}

func (a *able) CallTool(_, wanted context.Context, c copilot.ToolCall) (string, error) {
	a.mu.Lock()
	a.calls = append(a.calls, c.ID)
	run := a.run
	a.mu.Unlock()
	return run(wanted)
}

func (a *able) Load(_ context.Context, model string, progress func(int)) error {
	last := a.last()
	a.mu.Lock()
	a.loads = append(a.loads, fmt.Sprintf("%s after %s round %d", model, last.ID, last.Round))
	a.mu.Unlock()
	progress(100)
	return nil
}

func (a *able) Summarise(_ context.Context, said []copilot.Message) (string, error) {
	a.mu.Lock()
	a.summaries = append(a.summaries, said)
	a.mu.Unlock()
	return "What the summary says.", nil
}

func (a *able) runs(f func(wanted context.Context) (string, error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run = f
}

// last returns the last request.
func (a *answers) last() copilot.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sent) == 0 {
		return copilot.Request{}
	}
	return a.sent[len(a.sent)-1]
}

// wants is an answer that requests a tool call in its first round, and says a word
// about it in the next.
func wants(id string) func(context.Context, copilot.Request, func(string)) error {
	harmless := false
	return func(_ context.Context, r copilot.Request, emit func(string)) error {
		if r.Round == 0 {
			r.Wants(copilot.ToolCall{ID: id, Name: "runTests", Input: []byte("{}"), Destructive: &harmless})
			return nil
		}
		emit("They pass.")
		return nil
	}
}

// unanswered is an answer that never arrives; cancelled is closed when it is cancelled.
func unanswered(cancelled chan struct{}) func(context.Context, copilot.Request, func(string)) error {
	return func(ctx context.Context, _ copilot.Request, _ func(string)) error {
		<-ctx.Done()
		close(cancelled)
		return ctx.Err()
	}
}

// after waits for a channel that the test's fake closes.
func (tk *talk) after(what string, c <-chan struct{}) {
	tk.t.Helper()
	select {
	case <-c:
	case <-time.After(tk.patience()):
		tk.t.Fatalf("%s: not within %v", what, tk.patience())
	}
}

// until waits for a state, whatever comes before it.
func (tk *talk) until(state protocol.State) protocol.StateParams {
	tk.t.Helper()
	for {
		if p := tk.next(); p.State == state {
			return p
		}
	}
}

// tool waits for a tool notification that is accepts, and returns it.
func (tk *talk) tool(is func(protocol.ToolParams) bool) (found protocol.ToolParams) {
	tk.t.Helper()
	tk.told("news of a call", func() bool {
		i := slices.IndexFunc(tk.tools, is)
		if i >= 0 {
			found = tk.tools[i]
		}
		return i >= 0
	})
	return found
}

// told waits for a notification after which is returns true; is may read what tk.mu
// guards.
func (tk *talk) told(what string, is func() bool) {
	tk.t.Helper()
	for limit := time.After(tk.patience()); ; {
		tk.mu.Lock()
		ok := is()
		tk.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-tk.news:
		case <-limit:
			tk.t.Fatalf("no %s within %v; the core is in %v", what, tk.patience(), tk.d.State().Phase())
		}
	}
}

// eventually polls for a condition without a notification.
func (tk *talk) eventually(what string, is func() bool) {
	tk.t.Helper()
	for limit := time.After(tk.patience()); !is(); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			tk.t.Fatalf("not within %v: %s; the core is in %v", tk.patience(), what, tk.d.State().Phase())
		}
	}
}

// atRest waits until the conversation listens, and drops the earlier states.
func (tk *talk) atRest() {
	tk.t.Helper()
	tk.told("Listening", func() bool {
		tk.read = len(tk.states)
		return tk.states[tk.read-1].State == protocol.StateListening
	})
}

// endOf waits for the end of a turn.
func (tk *talk) endOf(turn string, want protocol.TurnOutcome) {
	tk.t.Helper()
	var end protocol.TurnParams
	tk.told("end of "+turn, func() bool {
		i := slices.IndexFunc(tk.turns, func(p protocol.TurnParams) bool { return p.TurnID == turn && p.Event != protocol.TurnStarted })
		if i >= 0 {
			end = tk.turns[i]
		}
		return i >= 0
	})
	if end.Outcome != want {
		tk.t.Errorf("%s ended as %s, want %s", turn, end.Outcome, want)
	}
}

func (tk *talk) approve(call string) {
	tk.t.Helper()
	shown := copilot.ToolCall{Name: "runTests", Input: []byte("{}")} // of wants
	if err := tk.d.Approve(call, shown.Hash(), true, func(r csm.Reply, _ protocol.Snapshot) {
		if r.Code != "" {
			tk.t.Errorf("approving %s is answered with %s", call, r.Code)
		}
	}); err != nil {
		tk.t.Fatal(err)
	}
}

func waiting(call string) func(protocol.ToolParams) bool { return status(call, protocol.ToolWaiting) }

func status(call string, s protocol.ToolStatus) func(protocol.ToolParams) bool {
	return func(p protocol.ToolParams) bool { return p.CallID == call && p.Status == s }
}

// outcome returns what a request tells the assistant about a call.
func outcome(r copilot.Request, call string) (content string, status copilot.CallStatus) {
	for _, m := range r.Messages {
		if m.Role == copilot.RoleTool && m.Call.ID == call {
			return m.Content, m.Status
		}
	}
	return "", ""
}

// TestChatMachineLive leads one live conversation through the chat machine (004).
// Each part names its requirement in the words of the specification.
//
//test:long
func TestChatMachineLive(t *testing.T) {
	a := &able{answers: &answers{}}
	tk := talkTo(t, a.answers, a, func(s *protocol.Settings) { s.Copilot.Stall = time.Second }, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed,
	})
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)

	tk.interruptedWait(a)
	tk.retriedStream(a)
	tk.interruptedStream(a)
	tk.interruptedQuestion(a)
	tk.interruptedCall(a)
	tk.retriedCall(a)
	tk.roundTrip(a)
	tk.atRest()
	tk.compacts(a)
	// CON-003: "persist state history for the last 20 transitions in memory".
	var remembered, all []string
	for _, tr := range tk.d.History() {
		remembered = append(remembered, string(tr.To))
	}
	tk.mu.Lock()
	for _, m := range tk.marks {
		if slices.Contains(protocol.States, protocol.State(m.what)) {
			all = append(all, m.what)
		}
	}
	if n := len(all); n < 100 || !slices.Equal(remembered, all[n-20:]) {
		t.Errorf("of %d transitions %q are remembered, want %q", n, remembered, all[max(0, n-20):])
	}
	tk.mu.Unlock()

	tk.d.Post(csm.UserStop{})
	tk.until(protocol.StateIdle)
	tk.toldOfTheSession()
}

// interruptedWait interrupts the wait for an answer (004.interrupt.generation:
// "Interrupt returns to ready") in its third attempt (PER-004: "exponential backoff
// for retries"; a constant pause would be half of the second).
func (tk *talk) interruptedWait(a *able) {
	t := tk.t
	t.Helper()
	var attempts []time.Duration // by the conversation's clock
	third, cancelled := make(chan struct{}), make(chan struct{})
	a.become(func(ctx context.Context, r copilot.Request, emit func(string)) error {
		if attempts = append(attempts, tk.clock.Now()); len(attempts) < 3 {
			return &copilot.Error{Code: "copilotUnavailable", Retryable: true}
		}
		close(third)
		err := unanswered(cancelled)(ctx, r, emit)
		time.Sleep(200 * time.Millisecond) // 000.4.1: the next request waits for the end of this one
		return err
	})
	tk.sendText("the first question")
	tk.want(protocol.StateProcessing, protocol.StateWaitingForCopilot)
	tk.after("the third attempt", third)
	tk.eventually("two retries in the snapshot", func() bool { return tk.d.Snapshot().Metadata.RetryCount == 2 })
	tk.d.Post(csm.UserInterrupt{})
	tk.want(protocol.StateListening)
	tk.after("the request is cancelled", cancelled)
	tk.endOf("turn-1", protocol.OutcomeDropped)
	for i, least := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond} {
		if pause := attempts[i+1] - attempts[i]; pause < least {
			t.Errorf("attempt %d came %v after the one before, want %v", i+2, pause, least)
		}
	}
}

// retriedStream fails in the middle of an answer and retries it at the user's request
// (004.retry.stream). While the retry is awaited, the limit on a pause in it becomes
// ten minutes; the running request keeps its initial limit of one second (000.4.5).
func (tk *talk) retriedStream(a *able) {
	t := tk.t
	t.Helper()
	begun := make(chan struct{})
	resume := make(chan struct{})
	a.become(func(ctx context.Context, _ copilot.Request, emit func(string)) error {
		close(begun)
		<-resume
		emit("This much is known already, and it takes a while to say all of it. But what ")
		<-ctx.Done()
		return ctx.Err()
	})
	tk.sendText("the second question")
	tk.want(protocol.StateProcessing, protocol.StateWaitingForCopilot)
	tk.after("the request is sent", begun)
	// 003.resetTurnState: "clears all turn-specific refs back to their initial values".
	if now := tk.d.Snapshot(); now.TurnID != "turn-2" || now.Metadata.RetryCount != 0 {
		t.Errorf("%s begins with %d retries, and the turn before it had them", now.TurnID, now.Metadata.RetryCount)
	}
	longer := tk.d.Settings()
	longer.Copilot.Stall = 10 * time.Minute
	tk.d.Configure(longer)
	tk.clock.hold() // the answer stalls while its first half is spoken
	close(resume)
	tk.want(protocol.StateProcessing, protocol.StateSpeaking)
	left := tk.left(csm.TimerStall)
	if left != time.Second {
		t.Errorf("the answer may pause for %v, want 1 s", left)
	}
	tk.clock.pass(left)
	tk.clock.release()
	tk.want(protocol.StateListening)
	tk.endOf("turn-2", protocol.OutcomeFailed)
	before := a.last()
	a.become(says("Now it is whole."))
	tk.d.Retry(copilot.StageStream, func(r csm.Reply, _ protocol.Snapshot) {
		if r.Code != "" {
			t.Errorf("trying again is answered with %s", r.Code)
		}
	})
	tk.answered()
	tk.want(protocol.StateListening)
	tk.endOf("turn-3", protocol.OutcomeAnswered)
	if again := a.last(); again.ID == before.ID || again.Messages[len(again.Messages)-1].Content != "the second question" {
		t.Errorf("asked again as %+v after %+v", again, before)
	}
}

// interruptedStream interrupts an answer that is spoken while it is still arriving
// (004.interrupt.stream: "Interruptions should cancel current activity").
func (tk *talk) interruptedStream(a *able) {
	tk.t.Helper()
	cancelled := make(chan struct{})
	a.become(func(ctx context.Context, r copilot.Request, emit func(string)) error {
		emit("This sentence is spoken while more of the answer comes. And ")
		return unanswered(cancelled)(ctx, r, emit)
	})
	tk.sendText("the question whose answer is cut off")
	tk.answered()
	tk.d.Post(csm.UserInterrupt{})
	tk.want(protocol.StateInterrupted, protocol.StateListening)
	tk.after("the answer is cancelled", cancelled)
	tk.endOf("turn-4", protocol.OutcomeInterrupted)
}

// interruptedQuestion interrupts the question about a call (004.interrupt.approval:
// "INTERRUPT = implicit rejection"). interruptedCall checks that the rejection is in
// the history.
func (tk *talk) interruptedQuestion(a *able) {
	tk.t.Helper()
	a.become(wants("call-1"))
	tk.sendText("the fourth question")
	tk.until(protocol.StateSpeaking) // the question
	tk.d.Post(csm.UserInterrupt{})
	tk.until(protocol.StateListening)
	tk.tool(status("call-1", protocol.ToolRejected))
	tk.endOf("turn-5", protocol.OutcomeInterrupted)
}

// interruptedCall interrupts a call: it is cancelled, and its result is kept
// (004.interrupt.call). The previous rejection is in the history.
func (tk *talk) interruptedCall(a *able) {
	t := tk.t
	t.Helper()
	running, stopped := make(chan struct{}), make(chan struct{})
	a.runs(func(wanted context.Context) (string, error) {
		close(running)
		<-wanted.Done()
		close(stopped)
		return "half of the tests passed", nil
	})
	a.become(wants("call-2"))
	tk.sendText("the fifth question")
	tk.tool(waiting("call-2"))
	if content, s := outcome(a.last(), "call-1"); s != copilot.CallRejected || !strings.Contains(content, "did not allow") {
		t.Errorf("the assistant is told %q (%s) of the call that was rejected", content, s)
	}
	tk.approve("call-2")
	tk.after("the call runs", running)
	tk.d.Post(csm.UserInterrupt{})
	tk.after("the call is told to stop", stopped)
	tk.tool(status("call-2", protocol.ToolCompleted))
	tk.endOf("turn-6", protocol.OutcomeDropped)
}

// retriedCall fails a call and retries it, as a separate call that needs approval again
// (004.retry.call), while the user selects another model (004.modelSwitch).
func (tk *talk) retriedCall(a *able) {
	t := tk.t
	t.Helper()
	a.runs(func(context.Context) (string, error) { return "", errors.New("the tool broke") })
	a.become(wants("call-3"))
	tk.sendText("the sixth question")
	tk.tool(waiting("call-3"))
	if content, s := outcome(a.last(), "call-2"); content != "half of the tests passed" || s != copilot.CallCompleted {
		t.Errorf("the assistant is told %q (%s) of the call that was interrupted", content, s)
	}
	tk.approve("call-3")
	tk.tool(status("call-3", protocol.ToolFailed))
	tk.endOf("turn-7", protocol.OutcomeFailed)
	tk.atRest()

	// 004.modelSwitch: the model is selected while the call runs, and the next round
	// still uses the model that the request began with.
	selected := make(chan struct{})
	a.runs(func(context.Context) (string, error) {
		tk.d.SelectModel("o5", func(csm.Reply, protocol.Snapshot) { close(selected) })
		<-selected
		return "42 passed", nil
	})
	tk.d.Retry(copilot.StageCall, func(csm.Reply, protocol.Snapshot) {})
	again := tk.tool(func(p protocol.ToolParams) bool { return p.RetryOf == "call-3" && p.Status == protocol.ToolWaiting })
	if again.CallID == "call-3" || again.Question == "" {
		t.Errorf("the call that is tried again is %+v, want another one that is asked about", again)
	}
	tk.approve(again.CallID)
	tk.endOf("turn-8", protocol.OutcomeAnswered)
	// 004.action.appendToolResponseMessage: the result is in the round after it.
	round := a.last()
	if content, s := outcome(round, again.CallID); content != "42 passed" || s != copilot.CallCompleted || round.Round != 1 || round.Model != "" {
		t.Errorf("the assistant is told %q (%s) in round %d, of the model %q", content, s, round.Round, round.Model)
	}
	a.become(says("It is whole."))
	tk.sendText("the eighth question")
	tk.endOf("turn-9", protocol.OutcomeAnswered)
	a.mu.Lock()
	if want := fmt.Sprintf("o5 after %s round 1", round.ID); !slices.Equal(a.loads, []string{want}) || a.answers.sent[len(a.answers.sent)-1].Model != "o5" {
		t.Errorf("loaded %q, want %q, and the next request with it", a.loads, want)
	}
	if want := []string{"call-2", "call-3", again.CallID}; !slices.Equal(a.calls, want) {
		t.Errorf("the calls %q ran, want %q", a.calls, want)
	}
	a.mu.Unlock()
}

// roundTrip leads one request through a question, the call and the next round
// (004.roundTrip).
func (tk *talk) roundTrip(a *able) {
	t := tk.t
	t.Helper()
	a.runs(func(context.Context) (string, error) { return "43 passed", nil })
	a.become(wants("call-4"))
	tk.sendText("the ninth question")
	tk.tool(waiting("call-4"))
	first := a.last()
	tk.approve("call-4")
	tk.tool(status("call-4", protocol.ToolCompleted))
	tk.endOf("turn-10", protocol.OutcomeAnswered)
	second := a.last()
	content, s := outcome(second, "call-4")
	if second.ID != first.ID || first.Round != 0 || second.Round != 1 || content != "43 passed" || s != copilot.CallCompleted {
		t.Errorf("after round %d of %s comes round %d of %s, which is told %q (%s)", first.Round, first.ID, second.Round, second.ID, content, s)
	}
}

// compacts sends so many questions that the beginning is summarised (000.4.9): once,
// and the next request begins with the summary and has everything after it.
func (tk *talk) compacts(a *able) {
	t := tk.t
	t.Helper()
	a.become(func(ctx context.Context, _ copilot.Request, _ func(string)) error { <-ctx.Done(); return ctx.Err() })
	const more = 45
	for n := range more {
		tk.sendText(fmt.Sprintf("question number %d", n))
		tk.until(protocol.StateWaitingForCopilot)
		tk.d.Post(csm.UserInterrupt{})
		tk.until(protocol.StateListening)
	}
	// The summary arrives on its own time, and a request does not wait for it.
	tk.eventually("summary", func() bool { return tk.d.State().History.Said().Summary != 0 })
	a.become(says("Yes."))
	tk.sendText("the last question")
	tk.until(protocol.StateSpeaking)
	tk.until(protocol.StateListening)
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.last()
	var all []string
	for _, job := range a.summaries {
		for _, m := range job {
			all = append(all, m.Content)
		}
	}
	if len(last.Messages) == 0 || !strings.HasSuffix(last.Messages[0].Content, "What the summary says.") {
		t.Fatalf("%d summaries, and the last request begins with %+v", len(a.summaries), last.Messages[:min(1, len(last.Messages))])
	}
	for _, m := range last.Messages[1:] {
		all = append(all, m.Content)
	}
	for n := range more {
		count := 0
		for _, said := range all {
			if said == fmt.Sprintf("question number %d", n) {
				count++
			}
		}
		if count != 1 {
			t.Errorf("question number %d is %d times in what was summarised and what was kept, want once", n, count)
		}
	}
}

// toldOfTheSession checks that every session change was published: each follows from
// the previous one, by the guard map, from start to end (003.broadcast).
func (tk *talk) toldOfTheSession() {
	tk.t.Helper()
	tk.told("end of the session", func() bool { // it follows the state
		return len(tk.lives) > 0 && string(tk.lives[len(tk.lives)-1].State) == session.Inactive.String()
	})
	tk.mu.Lock()
	defer tk.mu.Unlock()
	at, seen := session.Inactive, map[session.State]bool{}
	for _, p := range tk.lives {
		var from, to session.State
		if err := errors.Join(from.UnmarshalText([]byte(p.PreviousState)), to.UnmarshalText([]byte(p.State))); err != nil {
			tk.t.Fatal(err)
		}
		if from != at || to != at && !session.Allowed(at, to) {
			tk.t.Errorf("the session is %v, and it is told that %v became %v", at, from, to)
		}
		at = to
		seen[at] = true
	}
	want := []session.State{session.Activating, session.Ready, session.Running, session.Waiting, session.Deactivating, session.Inactive}
	for _, s := range want {
		if !seen[s] {
			tk.t.Errorf("it was never told that the session is %v", s)
		}
	}
	if at != session.Inactive {
		tk.t.Errorf("the last that is told is that the session is %v", at)
	}
}
