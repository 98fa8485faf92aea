package acp

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

var activityKinds = map[acpsdk.ToolKind]copilot.ActivityKind{
	acpsdk.ToolKindRead: copilot.Reading, acpsdk.ToolKindSearch: copilot.Searching, acpsdk.ToolKindFetch: copilot.Fetching, acpsdk.ToolKindExecute: copilot.Running,
	acpsdk.ToolKindOther: copilot.Calling, acpsdk.ToolKindThink: copilot.Calling, "": copilot.Calling,
	acpsdk.ToolKindEdit: copilot.Editing, acpsdk.ToolKindDelete: copilot.Editing, acpsdk.ToolKindMove: copilot.Editing,
}

// activity returns what an update reports, or false if that is not announced. A call that
// has not started may still be rejected.
func (p *prompt) activity(u acpsdk.SessionUpdate, t *tool) (a copilot.Activity, ok bool) {
	switch {
	case u.Plan != nil:
		a = copilot.Activity{Kind: copilot.Planning, All: len(u.Plan.Entries)}
		for _, e := range u.Plan.Entries {
			if e.Status == acpsdk.PlanEntryStatusCompleted {
				a.Done++
			}
		}
		return a, true
	case t == nil || p.cancelled || !t.runs() && t.status != acpsdk.ToolCallStatusCompleted:
		return a, false
	}
	a = copilot.Activity{ID: strconv.Itoa(t.number), Kind: activityKinds[t.kind], Files: slices.Clone(t.files)}
	if a.Kind == copilot.Running {
		a.Done, a.All = testsIn(t.output)
	}
	return a, a.Kind != ""
}

// harmless are the kinds of calls that change nothing.
var harmless = map[acpsdk.ToolKind]bool{
	acpsdk.ToolKindRead: true, acpsdk.ToolKindSearch: true, acpsdk.ToolKindThink: true, acpsdk.ToolKindFetch: true,
}

// changed reports whether a call has begun or ended since its last report.
func (t *tool) changed() bool { return t.status != t.told && (t.runs() || t.ended()) }

// ownCall returns a report of a call.
func (p *prompt) ownCall(t *tool) copilot.OwnCall {
	t.told = t.status
	c := copilot.OwnCall{ID: p.first + "#" + strconv.Itoa(t.number), Name: cmp.Or(t.title, string(t.kind)), Status: copilot.CallRunning, Asked: t.asked, Reads: harmless[t.kind]}
	switch t.status {
	case acpsdk.ToolCallStatusCompleted:
		c.Status = copilot.CallCompleted
	case acpsdk.ToolCallStatusFailed:
		c.Status = copilot.CallFailed
	}
	return c
}

// unfinished returns reports of the calls that run when the prompt has ended.
func (p *prompt) unfinished() (calls []copilot.OwnCall) {
	for _, t := range p.tools {
		if t.runs() {
			c := p.ownCall(t)
			c.Status = copilot.CallCancelled
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b copilot.OwnCall) int { return strings.Compare(a.ID, b.ID) })
	return calls
}

// report passes calls on. The caller does not hold Adapter.mu.
func (p *prompt) report(calls ...copilot.OwnCall) {
	for _, c := range calls {
		if p.called != nil {
			p.called(c)
		}
	}
}

// testCount matches how test runners report progress: "40/120 tests", "40 of 120 tests",
// "Tests: 40/120". Other pairs of numbers, such as dates, do not count.
var testCount = regexp.MustCompile(`(?i)\b(\d{1,6}) ?(?:/|of) ?(\d{1,6}) tests?\b|\btests?:? (\d{1,6}) ?(?:/|of) ?(\d{1,6})\b`)

// testsIn returns the last progress in the output of a command, or zeros.
func testsIn(output string) (done, all int) {
	found := testCount.FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		return 0, 0
	}
	m := found[len(found)-1]
	done, _ = strconv.Atoi(m[1] + m[3])
	all, _ = strconv.Atoi(m[2] + m[4])
	if done > all {
		return 0, 0
	}
	return done, all
}
