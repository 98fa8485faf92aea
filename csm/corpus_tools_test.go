package csm

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// configured returns a listening conversation with a modified configuration.
func configured(t *testing.T, change func(*Config)) *drive {
	t.Helper()
	c := DefaultConfig()
	change(&c)
	return newDrive(t).do(Configure{c}).toListening()
}

// withTools sends a request whose tools were found and whose answer calls one.
func withTools(t *testing.T) *drive {
	t.Helper()
	d := configured(t, func(c *Config) { c.Tools, c.RoundsMax = true, 2 })
	return d.ask(1).do(ToolSearchDone{Request: 1, Tools: 2}, CopilotSent{Request: 1, Attempt: 1}).want(PhaseWaitingForCopilot)
}

// assistantCorpus adds the states of the chat machine, in the conversations in which they
// occur.
func assistantCorpus(t *testing.T, add func(string, *drive) *drive) {
	talking := func(d *drive) *drive { return d.do(SpeechStarted{1, 50, 500, 0}) }
	awaited := func(d *drive) *drive { return talking(d).do(SpeechStopped{Epoch: 1, Utterance: 50, Pos: 900}) }
	variants := func(name string, make func() *drive) {
		add(name, make())
		add(name+", user speaks", talking(make()))
		add(name+", words awaited", awaited(make()))
	}
	searching := func() *drive { return configured(t, func(c *Config) { c.Tools = true }).ask(1) }
	variants("searching", searching)
	add("searching, cancelled", searching().do(UserInterrupt{}).want(PhaseListening))
	add("searching, cancelled, another waits", searching().do(UserInterrupt{}, UserText{Utterance: 2, Words: 1}).want(PhaseAnalysing))
	variants("wants a tool", func() *drive {
		return withTools(t).do(CopilotToolCall{Request: 1, ToolCall: 7}).want(PhaseGeneratingResponse)
	})
	speaking := func() *drive {
		return withTools(t).do(CopilotSegment{Request: 1, End: 20}, CopilotToolCall{Request: 1, ToolCall: 7}, SpeechBuffered{0, 1}).want(PhaseSpeaking)
	}
	add("speaking, wants a tool", speaking())
	add("speaking before a call that is allowed beforehand", withTools(t).do(CopilotSegment{Request: 1, End: 20},
		CopilotToolCall{Request: 1, ToolCall: 7, Allowed: true}, SpeechBuffered{0, 1}, CopilotDone{Request: 1}).want(PhaseSpeaking))
	add("wants a call that is allowed beforehand", withTools(t).do(CopilotToolCall{Request: 1, ToolCall: 7, Allowed: true}).want(PhaseGeneratingResponse))
	asking := func() *drive { return speaking().do(CopilotDone{Request: 1}).want(PhaseSpeaking) }
	add("speaking before a question", asking())
	add("in doubt over a question at once", asking().do(SpeechStarted{1, 9, 99, 0}).want(PhaseInterrupted))
	generating := func() *drive {
		return withTools(t).do(CopilotToolCall{Request: 1, ToolCall: 7, Destructive: true}, CopilotToolCall{Request: 1, ToolCall: 8}, CopilotDone{Request: 1}).want(PhaseGeneratingResponse)
	}
	variants("question buffering", generating)
	asked := func() *drive {
		return asking().do(SpeechDrained{0, 2}).want(PhaseListening)
	}
	variants("asked", asked)
	add("asked twice about what cannot be undone, words awaited", awaited(generating().
		do(SpeechBuffered{0, 1}, SpeechDrained{0, 1}, TimerFired{TimerApproval, 1}, SpeechBuffered{0, 2}, SpeechDrained{0, 2}).want(PhaseListening)))
	held := func(d *drive) *drive { // asks again while words are awaited
		return d.do(SpeechStarted{1, 60, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 60, Pos: 9}, SpeechStarted{1, 61, 20, 0}, RecognitionLost{1, 60, CodeRecognitionFailed}, SpeechStopped{Epoch: 1, Utterance: 61, Pos: 29},
			SpeechBuffered{0, d.s.IDs.Segment}).want(PhaseListening)
	}
	add("asked again, held", held(asked()))
	add("asked again, held, by hand", held(configured(t, func(c *Config) { c.Turns = turn.Manual }).
		do(UserText{Utterance: 1, Words: 1}, CopilotSent{Request: 1, Attempt: 1}, CopilotSegment{Request: 1, End: 20},
			CopilotToolCall{Request: 1, ToolCall: 7}, SpeechBuffered{0, 1}, CopilotDone{Request: 1}, SpeechDrained{0, 2})))
	add("explaining, held", newDrive(t).toListening().ask(1).do(CopilotDone{Request: 1, Code: CodeCopilotFailed}, Suspend{Reason: SuspendUser},
		SpeechStarted{1, 60, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 60, Pos: 9}, Resume{Reason: SuspendUser}, SpeechBuffered{1, 2}).want(PhaseListening))
	decidingCorpus(t, add)
	add("asked by a voice that broke, words awaited", awaited(asking().do(SpeechFailed{Gen: 0, Seq: 2}).want(PhaseListening)))
	add("asked, queue", asking().do(UserText{Utterance: 2, Words: 1}, SpeechDrained{0, 2}))
	add("asked again", asked().do(TimerFired{TimerApproval, 1}).want(PhaseListening))
	variants("asked twice", func() *drive {
		return asked().do(TimerFired{TimerApproval, 1}, SpeechBuffered{0, 3}, SpeechDrained{0, 3}).want(PhaseListening)
	})
	manual := func() *drive {
		d := configured(t, func(c *Config) { c.Turns, c.RoundsMax = turn.Manual, 1 })
		return d.do(UserText{Utterance: 1, Words: 1}, CopilotSent{Request: 1, Attempt: 1}, CopilotSegment{Request: 1, End: 20},
			CopilotToolCall{Request: 1, ToolCall: 7}, SpeechBuffered{0, 1}, CopilotDone{Request: 1}, SpeechDrained{0, 2}).want(PhaseListening)
	}
	add("asked, by hand", talking(manual()))
	add("said yes by hand, words awaited", awaited(manual().do(SpeechStarted{1, 71, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 71, Pos: 9}, Final{Epoch: 1, Utterance: 71, Class: Yes, Words: 1})))
	add("asked, by hand, drafts", awaited(manual()).do(Final{Epoch: 1, Utterance: 50, Words: 2}).want(PhaseListening))
	add("asked, by hand, drafts, user speaks", awaited(manual()).do(Final{Epoch: 1, Utterance: 50, Words: 2}, SpeechStarted{1, 51, 0, 0}).want(PhaseListening))

	callingCorpus(t, add, asked, searching)
}

// decidingCorpus adds the states after a yes that the user may take back.
func decidingCorpus(t *testing.T, add func(string, *drive) *drive) {
	talking := func(d *drive) *drive { return d.do(SpeechStarted{1, 50, 500, 0}) }
	awaited := func(d *drive) *drive { return talking(d).do(SpeechStopped{Epoch: 1, Utterance: 50, Pos: 900}) }
	variants := func(name string, make func() *drive) {
		add(name, make())
		add(name+", user speaks", talking(make()))
		add(name+", words awaited", awaited(make()))
	}
	deciding := func(call CopilotToolCall, yes Final, fails bool) *drive {
		d := withTools(t).do(call, CopilotDone{Request: 1}, SpeechBuffered{0, 1}, SpeechDrained{0, 1}).want(PhaseListening)
		if fails { // the question is asked again
			d.do(SpeechStarted{1, 70, 0, 0}, RecognitionLost{1, 70, CodeRecognitionFailed}, SpeechBuffered{0, 2}, SpeechDrained{0, 2}).want(PhaseListening)
		}
		yes.Epoch, yes.Utterance, yes.Class, yes.Words = 1, 71, Yes, 1
		return d.do(SpeechStarted{1, 71, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 71, Pos: 9}, yes)
	}
	effects := CopilotToolCall{Request: 1, ToolCall: 7}
	variants("said yes", func() *drive { return deciding(effects, Final{}, false) })
	variants("said yes when asked twice", func() *drive { return deciding(effects, Final{}, true) })
	reads := func() *drive {
		d := withTools(t).do(CopilotToolCall{Request: 1, ToolCall: 7, Reads: true}, CopilotDone{Request: 1}, SpeechBuffered{0, 1}, SpeechDrained{0, 1})
		return d.do(SpeechStarted{1, 71, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 71, Pos: 9})
	}
	add("answers a question about reading", reads())
	add("said yes to reading, words awaited", reads().do(SpeechStarted{1, 72, 20, 0}, Final{Epoch: 1, Utterance: 71, Class: Yes, Words: 1}, SpeechStopped{Epoch: 1, Utterance: 72, Pos: 29}))
	add("asked about what cannot be undone, words awaited", awaited(withTools(t).do(CopilotToolCall{Request: 1, ToolCall: 7, Destructive: true}, CopilotDone{Request: 1},
		SpeechBuffered{0, 1}, SpeechDrained{0, 1}).want(PhaseListening)))
}

// callingCorpus adds the states from a running call on, and those of models.
func callingCorpus(t *testing.T, add func(string, *drive) *drive, asked, searching func() *drive) {
	variants := func(name string, make func() *drive) {
		add(name, make())
		add(name+", user speaks", make().do(SpeechStarted{1, 50, 500, 0}))
		add(name+", words awaited", make().do(SpeechStarted{1, 50, 500, 0}, SpeechStopped{Epoch: 1, Utterance: 50, Pos: 900}))
	}
	calling := func() *drive {
		return asked().do(UserApprove{ToolCall: 7, Approved: true}).want(PhaseGeneratingResponse)
	}
	variants("calling", calling)
	add("calling, stopped", calling().do(UserInterrupt{}).want(PhaseListening))
	add("calling, stopped, another waits", calling().do(UserInterrupt{}, UserText{Utterance: 2, Words: 1}).want(PhaseAnalysing))
	fails := SessionFailed{1, CodeSessionFailed}
	recover := []Event{UserStart{}, SessionReady{2}, AudioPrimed{2}}
	add("calling, preparing again", calling().do(fails).do(recover...).want(PhasePreparing))
	add("searching, preparing again", searching().do(fails).do(recover...).want(PhasePreparing))
	add("searching, stopped, reading aloud", searching().do(UserInterrupt{}, UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 1}).want(PhaseSpeaking))
	add("searching, stopped, reading aloud, interrupted", searching().
		do(UserInterrupt{}, UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 1}, SpeechStarted{1, 2, 0, 0}).want(PhaseInterrupted))
	add("calling, stopped, another awaited", calling().do(UserInterrupt{}, SpeechStarted{1, 2, 0, 0}, UserCommit{}).want(PhaseAnalysing))
	add("searching, stopped, another awaited", searching().do(UserInterrupt{}, SpeechStarted{1, 2, 0, 0}, UserCommit{}).want(PhaseAnalysing))
	add("calling, stopped, suspended", calling().do(UserInterrupt{}, Suspend{Reason: SuspendUser}))
	add("calling, stopped, reading aloud", calling().do(UserInterrupt{}, UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 3}).want(PhaseSpeaking))
	add("call failed", calling().do(ToolDone{ToolCall: 7, Code: CodeToolFailed}).want(PhaseListening))
	variants("searching again", func() *drive { return calling().do(ToolDone{ToolCall: 7}) })
	again := func() *drive {
		return calling().do(ToolDone{ToolCall: 7}, ToolSearchDone{Request: 1, Round: 1, Tools: 1})
	}
	variants("second round", again)
	add("second round, speaking", again().do(CopilotSegment{Request: 1, Round: 1, Start: 20, End: 30}, SpeechBuffered{0, 3}).want(PhaseSpeaking))
	add("last round asked", again().do(CopilotToolCall{Request: 1, Round: 1, ToolCall: 9}, CopilotDone{Request: 1, Round: 1}))

	loading := func() *drive { return newDrive(t).toListening().do(UserSelectModel{Model: 3}).want(PhaseListening) }
	add("loading", loading())
	variants("loading, an utterance waits", func() *drive { return loading().ask(1) })
	add("loading, reading aloud, interrupted", loading().do(UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 1}, SpeechStarted{1, 2, 0, 0}).want(PhaseInterrupted))
	add("no model", loading().do(ModelFailed{Load: 1}))
	add("loading, ended", loading().do(UserStop{}).want(PhaseTerminating))
}

// voiceCorpus adds the turn detection modes, a history that is compacted, and a
// connection with a successor.
func voiceCorpus(t *testing.T, add func(string, *drive) *drive) {
	manual := func() *drive { return configured(t, func(c *Config) { c.Turns = turn.Manual }) }
	add("by hand, user speaks", manual().do(SpeechStarted{1, 1, 0, 0}))
	said := func() *drive {
		return manual().do(SpeechStarted{1, 1, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 1, Pos: 9}, Final{Epoch: 1, Utterance: 1, Words: 2}).want(PhaseListening)
	}
	add("by hand, said", said())
	add("by hand, said, more awaited", said().do(SpeechStarted{1, 2, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 2, Pos: 9}))
	add("by hand, committed", said().do(SpeechStarted{1, 2, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 2, Pos: 9}, UserCommit{}).want(PhaseAnalysing))
	add("by hand, two committed", manual().do(SpeechStarted{1, 1, 0, 0}, SpeechStopped{Epoch: 1, Utterance: 1, Pos: 9}, SpeechStarted{1, 2, 0, 0}, UserCommit{}).want(PhaseAnalysing))
	for _, m := range []turn.Mode{turn.Semantic, turn.Server} {
		l := func() *drive { return configured(t, func(c *Config) { c.Turns = m }) }
		add("pausing", l().do(SpeechStarted{1, 1, 0, 0}, SpeechPaused{1, 1, 9}))
		add("pausing, preparing an answer", l().ask(1).do(SpeechStarted{1, 2, 0, 0}, SpeechPaused{1, 2, 9}))
		add("pausing, interrupted", l().toSpeaking(1).do(SpeechStarted{1, 2, 0, 0}, SpeechPaused{1, 2, 480000}).want(PhaseInterrupted))
		add("pausing, speaking since a suspension", l().toSpeaking(1).
			do(Suspend{Reason: SuspendUser}, SpeechStarted{1, 2, 0, 0}, SpeechPaused{1, 2, 9}, Resume{Reason: SuspendUser}).want(PhaseSpeaking))
	}

	renewing := map[string]*drive{
		"listening": newDrive(t).toListening(), "user speaks": newDrive(t).toListening().do(SpeechStarted{1, 9, 0, 0}),
		"analysing": newDrive(t).toListening().ask(1), "speaking": newDrive(t).toListening().toSpeaking(1),
		"interrupted": newDrive(t).toListening().toSpeaking(1).do(SpeechStarted{1, 9, 0, 0}), "suspended": newDrive(t).toListening().do(Suspend{Reason: SuspendUser}),
	}
	for name, d := range renewing {
		add(name+", successor dialled", d.do(SessionExpiring{1}))
		c := *d
		add(name+", successor ready", (&c).do(ConnReady{2}))
	}
	preparing := newDrive(t).do(UserStart{}, SessionReady{1}, AudioPrimed{1}, ConnReady{1}, Suspend{Reason: SuspendUser}, SessionExpiring{1}, Resume{Reason: SuspendUser})
	add("preparing, successor dialled", preparing.want(PhasePreparing))
	late := *preparing
	add("preparing, successor late", (&late).do(TimerFired{TimerRenewal, 2}).want(PhasePreparing))
	swapped := func() *drive {
		return newDrive(t).toListening().do(SessionExpiring{1}, ConnReady{2}, UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 1}).want(PhaseSpeaking)
	}
	add("speaking, connection replaced", swapped())
	add("interrupted, connection replaced", swapped().do(SpeechStarted{2, 2, 0, 0}).want(PhaseInterrupted))
	add("suspended, pausing", newDrive(t).toListening().do(Suspend{Reason: SuspendUser}, SpeechStarted{1, 2, 0, 0}, SpeechPaused{1, 2, 9}))

	compacting := func() *drive {
		d := configured(t, func(c *Config) { c.HistoryMax, c.HistoryKeep = 1, 1 })
		return d.toSpeaking(1).do(CopilotDone{Request: 1}, SpeechDrained{0, 1}).want(PhaseListening)
	}
	add("compacting", compacting())
	add("compacting, speaking", compacting().do(UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 2}).want(PhaseSpeaking))
	add("compacting, interrupted", compacting().do(UserSpeak{Ref: 1, Chars: 5}, SpeechBuffered{0, 2}, UserInterrupt{}).want(PhaseInterrupted))
	add("compacting, preparing again", compacting().do(SessionFailed{1, CodeSessionFailed}, UserStart{}, SessionReady{2}, AudioPrimed{2}).want(PhasePreparing))
	add("compacting, ended", compacting().do(UserStop{}).want(PhaseTerminating))
}

// assistantEvents are the events about tools and models that are live in s.
func assistantEvents(s State, req, fresh uint64) []Event {
	live, _ := copilot.LiveOf(s.Copilot)
	round := live.Round
	call := fresh
	if len(live.Calls) > 0 {
		call = live.Calls[0].ID
	}
	return []Event{
		UserApprove{7, call, true}, UserApprove{7, call, false}, UserSelectModel{7, s.Model.Wanted + 1}, UserSelectModel{7, s.Model.Wanted},
		UserRetry{Call: 7, ToolCall: fresh}, UserRetry{Call: 7, Stage: copilot.StageSearch},
		ModelProgress{s.IDs.Load, 50}, ModelLoaded{s.IDs.Load}, ModelFailed{s.IDs.Load, CodeModelFailed}, Summarised{Job: s.IDs.Job}, Summarised{s.IDs.Job, CodeInternalError},
		ToolSearchDone{Request: req, Round: round, Tools: 1}, ToolSearchDone{Request: req, Round: round, Code: CodeToolSearchFailed}, ToolSearchDone{Request: req, Round: round, Cancelled: true},
		ToolDone{ToolCall: call}, ToolDone{ToolCall: call, Code: CodeToolFailed}, ToolDone{ToolCall: call, Cancelled: true},
		CopilotToolCall{Request: req, Round: round, ToolCall: fresh}, CopilotSent{Request: req, Round: round, Attempt: 2},
		CopilotDelta{Request: req, Round: round, Chars: 9}, CopilotSegment{Request: req, Round: round, Start: 100, End: 110},
		CopilotDone{Request: req, Round: round}, CopilotDone{Request: req, Round: round, Code: CodeCopilotFailed},
	}
}
