package csm

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// Charts returns the tables of all regions, the conversation's first.
func Charts() []statechart.Chart {
	return []statechart.Chart{
		part(PhaseAny, statechart.Region{
			Name: "conversation", Package: "csm", Within: "connection", End: PhaseIdle.String(), Causes: true,
			About: "What the user and the assistant are doing. An event that its region accepts fires at most one row, " +
				"followed by the rows that need no event.",
		}),
		hold.Chart(statechart.Region{
			Name: "hold", Package: "csm/hold", Within: "conversation",
			About: "Whether the conversation is held, and why. Its phase continues while it is held, " +
				"but nothing is captured, sent, synthesised or played. The published state is Suspended. " +
				"A lost microphone withholds only what is captured, and a lost speaker only what is synthesised and played.",
		}),
		part(ApprovalAny, statechart.Region{
			Name: "approval", Package: "csm", Within: "conversation",
			About: "The question about one tool call, within the same turn. It sees each event before the conversation.",
		}),
		connection.Chart(statechart.Region{
			Name: "connection", Package: "csm/connection", Within: "session", End: connection.Torn{}.String(),
			About: "The connection to the realtime service. Each dial has its own epoch, " +
				"and an expiring connection coexists with its successor.",
		}),
		turn.Chart(statechart.Region{
			Name: "turn", Package: "csm/turn", Within: "conversation",
			About: "Whether the user is speaking. Facts about audio open and close an utterance, " +
				"and its words may arrive after the next onset.",
		}),
		speech.Chart(statechart.Region{
			Name: "speech", Package: "csm/speech", Within: "conversation",
			About: "One line of speech segments, from synthesis to playback. A flush closes it in any state and starts a new generation.",
		}),
		history.Chart(statechart.Region{
			Name: "history", Package: "csm/history", Within: "conversation",
			About: "The conversation so far, with only the heard part of the assistant's answers. A long history is summarised, one job at a time, " +
				"while it keeps growing.",
		}),
		copilot.Chart(statechart.Region{
			Name: "copilot", Package: "copilot", Within: "conversation",
			About: "The request in progress: the search for tools, the answer, decisions about tool calls and the calls, " +
				"round by round. A cancelled request stays until the cancellation is confirmed.",
		}),
		session.Chart(statechart.Region{
			Name: "session", Package: "session",
			About: "The assistant's session, as published to clients. A guard map defines the allowed changes.",
		}),
	}
}

// part returns the chart of one region's rows in the table.
func part(root Phase, of statechart.Region) statechart.Chart {
	rows := slices.DeleteFunc(Table(), func(r Row) bool { return !r.From.In(root) })
	return statechart.ChartOf(of, statechart.New(rows, parents), parents)
}
