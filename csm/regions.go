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

// Charts are the tables of all regions, the conversation's first.
func Charts() []statechart.Chart {
	return []statechart.Chart{
		part(PhaseAny, statechart.Region{
			Name: "conversation", Package: "csm", Within: "connection", End: PhaseIdle.String(), Causes: true,
			About: "What the user and the assistant are doing. An event that a region below takes for live fires one row of the table at most, " +
				"and then those that are due without an event.",
		}),
		hold.Chart(statechart.Region{
			Name: "hold", Package: "csm/hold", Within: "conversation",
			About: "Whether the conversation is held still, and why. Beside a conversation that is held, what it is at goes on, " +
				"but nothing is captured, sent, synthesised or played. It is shown as Suspended.",
		}),
		part(ApprovalAny, statechart.Region{
			Name: "approval", Package: "csm", Within: "conversation",
			About: "The question about one call of a tool, in the same turn. It is offered each event before the conversation.",
		}),
		connection.Chart(statechart.Region{
			Name: "connection", Package: "csm/connection", Within: "session", End: connection.Torn{}.String(),
			About: "The one link to the realtime service, which carries both voices. Each dial has an epoch of its own, " +
				"and a connection that is about to expire has a successor beside it.",
		}),
		turn.Chart(statechart.Region{
			Name: "turn", Package: "csm/turn", Within: "conversation",
			About: "Who speaks, as far as the user is concerned. An utterance opens and closes with facts about audio, " +
				"and its words may come after the next onset.",
		}),
		speech.Chart(statechart.Region{
			Name: "speech", Package: "csm/speech", Within: "conversation",
			About: "One line of segments on its way to the user's ear. A flush closes it in any state and begins a new generation.",
		}),
		history.Chart(statechart.Region{
			Name: "history", Package: "csm/history", Within: "conversation",
			About: "What was said, and of the assistant's words only what was heard. A long one is summarised, one job at a time, " +
				"while it goes on growing.",
		}),
		copilot.Chart(statechart.Region{
			Name: "copilot", Package: "copilot", Within: "conversation",
			About: "The one request that is under way: the search for tools, the answer, the decisions about calls and the calls, " +
				"round by round. What was told to stop stays until that is confirmed.",
		}),
		session.Chart(statechart.Region{
			Name: "session", Package: "session",
			About: "The assistant's session, as clients are told of it. A guard map says what may become of what.",
		}),
	}
}

// part is the chart of what the table has of one region.
func part(root Phase, of statechart.Region) statechart.Chart {
	rows := slices.DeleteFunc(Table(), func(r Row) bool { return !r.From.In(root) })
	return statechart.ChartOf(of, statechart.New(rows, parents), parents)
}
