package acp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// permission sends a permission request for a call that is given as JSON.
func (f *fakeAgent) permission(call string) <-chan string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := "whole-" + string(rune('0'+f.next))
	answer := make(chan string, 2)
	f.waiting[id] = answer
	go f.send(`{"jsonrpc":"2.0","id":"` + id + `","method":"session/request_permission","params":{"sessionId":"s1","toolCall":` + call + `,"options":` + codexOptions + `}}`)
	return answer
}

// TestNothingOfACallIsDropped: what an agent sends about a call is in the call that the user
// is asked about, byte by byte.
func TestNothingOfACallIsDropped(t *testing.T) {
	for name, c := range map[string]struct {
		call              string
		tool, kind, title string
		input             string
		files             string
		diffs             []copilot.Diff
	}{
		"a shell of the project's own": {call: `{"toolCallId":"c","kind":"execute","title":"List","rawInput":{"command":["./.evil/bash","-lc","ls"]}}`,
			tool: "run_command", kind: "execute", title: "List", input: `{"command":["./.evil/bash","-lc","ls"]}`},
		"environment, input and rights": {call: `{"toolCallId":"c","kind":"execute","title":"List","rawInput":{"command":"ls","env":{"LD_PRELOAD":"x.so"},"stdin":"rm -rf ~","with_escalated_permissions":true}}`,
			tool: "run_command", kind: "execute", title: "List", input: `{"command":"ls","env":{"LD_PRELOAD":"x.so"},"stdin":"rm -rf ~","with_escalated_permissions":true}`},
		"two commands": {call: `{"toolCallId":"c","kind":"execute","title":"List","rawInput":{"command":"ls","script":"rm -rf ~"}}`,
			tool: "run_command", kind: "execute", title: "List", input: `{"command":"ls","script":"rm -rf ~"}`},
		"a new file": {call: `{"toolCallId":"c","kind":"edit","title":"create","rawInput":{"command":"create","path":"~/.bashrc","file_text":"evil"}}`,
			tool: "edit_file", kind: "edit", title: "create", input: `{"command":"create","path":"~/.bashrc","file_text":"evil"}`},
		"a diff": {call: `{"toolCallId":"c","kind":"edit","title":"Edit","content":[{"type":"diff","path":"/w/.git/config","newText":"[core]"}],"locations":[{"path":"/w/other"}]}`,
			tool: "edit_file", kind: "edit", title: "Edit", files: "/w/other /w/.git/config", diffs: []copilot.Diff{{Path: "/w/.git/config", New: "[core]"}}},
		"no input":                {call: `{"toolCallId":"c","kind":"execute","title":"Run the tests"}`, tool: "run_command", kind: "execute", title: "Run the tests"},
		"another kind":            {call: `{"toolCallId":"c","kind":"other","title":"Deploy to production"}`, tool: "run_tool", kind: "other", title: "Deploy to production"},
		"an input that is a text": {call: `{"toolCallId":"c","kind":"other","title":"x","rawInput":"rm"}`, tool: "run_tool", kind: "other", title: "x", input: `"rm"`},
		"large numbers":           {call: `{"toolCallId":"c","kind":"other","title":"x","rawInput":{"n":12345678901234567890}}`, tool: "run_tool", kind: "other", title: "x", input: `{"n":12345678901234567890}`},
	} {
		bubble(t, func(t *testing.T) {
			k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
				<-f.permission(c.call)
				return "cancelled"
			}))
			if err := k.ask(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			got := k.call()
			if got.Name != c.tool || got.Kind != c.kind || got.Title != c.title || string(got.Input) != c.input || strings.Join(got.Files, " ") != c.files ||
				len(got.Diffs) != len(c.diffs) || len(c.diffs) > 0 && got.Diffs[0] != c.diffs[0] || got.Folder == "" || !strings.HasPrefix(got.Agent, "acp:") {
				t.Errorf("%s: the call is %+v", name, got)
			}
			k.a.End(k.id())
		})
	}
}

// TestCallThatChangesIsAskedAgain: a call whose input changes while the user is asked does not run
// by the yes to what it was, and is asked about as it is now.
func TestCallThatChangesIsAskedAgain(t *testing.T) {
	for name, change := range map[string]string{
		"its command": `"rawInput":{"command":"rm -rf ~"}`,
		"its folder":  `"rawInput":{"command":"make","cwd":"/"}`,
		"its kind":    `"kind":"delete"`,
		"its diff":    `"content":[{"type":"diff","path":"/w/a","newText":"x"}]`,
	} {
		bubble(t, func(t *testing.T) {
			outcome := make(chan string, 2)
			f := newFakeAgent(func(f *fakeAgent, _ string) string {
				outcome <- <-f.permission(`{"toolCallId":"c","kind":"execute","title":"Build","rawInput":{"command":"make"}}`)
				f.tool("c", "completed", "built")
				return "end_turn"
			})
			k := newTalker(t, f)
			if err := k.ask(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			asked := k.call()
			f.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"pending",` + change + `}`)
			synctest.Wait()
			if _, err := k.a.CallTool(t.Context(), t.Context(), asked); !errors.Is(err, copilot.ErrChanged) {
				t.Fatalf("%s: the yes to what it was brought %v", name, err)
			}
			if len(outcome) > 0 {
				t.Fatalf("%s: the agent was told %s", name, <-outcome)
			}
			k.want(k.round(t.Context(), 1), "")
			again := k.call()
			if again.ID == asked.ID || again.Hash() == asked.Hash() || !again.Again {
				t.Errorf("%s: it is asked again as %+v", name, again)
			}
			if result, err := k.a.CallTool(t.Context(), t.Context(), again); err != nil || result != "built" {
				t.Errorf("%s: the yes to what it is brought %q, %v", name, result, err)
			}
			wantOutcome(t, outcome, "approved")
			k.want(k.round(t.Context(), 2), "")
		})
	}
}

// TestUpdateWithTheSameInputChangesNothing: agents repeat the input of a call while they wait.
func TestUpdateWithTheSameInputChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.permission(`{"toolCallId":"c","kind":"execute","title":"Build","rawInput":{"command":"make","cwd":"/w"}}`)
			f.tool("c", "completed", "built")
			return "end_turn"
		})
		k := newTalker(t, f)
		if err := k.ask(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		f.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Building","status":"pending","rawInput":{"cwd":"/w", "command":"make"}}`)
		synctest.Wait()
		if result, err := k.a.CallTool(t.Context(), t.Context(), k.call()); err != nil || result != "built" {
			t.Errorf("the call brought %q, %v", result, err)
		}
		k.want(k.round(t.Context(), 1), "")
	})
}

// TestAmbiguousCallIsRejected: a user cannot be asked about an input that parsers read differently.
func TestAmbiguousCallIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T) {
		outcome := make(chan string, 2)
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			outcome <- <-f.permission(`{"toolCallId":"c","kind":"execute","title":"List","rawInput":{"command":"ls","command":"rm -rf ~"}}`)
			f.say("Then not.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "go"), "Then not.")
		wantOutcome(t, outcome, "abort")
		if len(k.calls) > 0 {
			b, _ := json.Marshal(k.calls)
			t.Errorf("the user was asked about %s", b)
		}
	})
}

// TestPermissionRepeatsPartOfTheInput: opencode and Kilo leave the folder out of the input of a
// permission request.
func TestPermissionRepeatsPartOfTheInput(t *testing.T) {
	const known = `{"command":"make","description":"Build it","workdir":"/w/sub"}`
	for name, c := range map[string]struct{ input, want, reason string }{
		"part of it":        {`{"command":"make"}`, known, "Build it"},
		"part and more":     {`{"command":"make","patterns":["/w/*"]}`, `{"command":"make","description":"Build it","patterns":["/w/*"],"workdir":"/w/sub"}`, "Build it"},
		"none of it":        {`null`, known, "Build it"},
		"another command":   {`{"command":"rm -rf ~"}`, `{"command":"rm -rf ~"}`, ""},
		"another shape":     {`["make"]`, `["make"]`, ""},
		"ambiguous command": {`{"command":"make","command":"rm -rf ~"}`, "", ""},
	} {
		bubble(t, func(t *testing.T) {
			k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
				f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"bash","status":"pending","rawInput":{"cwd":"/w"}}`)
				f.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","rawInput":` + known + `}`)
				<-f.permission(`{"toolCallId":"c","kind":"execute","title":"make","rawInput":` + c.input + `}`)
				return "cancelled"
			}))
			if err := k.ask(t.Context(), "go"); c.want == "" {
				if len(k.calls) > 0 {
					t.Errorf("%s: the user was asked about %s", name, k.calls[0].Input)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if got := k.call(); string(got.Input) != c.want || got.Reason != c.reason {
				t.Errorf("%s: the call is %s because of %q, want %s because of %q", name, got.Input, got.Reason, c.want, c.reason)
			}
			k.a.End(k.id())
		})
	}
}

// TestCallThatIsDescribedAfterItsPermission: agents may send the words before a call and its whole
// input after the request for permission, opencode and Kilo somewhat later. The user hears the words
// first, and is asked once.
func TestCallThatIsDescribedAfterItsPermission(t *testing.T) {
	for name, late := range map[string]time.Duration{"other": gather / 2, "OpenCode": describeLimit / 2, "Kilo": describeLimit / 2} {
		bubble(t, func(t *testing.T) {
			outcome := make(chan string, 2)
			f := newFakeAgent(func(f *fakeAgent, _ string) string {
				answer := f.permission(`{"toolCallId":"c","kind":"execute","title":"make","rawInput":{"command":"make"}}`)
				f.pause(late)
				f.say("I will build it.")
				f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"bash","status":"pending","rawInput":{"cwd":"/w"}}`)
				f.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","rawInput":{"command":"make","cwd":"/w/sub"}}`)
				outcome <- <-answer
				f.tool("c", "completed", "built")
				f.say("Done.")
				return "end_turn"
			})
			f.info = `{"name":"` + name + `","version":"1"}`
			k := newTalker(t, f)
			k.want(k.ask(t.Context(), "go"), "I will build it.")
			call := k.call()
			if string(call.Input) != `{"command":"make","cwd":"/w/sub"}` || call.Again {
				t.Errorf("%s: the call is %s, again %v", name, call.Input, call.Again)
			}
			if result, err := k.a.CallTool(t.Context(), t.Context(), call); err != nil || result != "built" {
				t.Errorf("%s: the call brought %q, %v", name, result, err)
			}
			wantOutcome(t, outcome, "approved")
			k.want(k.round(t.Context(), 1), "Done.")
		})
	}
}

// TestCallThatIsNotDescribed: without an update about the call, the user is asked after a while.
func TestCallThatIsNotDescribed(t *testing.T) {
	for name, want := range map[string]time.Duration{"other": gather, "Kilo": describeLimit} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(func(f *fakeAgent, _ string) string {
				<-f.permission(`{"toolCallId":"c","kind":"execute","title":"make","rawInput":{"command":"make"}}`)
				return "cancelled"
			})
			f.info = `{"name":"` + name + `","version":"1"}`
			k := newTalker(t, f)
			began := time.Now()
			k.want(k.ask(t.Context(), "go"), "")
			if got := time.Since(began); got != want || string(k.call().Input) != `{"command":"make"}` {
				t.Errorf("%s: the user was asked after %v, want %v", name, got, want)
			}
			k.a.End(k.id())
		})
	}
}
