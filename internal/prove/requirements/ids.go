package requirements

import (
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// expected returns the ids that the list must have: those of the specification of the
// conversation (002), the machines and invariants of the analysis (000, part 4), the
// rows of the tables of the session (003), and the states and features of the chat machine (004).
// The session's states and statuses come from the code, so that a new one requires a
// line.
func expected() []string {
	var out []string
	for _, f := range []struct {
		name string
		n    int
	}{{"REQ", 10}, {"INT", 5}, {"PER", 4}, {"SEC", 3}, {"CON", 3}, {"GUD", 4}, {"PAT", 4}, {"AC", 8}} {
		for i := range f.n {
			out = append(out, fmt.Sprintf("%s-%03d", f.name, i+1))
		}
	}
	for i := range 10 {
		out = append(out, fmt.Sprintf("000.4.%d", i+1), fmt.Sprintf("000.server.%d", i+1))
	}
	for i := range 5 {
		out = append(out, fmt.Sprintf("000.M%d", i+1))
	}
	for s := session.State(0); !strings.HasPrefix(s.String(), "State("); s++ {
		out = append(out, "003.guard."+s.String())
	}
	for s := session.Status(0); !strings.HasPrefix(s.String(), "Status("); s++ {
		out = append(out, "003.status."+s.String())
	}
	for _, s := range []copilot.State{
		copilot.Idle{}, copilot.LoadingModel{}, copilot.LoadFailed{}, copilot.Ready{}, copilot.SearchingTools{},
		copilot.Generating{}, copilot.Streaming{}, copilot.WaitingForApproval{}, copilot.CallingTool{},
	} {
		out = append(out, "004.state."+s.String())
	}
	return append(out,
		"003.turnError", "003.resetTurnState", "003.staleRecovery", "003.legacyNames", "003.transition", "003.persistence", "003.broadcast",
		"004.queue", "004.errors", "004.modelSwitch", "004.roundTrip",
		"004.interrupt.search", "004.interrupt.generation", "004.interrupt.stream", "004.interrupt.approval", "004.interrupt.call",
		"004.retry.search", "004.retry.generation", "004.retry.stream", "004.retry.call",
		"004.guard.hasQueuedMessages", "004.guard.hasToolCall",
		"004.action.startToolSearch", "004.action.startGenerating", "004.action.cancelToolSearch", "004.action.cancelGeneration",
		"004.action.cancelStream", "004.action.appendToolResponseMessage", "004.action.appendToolRejectionMessage", "004.action.callTool",
		"002.atOnce", "002.6.rows", "002.6.guards", "002.6.faults", "002.6.frameworks", "000.6.fizzbee", "000.gate", "001.errorLane", "001.turnNumbers", "design.twoPhase", "design.14", "design.15", "design.16", "design.17", "design.18", "design.gate",
	)
}

// missing reports expected ids that the list lacks.
func missing(list []requirement, want []string) (problems []string) {
	have := map[string]bool{}
	for _, r := range list {
		have[r.id] = true
	}
	for _, id := range want {
		if !have[id] {
			problems = append(problems, fmt.Sprintf("%s: %s is not in the list; add it with its status", listFile, id))
		}
	}
	return problems
}
