package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// elicit asks a question with a form, and returns the answer as JSON.
func (f *fakeAgent) elicit(schema string) <-chan string {
	f.mu.Lock()
	f.next++
	id := fmt.Sprintf("perm-%d", f.next)
	answer := make(chan string, 2)
	f.waiting[id] = answer
	f.mu.Unlock()
	f.send(`{"jsonrpc":"2.0","id":` + quoted(id) + `,"method":"elicitation/create","params":{"sessionId":"s1","mode":"form","message":"Which color?","requestedSchema":` + schema + `}}`)
	return answer
}

const colors = `{"type":"object","properties":{"color":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"b","title":"Blue"}]}},"required":["color"]}`

// The agent's question is presented, and the words of the next request answer it: the
// prompt continues.
func TestElicitationIsAnsweredByTheNextWords(t *testing.T) {
	for _, c := range []struct{ schema, words, want string }{
		{colors, "The blue one.", `accept {"color":"b"}`}, {colors, "red", `accept {"color":"r"}`}, {colors, "2", `accept {"color":"b"}`},
		{`{"properties":{"sure":{"type":"boolean"}}}`, "Ja.", `accept {"sure":true}`},
		{`{"properties":{"name":{"type":"string"}}}`, "main dot go", `accept {"name":"main dot go"}`},
		{`{"properties":{"count":{"type":"integer"},"why":{"type":"string"}},"required":["count"]}`, "12", `accept {"count":12}`},
	} {
		bubble(t, func(t *testing.T) {
			got := make(chan string, 1)
			k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
				f.say("One question. ")
				got <- <-f.elicit(c.schema)
				f.say("Thank you.")
				return "end_turn"
			}))
			k.want(k.ask(t.Context(), "paint it"), "One question. ")
			call := k.call()
			if call.Question != "Which color?" || *call.Destructive {
				t.Errorf("the call asks %q", call.Question)
			}
			if c.schema == colors && strings.Join(call.Choices, ",") != "Red,Blue" {
				t.Errorf("the choices are %q", call.Choices)
			}
			k.a.End(k.id())
			k.want(k.ask(t.Context(), c.words), "Thank you.")
			if a := <-got; a != c.want {
				t.Errorf("%q answered %s, want %s", c.words, a, c.want)
			}
		})
	}
}

// Words that do not fit the form reach the agent with another prompt, and an unanswered
// question is declined in the next round.
func TestElicitationWithoutAnAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		got := make(chan string, 1)
		f := newFakeAgent(func(f *fakeAgent, prompt string) string {
			if strings.Contains(prompt, "green") {
				f.say("Green, then.")
				return "end_turn"
			}
			got <- <-f.elicit(colors)
			return "cancelled"
		})
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "paint it"), "")
		call := k.call()
		k.a.End(k.id())
		k.past = append(k.past, copilot.Message{Role: copilot.RoleTool, Call: &call, Status: copilot.CallRejected})
		k.want(k.ask(t.Context(), "rather green"), "Green, then.")
		if a := <-got; a != "cancel null" {
			t.Errorf("answered %s", a)
		}
		if got := f.prompted(); got != "[The user's answer to your question follows.]\n\nrather green" {
			t.Errorf("the agent was told %q", got)
		}
	})
	bubble(t, func(t *testing.T) {
		got := make(chan string, 1)
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			got <- <-f.elicit(colors)
			f.say("As you like.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "paint it"), "")
		k.call()
		k.want(k.round(t.Context(), 1), "As you like.")
		if a := <-got; a != "decline null" {
			t.Errorf("answered %s", a)
		}
	})
}

// A session can be loaded while a question is pending, because the agent waits only for
// the user.
func TestSessionIsLoadedOverAQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		got := make(chan string, 1)
		f := newFakeAgent(func(f *fakeAgent, _ string) string {
			got <- <-f.elicit(colors)
			return "cancelled"
		})
		f.loads = true
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "paint it"), "")
		k.a.End(k.id())
		if err := k.a.LoadSession(t.Context(), "old"); err != nil {
			t.Error(err)
		}
		if a := <-got; a != "cancel null" {
			t.Errorf("the question was answered %s", a)
		}
	})
}

// A permission request for a tool that asks the user is a question; one for a command is
// not, whatever its input.
func TestPermissionThatIsAQuestion(t *testing.T) {
	for input, want := range map[string]string{
		`{"questions":[{"question":"Which color?","options":[{"label":"red"},{"label":"blue"}]}]}`:              "other Which color? red,blue",
		`{"question":"Which color?","options":["red"]}`:                                                         "other Which color? red",
		`{"questions":[{"question":"Which color?"},{"question":"How many?"}]}`:                                  "other Which color? How many? ",
		`{"question":"Which color?","options":["red"],"command":"rm -r /"}`:                                     "other  ",
		`{"suggest":"Look at the changes?","actions":[{"label":"review","prompt":"/review"},{"label":"stop"}]}`: "other Look at the changes? review,stop",
		`{"question":"What does it do?","repository":"a/b"}`:                                                    "other  ",
		`{"question":"What does it do?"}`:                                                                       "other  ",
		`{"questions":[]}`:                                                                                      "other  ",
		`{"path":"a.txt"}`:                                                                                      "other  ",
	} {
		var raw map[string]any
		if err := json.Unmarshal([]byte(input), &raw); err != nil {
			t.Fatal(err)
		}
		q, choices := questionIn(acpsdk.ToolKindOther, raw)
		if got := fmt.Sprintf("other %s %s", q, strings.Join(choices, ",")); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
		if q, _ := questionIn(acpsdk.ToolKindExecute, raw); q != "" {
			t.Errorf("%s: a command asks %q", input, q)
		}
	}
}

// TestQuestionThatTheAgentKeeps: the question tool of Kilo and opencode waits for an answer that the
// protocol cannot bring. The user is asked, and the words of the answer are the next prompt.
func TestQuestionThatTheAgentKeeps(t *testing.T) {
	for name, want := range map[string]string{"Kilo": "Which color?", "OpenCode": "Which color?", "other": ""} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(func(f *fakeAgent, prompt string) string {
				if strings.Contains(prompt, "green") {
					f.say("Green, then.")
					return "end_turn"
				}
				f.say("One question.")
				f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"question","kind":"other","status":"pending","rawInput":{}}`)
				for range 2 {
					f.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"question","kind":"other","status":"in_progress",` +
						`"rawInput":{"questions":[{"question":"Which color?","options":[{"label":"red"},{"label":"blue"}]}]}}`)
				}
				if f.pause(2 * toolSilence) {
					return "cancelled"
				}
				return "end_turn"
			})
			f.info = `{"name":"` + name + `","version":"1"}`
			k := newTalker(t, f)
			err := k.ask(t.Context(), "paint it")
			if want == "" {
				k.wantCode(err, codeSilent)
				return
			}
			k.want(err, "One question.")
			call := k.call()
			if call.Question != want || strings.Join(call.Choices, ",") != "red,blue" {
				t.Errorf("%s asks %q, %q", name, call.Question, call.Choices)
			}
			k.a.End(k.id())
			k.past = append(k.past, copilot.Message{Role: copilot.RoleTool, Call: &call, Status: copilot.CallRejected})
			k.want(k.ask(t.Context(), "rather green"), "Green, then.")
			if got := f.prompted(); got != "[The user's answer to your question follows.]\n\nrather green" {
				t.Errorf("the agent was told %q", got)
			}
			if got := strings.Count(f.methods(), "session/cancel"); got != 1 {
				t.Errorf("the prompt was cancelled %d times", got)
			}
		})
	}
}
