package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// talker drives an adapter like the daemon does.
type talker struct {
	t      *testing.T
	a      *Adapter
	agents []*fakeAgent

	mu    sync.Mutex
	said  strings.Builder
	lives int // number of empty pieces
	calls []copilot.ToolCall
	n     int
	model string // model of the requests

	did      []copilot.Activity
	own      []copilot.OwnCall
	unknown  int // answers whose end is unknown
	warnings int // notices that the agent may act without asking
	past     []copilot.Message
}

func newTalker(t *testing.T, agents ...*fakeAgent) *talker {
	t.Helper()
	k := &talker{t: t, agents: agents}
	started := 0
	a, err := New(Options{Command: "fake", Dir: t.TempDir(), start: func() (*process, error) {
		if started == len(agents) {
			return nil, errors.New("no further agent")
		}
		started++
		return agents[started-1].pipe(), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	k.a = a
	t.Cleanup(func() { _ = a.Close() })
	return k
}

// ask runs the first round of a request.
func (k *talker) ask(ctx context.Context, words string) error {
	k.n++
	k.past = append(k.past, copilot.Message{Role: copilot.RoleUser, Content: words})
	return k.round(ctx, 0, k.past...)
}

func (k *talker) id() string { return fmt.Sprintf("req-%d", k.n) }

func (k *talker) round(ctx context.Context, round int, messages ...copilot.Message) error {
	return k.a.Send(ctx, copilot.Request{ID: k.id(), Round: round, Attempt: 1, Messages: messages, Model: k.model, Unasked: func() { k.warnings++ }, Doing: k.does, Called: k.called, EndUnknown: func() { k.unknown++ }, Wants: func(c copilot.ToolCall) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.calls = append(k.calls, c)
	}}, func(text string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.said.WriteString(text)
		if text == "" {
			k.lives++
		}
	})
}

func (k *talker) does(a copilot.Activity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.did = append(k.did, a)
}

func (k *talker) called(c copilot.OwnCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.own = append(k.own, c)
}

// owned returns the agent's own calls so far.
func (k *talker) owned() []copilot.OwnCall {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.own)
}

func (k *talker) want(err error, text string) {
	k.t.Helper()
	if err != nil {
		k.t.Fatalf("the answer failed: %v", err)
	}
	if got := k.said.String(); got != text {
		k.t.Fatalf("the answer is %.200q, want %.200q", got, text)
	}
	k.said.Reset()
	k.past = append(k.past, copilot.Message{Role: copilot.RoleAssistant, Content: text})
}

func (k *talker) wantCode(err error, code string) {
	k.t.Helper()
	var e *copilot.Error
	if !errors.As(err, &e) || e.Code != code || e.Message == "" {
		k.t.Fatalf("the answer ended with %v, want %s", err, code)
	}
}

// call returns the one requested call.
func (k *talker) call() copilot.ToolCall {
	k.t.Helper()
	if len(k.calls) != 1 {
		k.t.Fatalf("%d calls are asked for, want 1", len(k.calls))
	}
	c := k.calls[0]
	k.calls = nil
	return c
}

func wantOutcome(t *testing.T, answer <-chan string, want string) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-answer:
		if got != want {
			t.Errorf("the permission was answered %q, want %q", got, want)
		}
	default:
		t.Errorf("the permission was not answered, want %q", want)
	}
	select {
	case again := <-answer:
		t.Errorf("the permission was answered again: %q", again)
	default:
	}
}

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func TestAnswerIsStreamedInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("Hello ")
			f.update(`{"sessionUpdate":"something_new","x":1}`)
			f.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`)
			f.say("there.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "hi"), "Hello there.")
		if got := k.agents[0].methods(); got != "initialize session/new session/prompt" {
			t.Errorf("methods: %s", got)
		}
		k.want(k.ask(t.Context(), "again"), "Hello there.")
		if got := k.agents[0].prompted(); got != "again" {
			t.Errorf("the second prompt is %q", got)
		}
	})
}

// The SDK's connection closes at 1,024 queued updates, and delivers the permission
// request ahead of them.
func TestPermissionComesAfterFiveThousandUpdates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var want strings.Builder
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			for i := range 5000 {
				f.say(fmt.Sprint(i, " "))
			}
			answer := f.ask("c1", "go test")
			if got := <-answer; got != "approved" {
				panic(got)
			}
			f.tool("c1", "completed", "ok")
			f.say("Done.")
			return "end_turn"
		}))
		for i := range 5000 {
			want.WriteString(fmt.Sprint(i, " "))
		}
		k.want(k.ask(t.Context(), "run"), want.String())
		result, err := k.a.CallTool(t.Context(), t.Context(), k.call())
		if result != "ok" || err != nil {
			t.Errorf("the call brought %q, %v", result, err)
		}
		k.want(k.round(t.Context(), 1), "Done.")
	})
}

func TestCallIsWhatTheAgentWouldRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.ask("c1", "rm -rf build")
			return "cancelled"
		}))
		if err := k.ask(t.Context(), "clean"); err != nil {
			t.Fatal(err)
		}
		c := k.call()
		if c.Name != "run_command" || c.Destructive == nil || !*c.Destructive || strings.Contains(string(c.Input), "nice") {
			t.Errorf("the call is %s %s, destructive %v", c.Name, c.Input, c.Destructive)
		}
		if want := `{"command":["/bin/bash","-lc","rm -rf build"],"cwd":"/w","parsed_cmd":[{"cmd":"rm -rf build"}]}`; string(c.Input) != want {
			t.Errorf("input %s, want %s", c.Input, want)
		}
	})
}

func TestCallThatIsNotAllowedIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T) {
		outcome := make(chan string, 2)
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("I will run it. ")
			outcome <- <-f.ask("c1", "go test")
			f.say("Then not.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "run"), "I will run it. ")
		k.call()
		k.want(k.round(t.Context(), 1), "Then not.")
		wantOutcome(t, outcome, "abort")
	})
}

// Codex ends its turn after a rejection, without any text.
func TestRejectionMayEndTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.ask("c1", "go test")
			return "cancelled"
		}))
		k.want(k.ask(t.Context(), "run"), "")
		k.call()
		k.want(k.round(t.Context(), 1), "")
	})
}

func TestEndAnswersThePermissionAndDropsTheRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		outcome := make(chan string, 2)
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, prompt string) string {
			if strings.Contains(prompt, "second") {
				f.say("Second.")
				return "end_turn"
			}
			answer := f.ask("c1", "go test")
			<-f.cancelled
			f.say("late ")
			outcome <- <-answer
			f.say("later")
			return "cancelled"
		}))
		k.want(k.ask(t.Context(), "first"), "")
		c := k.call()
		k.a.End(k.id())
		wantOutcome(t, outcome, "cancelled")
		if _, err := k.a.CallTool(t.Context(), t.Context(), c); err == nil {
			t.Error("a call ran after its request was over")
		}
		k.want(k.ask(t.Context(), "second"), "Second.")
	})
}

func TestCancelOfTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, prompt string) string {
			if strings.Contains(prompt, "second") {
				f.say("Second.")
				return "end_turn"
			}
			f.say("One. ")
			if !f.pause(time.Minute) {
				return "end_turn"
			}
			f.say("late")
			return "cancelled"
		}))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := k.ask(ctx, "first"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		k.want(nil, "One. ")
		k.want(k.ask(t.Context(), "second"), "Second.")
		if got := k.agents[0].methods(); !strings.HasSuffix(got, "session/cancel session/prompt") {
			t.Errorf("methods: %s", got)
		}
	})
}

// An agent that ignores a cancel is terminated.
func TestPromptThatNeverEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		deaf := newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("One. ")
			return ""
		})
		deaf.loads = true
		next := newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("Two.")
			return "end_turn"
		})
		next.loads = true
		k := newTalker(t, deaf, next)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := k.ask(ctx, "first"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		k.want(nil, "One. ")
		began := time.Now()
		k.want(k.ask(t.Context(), "second"), "Two.")
		if d := time.Since(began); d > cancelLimit+time.Second {
			t.Errorf("the second answer took %v", d)
		}
		if got := next.methods(); got != "initialize session/load session/prompt" {
			t.Errorf("methods of the second agent: %s", got)
		}
	})
}

func TestDeathInTheMiddle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("One. ")
			f.die()
			return ""
		})
		second := newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("Two.")
			return "end_turn"
		})
		k := newTalker(t, first, second)
		k.wantCode(k.ask(t.Context(), "first"), codeEnded)
		k.want(nil, "One. ")
		k.n++
		k.want(k.round(t.Context(), 0, copilot.Message{Role: copilot.RoleUser, Content: "first"},
			copilot.Message{Role: copilot.RoleAssistant, Content: "One."}, copilot.Message{Role: copilot.RoleUser, Content: "second"}), "Two.")
		if got := second.prompted(); !strings.Contains(got, "user: first\nassistant: One.\n") || !strings.Contains(got, "]\n\nsecond\n\n[This is a spoken") {
			t.Errorf("the second agent was told %q", got)
		}
	})
}

func TestDeathWhileAToolRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.ask("c1", "go test")
			f.tool("c1", "in_progress", "half of it")
			f.die()
			return ""
		}))
		k.want(k.ask(t.Context(), "run"), "")
		result, err := k.a.CallTool(t.Context(), t.Context(), k.call())
		k.wantCode(err, codeEnded)
		if result != "half of it" {
			t.Errorf("what the tool brought is %q", result)
		}
	})
}

func TestSilenceHasALimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.pause(time.Hour)
			return "cancelled"
		}))
		began := time.Now()
		k.wantCode(k.ask(t.Context(), "first"), codeSilent)
		if d := time.Since(began); d < firstSilence || d > firstSilence+2*heartbeat {
			t.Errorf("it gave up after %v, want %v", d, firstSilence)
		}
		if want := int(firstSilence/heartbeat) - 1; k.lives < want {
			t.Errorf("%d signs of life, want %d at least", k.lives, want)
		}
	})
}

// A tool without a permission request may run for minutes.
func TestToolThatRunsLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"t","kind":"read","status":"in_progress"}`)
			if f.pause(5 * time.Minute) {
				return "cancelled"
			}
			f.tool("c1", "completed", "ok")
			f.say("Done.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "first"), "Done.")
	})
}

// Thinking agents send many updates that are not text.
func TestThoughtsAreSignsOfLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			for range 300 {
				f.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`)
				f.pause(200 * time.Millisecond)
			}
			f.say("Done.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "first"), "Done.")
		if k.lives < 50 || k.lives > 70 {
			t.Errorf("%d signs of life in a minute, want one a second", k.lives)
		}
	})
}

func TestSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(nil)
		f.signIn = true
		k := newTalker(t, f)
		k.wantCode(k.ask(t.Context(), "first"), codeSignIn)
		k.wantCode(k.ask(t.Context(), "second"), codeMissing) // there is no second agent
	})
}

func TestAskingModeIsSet(t *testing.T) {
	for modes, want := range map[string]bool{
		`{"currentModeId":"auto","availableModes":[{"id":"auto","name":"Auto"},{"id":"default","name":"Ask"}]}`:        true,
		`{"currentModeId":"agent","availableModes":[{"id":"agent","name":"A"},{"id":"read-only","name":"Read only"}]}`: true,
		`{"currentModeId":"default","availableModes":[{"id":"auto","name":"Auto"},{"id":"default","name":"Ask"}]}`:     false,
		`{"currentModeId":"build","availableModes":[{"id":"build","name":"Build"},{"id":"plan","name":"Plan"}]}`:       false,
	} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(func(f *fakeAgent, _ string) string {
				f.say("Hi.")
				return "end_turn"
			})
			f.modes = modes
			k := newTalker(t, f)
			k.want(k.ask(t.Context(), "first"), "Hi.")
			if got := strings.Contains(f.methods(), "session/set_mode"); got != want {
				t.Errorf("modes %s: set %v, want %v", modes, got, want)
			}
		})
	}
}

// opencode asks a second time about the same call before it runs.
func TestCallThatIsAskedAboutTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.ask("c1", "cat /etc/hosts")
			<-f.ask("c1", "cat /etc/hosts")
			f.tool("c1", "completed", "hosts")
			f.say("Done.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "first"), "")
		first := k.call()
		if _, err := k.a.CallTool(t.Context(), t.Context(), first); err != nil {
			t.Fatal(err)
		}
		k.want(k.round(t.Context(), 1), "")
		second := k.call()
		if second.ID == first.ID {
			t.Errorf("both calls are named %s", first.ID)
		}
		if result, err := k.a.CallTool(t.Context(), t.Context(), second); result != "hosts" || err != nil {
			t.Errorf("the call brought %q, %v", result, err)
		}
		k.want(k.round(t.Context(), 2), "Done.")
	})
}

// Two simultaneous calls form one round, and the second may be rejected.
func TestTwoCallsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		second := make(chan string, 2)
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			one, two := f.ask("c1", "go vet"), f.ask("c2", "go test")
			<-one
			f.tool("c1", "in_progress", "")
			f.pause(time.Minute)
			f.tool("c1", "completed", "vetted")
			second <- <-two
			f.say("Done.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "first"), "")
		if len(k.calls) != 2 {
			t.Fatalf("%d calls, want 2", len(k.calls))
		}
		if result, err := k.a.CallTool(t.Context(), t.Context(), k.calls[0]); result != "vetted" || err != nil {
			t.Errorf("the call brought %q, %v", result, err)
		}
		k.want(k.round(t.Context(), 1), "Done.")
		wantOutcome(t, second, "abort")
	})
}

// A call that is cancelled while it runs keeps its result if it still arrives.
func TestCancelWhileAToolRuns(t *testing.T) {
	for _, late := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
				<-f.ask("c1", "sleep 37")
				f.tool("c1", "in_progress", "")
				f.pause(time.Minute)
				if late {
					f.tool("c1", "completed", "slept")
				}
				return "cancelled"
			}))
			k.want(k.ask(t.Context(), "first"), "")
			wanted, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			result, err := k.a.CallTool(t.Context(), wanted, k.call())
			if late && (result != "slept" || err != nil) || !late && !errors.Is(err, copilot.ErrCancelled) {
				t.Errorf("late result %v: the call brought %q, %v", late, result, err)
			}
		})
	}
}

func TestInterruptedAnswerIsMentioned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("One. Two. Three.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "count"), "One. Two. Three.")
		k.n++
		k.want(k.round(t.Context(), 0, copilot.Message{Role: copilot.RoleUser, Content: "count"},
			copilot.Message{Role: copilot.RoleAssistant, Content: "One."}, copilot.Message{Role: copilot.RoleUser, Content: "stop there"}), "One. Two. Three.")
		if got, want := k.agents[0].prompted(), "[The user interrupted your last answer, and heard only: \"One.\"]\n\nstop there"; got != want {
			t.Errorf("the prompt is %q, want %q", got, want)
		}
	})
}

// The next prompt tells the agent the words that rejected a call, and that the call was
// not allowed.
func TestReasonOfANoReachesTheAgent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(func(f *fakeAgent, prompt string) string {
			if strings.Contains(prompt, "pnpm") {
				f.say("With pnpm, then.")
				return "end_turn"
			}
			<-f.ask("c1", "npm install")
			return "cancelled"
		})
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "install it"), "")
		c := k.call()
		k.a.End(k.id())
		k.past = append(k.past, copilot.Message{Role: copilot.RoleTool, Content: "not run", Call: &c, Status: copilot.CallRejected})
		k.want(k.ask(t.Context(), "no, use pnpm instead"), "With pnpm, then.")
		if got := f.prompted(); got != "[The user did not allow the last call. It was not run.]\n\nno, use pnpm instead" {
			t.Errorf("the agent was told %q", got)
		}
	})
}

// A call's reason is stored next to the command: it is read when the user asks why.
func TestCallKeepsItsReason(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.askWith("c1", `{"command":"make","description":"Build it first"}`, codexOptions)
			return "cancelled"
		}))
		k.want(k.ask(t.Context(), "go"), "")
		if c := k.call(); c.Reason != "Build it first" || string(c.Input) != `{"command":"make","description":"Build it first"}` {
			t.Errorf("the call is %q because of %q", c.Input, c.Reason)
		}
	})
}
