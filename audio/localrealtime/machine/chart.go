package machine

import "github.com/agentvoice/agentvoice-daemon/csm/statechart"

// Charts returns the tables, the link's first. Their names are distinct from the core's
// regions.
func Charts() []statechart.Chart {
	const here = "audio/localrealtime/machine"
	return []statechart.Chart{
		statechart.ChartOf(statechart.Region{
			Name: "serverLink", Package: here, End: Torn.String(),
			About: "The way to one client of the embedded server, over WebRTC or WebSocket. While it ends, the client is told why and nothing else.",
		}, all.link, linkParents),
		statechart.ChartOf(statechart.Region{
			Name: "serverTurn", Package: here, Within: "serverLink", End: closedTurn.String(),
			About: "The user's turn, as far as audio says. A turn that the client was told of ends by turn detection, with the settings that it began with; " +
				"another one by a commit.",
		}, all.turn, turnParents),
		statechart.ChartOf(statechart.Region{
			Name: "serverWords", Package: here, Within: "serverLink", End: gone.String(),
			About: "The words of one utterance. Each utterance that was committed gets its final words, or their failure, once.",
		}, all.words, wordsParents),
		statechart.ChartOf(statechart.Region{
			Name: "serverAnswer", Package: here, Within: "serverLink", End: over.String(),
			About: "One response. It waits for the one before it and for the words of the user. " +
				"One that was stopped holds up the next until the speaker is through with it.",
		}, all.answer, answerParents),
		statechart.ChartOf(statechart.Region{
			Name: "serverSound", Package: here, Within: "serverLink", End: ended.String(),
			About: "The audio of one response, which goes on after all of it is made.",
		}, all.sound, soundParents),
		statechart.ChartOf(statechart.Region{
			Name: "serverMemory", Package: here, Within: "serverLink", End: closedMemory.String(),
			About: "What the model is reminded of. A conversation that is too long has its beginning summarised, one summary at a time, whatever else goes on.",
		}, all.memory, memoryParents),
	}
}
