package acp

import (
	"reflect"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// What the agent does is reported while it answers: each call once it runs, with its files
// and the progress of tests, and the plan. A call that waits for a permission is not.
func TestActivitiesOfTheAgent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, _ string) string {
			f.update(`{"sessionUpdate":"plan","entries":[{"content":"Read","priority":"high","status":"completed"},{"content":"Test","priority":"high","status":"pending"}]}`)
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"a","title":"Read","kind":"read","status":"in_progress","locations":[{"path":"/w/a.go"},{"path":"/w/b.go"}]}`)
			f.tool("a", "completed", "package a")
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"a","title":"Read","kind":"read","status":"in_progress","locations":[{"path":"/w/a.go"}]}`)
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"e","title":"Edit","kind":"edit","status":"pending","locations":[{"path":"/w/a.go"}]}`)
			f.tool("e", "failed", "not allowed")
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"make test","kind":"execute","status":"in_progress"}`)
			f.tool("t", "in_progress", "ok 20/120 tests\nok 40/120 tests\n")
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"th","title":"Think","kind":"think","status":"in_progress"}`)
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"o","title":"A tool","status":"in_progress"}`)
			f.say("Done.")
			return "end_turn"
		}))
		k.want(k.ask(t.Context(), "test it"), "Done.")
		both := []string{"/w/a.go", "/w/b.go"}
		want := []copilot.Activity{
			{Kind: copilot.Planning, Done: 1, All: 2},
			{ID: "1", Kind: copilot.Reading, Files: both}, {ID: "1", Kind: copilot.Reading, Files: both}, {ID: "2", Kind: copilot.Reading, Files: both[:1]},
			{ID: "4", Kind: copilot.Running}, {ID: "4", Kind: copilot.Running, Done: 40, All: 120},
			{ID: "5", Kind: copilot.Calling}, {ID: "6", Kind: copilot.Calling},
		}
		if !reflect.DeepEqual(k.did, want) {
			t.Errorf("reported\n%+v\nwant\n%+v", k.did, want)
		}
	})
}

func TestProgressOfTests(t *testing.T) {
	for output, want := range map[string][2]int{
		"": {}, "40/120 tests": {40, 120}, "Ran 40 of 120 tests, 2 failed": {40, 120}, "Tests: 7/9\nTests: 8/9": {8, 9}, "1 of 1 test": {1, 1},
		"2026/11 tests": {}, "on 11/24": {}, "page 2 of 3": {}, "40 tests": {}, "contest 1/2": {},
	} {
		if done, all := testsIn(output); done != want[0] || all != want[1] {
			t.Errorf("%q: %d of %d, want %d of %d", output, done, all, want[0], want[1])
		}
	}
}
