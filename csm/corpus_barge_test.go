package csm

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// bargeCorpus adds the states in which the user speaks over the assistant.
func bargeCorpus(t *testing.T, add func(string, *drive) *drive) {
	speaking := func(how Interruption) *drive {
		return configured(t, func(c *Config) { c.Interruption = how }).toSpeaking(1)
	}
	over := SpeechStarted{Epoch: 1, Utterance: 8, Pos: 4800, Late: 60e6}
	for how, name := range map[Interruption]string{Confirmed: "confirmed", ByWords: "by words", Never: "never"} {
		add("speaking, interrupted "+name, speaking(how))
		add("speaking, interrupted "+name+", user spoke", speaking(how).do(over, SpeechPaused{1, 8, 9600}).want(PhaseSpeaking))
	}
	doubt := func() *drive { return speaking(Confirmed).do(over).want(PhaseInterrupted) }
	held := func() *drive { return doubt().do(Partial{Epoch: 1, Utterance: 8, Words: 1}).want(PhaseListening) }
	asking := func() *drive {
		d := configured(t, func(c *Config) { c.Tools, c.Interruption = true, Confirmed }).ask(1)
		d.do(ToolSearchDone{Request: 1, Tools: 1}, CopilotSent{Request: 1, Attempt: 1}, CopilotToolCall{Request: 1, ToolCall: 7}, CopilotDone{Request: 1})
		return d.do(SpeechBuffered{0, 1}).want(PhaseSpeaking)
	}
	variants := func(name string, make func() *drive) {
		add(name, make())
		add(name+", answer whole", make().do(CopilotDone{Request: 1}))
		add(name+", all heard", make().do(CopilotDone{Request: 1}, SpeechPlayed{0, 1}))
		add(name+", voice silent", make().do(SpeechPaused{1, 8, 480000}))
		add(name+", words here", make().do(Partial{Epoch: 1, Utterance: 8, Words: 2}))
		add(name+", queue", make().do(UserText{Utterance: 6, Words: 1}))
	}
	variants("in doubt", doubt)
	add("in doubt, words gone", doubt().do(RecognitionLost{1, 8, CodeRecognitionFailed}).want(PhaseSpeaking))
	add("in doubt, what the user had paused", speaking(Confirmed).do(UserPlayback{Pause: true}, over).want(PhaseInterrupted))
	add("in doubt over a question", asking().do(over).want(PhaseInterrupted))
	add("in doubt over a question, whole", asking().do(over, SpeechPlayed{0, 1}).want(PhaseInterrupted))
	add("a question, user spoke", asking().do(over, SpeechStopped{Epoch: 1, Utterance: 8, Pos: 5000}).want(PhaseSpeaking))
	add("held", held())
	add("held, answer whole", held().do(CopilotDone{Request: 1}))
	add("held, all heard", held().do(CopilotDone{Request: 1}, SpeechPlayed{0, 1}))
	add("held, words awaited", held().do(SpeechStopped{Epoch: 1, Utterance: 8, Pos: 480000}))
	add("held, words awaited, user speaks", held().do(SpeechStopped{Epoch: 1, Utterance: 8, Pos: 480000}, SpeechStarted{1, 9, 500000, 0}))
	add("held, what the user had paused", speaking(Confirmed).do(UserPlayback{Pause: true}, over, TimerFired{TimerConfirm, 1}).want(PhaseListening))
	add("held question", asking().do(over, TimerFired{TimerConfirm, 1}).want(PhaseListening))
	add("held question, words awaited", asking().do(over, SpeechStopped{Epoch: 1, Utterance: 8, Pos: 480000}).want(PhaseListening))
	manual := func() *drive {
		return configured(t, func(c *Config) { c.Interruption, c.Turns = Confirmed, turn.Manual }).do(UserText{Utterance: 1, Words: 1}, CopilotSent{Request: 1, Attempt: 1},
			CopilotSegment{Request: 1, End: 20}, SpeechBuffered{0, 1}).want(PhaseSpeaking)
	}
	add("held, turns ended by hand", manual().do(over, SpeechStopped{Epoch: 1, Utterance: 8, Pos: 480000}).want(PhaseListening))
}
