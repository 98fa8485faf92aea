package acp

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// How an agent says that its answer ended decides whether it is whole.
func TestEndsOfAnswers(t *testing.T) {
	for _, tt := range []struct {
		stop, said, code string
		unknown          int
	}{
		{"end_turn", "half", "", 0},
		{"end_turn", "", "copilotEmpty", 0},
		{"max_tokens", "half", "answerCutLength", 0},
		{"max_tokens", "", "answerCutLength", 0},
		{"max_turn_requests", "half", "answerCutTurns", 0},
		{"max_turn_requests", "", "answerCutTurns", 0},
		{"refusal", "half", "answerCutFilter", 0},
		{"refusal", "", "copilotBlocked", 0},
		{"cancelled", "half", "answerCutOff", 0},
		{"cancelled", "", "copilotCancelled", 0},
		{"some_new_reason", "half", "", 1},
		{"some_new_reason", "", "copilotEmpty", 0},
	} {
		bubble(t, func(t *testing.T) {
			k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
				if tt.said != "" {
					f.say(tt.said)
				}
				return tt.stop
			}))
			err := k.ask(t.Context(), "hello")
			if tt.code != "" {
				k.wantCode(err, tt.code)
				err = nil
			}
			k.want(err, tt.said)
			if k.unknown != tt.unknown {
				t.Errorf("%s after %q: unknown %d times, want %d", tt.stop, tt.said, k.unknown, tt.unknown)
			}
		})
	}
}

func TestErrorAfterText(t *testing.T) {
	for said, code := range map[string]string{"half": "answerCutOff", "": "copilotFailed"} {
		bubble(t, func(t *testing.T) {
			k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
				if said != "" {
					f.say(said)
				}
				f.fail("session/prompt")
				return ""
			}))
			k.wantCode(k.ask(t.Context(), "hello"), code)
			k.want(nil, said)
		})
	}
}

func TestTooLongAnswerIsCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		big := strings.Repeat("x", maxAnswer-1)
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say(big)
			f.say("yz")
			f.say("y")
			return "end_turn"
		}))
		k.wantCode(k.ask(t.Context(), "hello"), "answerCutLength")
		k.want(nil, big)
	})
}

// Text that comes shortly after the end of the prompt belongs to the answer; text that
// comes later belongs to none.
func TestTextAfterTheEnd(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		delays []time.Duration // before each piece
		want   string
		took   time.Duration
	}{
		{"none", nil, "", tailQuiet},
		{"at once", []time.Duration{0}, "1", tailQuiet},
		{"shortly after", []time.Duration{20 * ms}, "1", 20*ms + tailQuiet},
		{"within the limit", []time.Duration{199 * ms, 199 * ms}, "12", 398*ms + tailQuiet},
		{"too late", []time.Duration{201 * ms}, "", tailQuiet},
		{"without an end", []time.Duration{150 * ms, 150 * ms, 150 * ms, 150 * ms, 150 * ms, 150 * ms, 150 * ms}, "123456", tailLimit},
	} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(func(*fakeAgent, string) string { return "end_turn" })
			inner := f.answer
			f.answer = func(f *fakeAgent, text string) string {
				f.say("0")
				go func() {
					synctest.Wait()
					for i, d := range tt.delays {
						time.Sleep(d)
						f.say(string(rune('1' + i)))
					}
				}()
				return inner(f, text)
			}
			k := newTalker(t, f)
			began := time.Now()
			k.want(k.ask(t.Context(), "hello"), "0"+tt.want)
			if took := time.Since(began); took != tt.took {
				t.Errorf("%s: took %v, want %v", tt.name, took, tt.took)
			}
			time.Sleep(5 * time.Second)
			if got := k.said.String(); got != "" {
				t.Errorf("%s: then came %q", tt.name, got)
			}
		})
	}
}

// The next question does not wait for text after the end, and the agent, which has
// ended, is not cancelled.
func TestQuestionDuringTheTail(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(func(f *fakeAgent, prompt string) string {
			f.say(prompt[:1])
			return "end_turn"
		})
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "1"), "1")
		if c := f.methods(); strings.Contains(c, "cancel") {
			t.Errorf("the agent was called: %s", c)
		}
		first := make(chan error, 1)
		go func() { first <- k.ask(t.Context(), "2") }()
		synctest.Wait()
		began := time.Now()
		k.a.End("req-2")
		if err := <-first; err != nil {
			t.Errorf("the answer of which the end was not awaited: %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the end took %v after the request was dropped", took)
		}
		k.said.Reset()
		k.want(k.ask(t.Context(), "3"), "3")
		if c := f.methods(); strings.Contains(c, "cancel") {
			t.Errorf("the agent was called: %s", c)
		}
	})
}

func TestReasoningIsNotText(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(func(f *fakeAgent, _ string) string {
			for _, piece := range []string{"<thi", "nk>CANARY", "</think>four", " <"} {
				f.say(piece)
			}
			return "end_turn"
		})
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "hello"), "four <")
	})
}

// The text of a model that begins its reasoning without a tag is held, unless the agent
// reports thoughts apart.
func TestUnmarkedReasoning(t *testing.T) {
	for _, tt := range []struct{ thought, stop, want, code string }{
		{"", "end_turn", "CANARY", ""},
		{"", "max_tokens", "", "answerCutLength"},
		{`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`, "max_tokens", "CANARY", "answerCutLength"},
	} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(func(f *fakeAgent, _ string) string {
				if tt.thought != "" {
					f.update(tt.thought)
				}
				f.say("CANARY")
				return tt.stop
			})
			k := newTalker(t, f)
			k.model = "deepseek-r1"
			err := k.ask(t.Context(), "hello")
			if tt.code != "" {
				k.wantCode(err, tt.code)
				err = nil
			}
			k.want(err, tt.want)
		})
	}
}

// Every tool call is reported when it begins and when it ends, and says whether the user
// was asked about it.
func TestOwnCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"a","title":"Read a.go","kind":"read","status":"pending"}`)
			f.tool("a", "in_progress", "")
			f.tool("a", "in_progress", "more")
			f.tool("a", "completed", "package a")
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"b","kind":"fetch","status":"in_progress"}`)
			f.tool("b", "failed", "")
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Wait","kind":"other","status":"in_progress"}`)
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"d","title":"Run","kind":"execute","status":"in_progress"}`)
			<-f.ask("d", "make")
			f.tool("d", "completed", "")
			f.say("Done.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "go"), "")
		if _, err := k.a.CallTool(t.Context(), t.Context(), k.call()); err != nil {
			t.Fatal(err)
		}
		k.want(k.round(t.Context(), 1), "Done.")
		time.Sleep(time.Second)
		read, fetch := copilot.OwnCall{ID: "req-1#1", Name: "Read a.go", Reads: true}, copilot.OwnCall{ID: "req-1#2", Name: "fetch", Reads: true}
		wait, run := copilot.OwnCall{ID: "req-1#3", Name: "Wait"}, copilot.OwnCall{ID: "req-1#4", Name: "Run"}
		is := func(c copilot.OwnCall, s copilot.CallStatus, asked bool) copilot.OwnCall {
			c.Status, c.Asked = s, asked
			return c
		}
		want := []copilot.OwnCall{
			is(read, copilot.CallRunning, false), is(read, copilot.CallCompleted, false),
			is(fetch, copilot.CallRunning, false), is(fetch, copilot.CallFailed, false),
			is(wait, copilot.CallRunning, false), is(run, copilot.CallRunning, false),
		}
		own := k.owned()
		if len(own) < 8 || !slices.Equal(own[:len(want)], want) {
			t.Fatalf("reported\n%+v\nwant first\n%+v", own, want)
		}
		for _, c := range own[len(want) : len(own)-1] {
			if c.ID != run.ID || !c.Asked {
				t.Errorf("then reported %+v, want the call that was asked about", c)
			}
		}
		if got, want := own[len(own)-1], is(wait, copilot.CallCancelled, false); got != want {
			t.Errorf("last reported %+v, want %+v", got, want)
		}
	})
}

func TestDictatedWordsAreMarked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(func(f *fakeAgent, _ string) string {
			f.say("ok")
			return "end_turn"
		})
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "typed"), "ok")
		if got := f.prompted(); strings.Contains(got, copilot.DictatedNote) {
			t.Errorf("typed words were sent as %q", got)
		}
		k.n++
		k.past = append(k.past, copilot.Message{Role: copilot.RoleUser, Content: "spoken", Dictated: true})
		k.want(k.round(t.Context(), 0, k.past...), "ok")
		if got, want := f.prompted(), "spoken\n\n"+copilot.DictatedNote; got != want {
			t.Errorf("dictated words were sent as %q, want %q", got, want)
		}
	})
}
