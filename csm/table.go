package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Row is one line of the table that is the authority for the conversation: it
// configures the state machine, and diagrams and tests are made from it. Of the
// rows with the same From and On at most one with a guard holds, and one without is taken
// where none does; the rows of a superstate serve where none of what is inside of it does.
type Row struct {
	From  Phase
	On    Kind
	Guard Guard
	To    Phase // From itself: internal, the phase is neither left nor entered
	Cause Cause // empty for internal rows
	do    func(*run)
}

// Internal says whether the row keeps the phase.
func (r Row) Internal() bool { return r.From == r.To }

// Guard is a named condition on a step. The zero Guard always holds.
type Guard struct {
	Name  string
	holds func(*run) bool
}

// Table returns a copy of the rows, in their order.
func Table() []Row {
	var t []Row
	for _, part := range [][]Row{
		idleRows(), preparingRows(), listeningRows(), analysingRows(),
		generatingRows(), processingRows(), speakingRows(), interruptedRows(),
		connectedRows(), holdRows(), conversationRows(), faultedRows(), terminatingRows(), anyRows(), approvalRows(),
	} {
		t = append(t, part...)
	}
	for i := range t {
		if t[i].do == nil {
			t[i].do = func(*run) {}
		}
	}
	return t
}

// keep is an internal row.
func keep(p Phase, on Kind, g Guard, do func(*run)) Row {
	return Row{From: p, On: on, Guard: g, To: p, do: do}
}

func idleRows() []Row {
	const p = PhaseIdle
	starting := Guard{"starting", func(r *run) bool { return r.st.Conv.(Idle).Starting }}
	return []Row{
		keep(p, KindUserStart, starting, refuseWith(CodeConversationActive)),
		keep(p, KindUserStart, Guard{}, func(r *run) { r.st.Conv = Idle{Starting: true}; r.begin() }),
		{p, KindUserStop, starting, PhaseTerminating, CauseUserStop, (*run).terminate},
		{p, KindSessionReady, primed, PhasePreparing, CauseSessionReady, (*run).prepare},
		keep(p, KindSessionReady, Guard{}, nil),
		{p, KindAudioPrimed, primed, PhasePreparing, CauseSessionReady, (*run).prepare},
		keep(p, KindAudioPrimed, Guard{}, nil),
		{p, KindSessionFailed, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		{p, KindAudioFailed, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		{p, KindAudioLost, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		{p, Passed(TimerStart), Guard{}, PhaseFaulted, CauseError, (*run).fault},
	}
}

func preparingRows() []Row {
	const p = PhasePreparing
	return []Row{
		{p, KindAudioReady, recognising, PhaseListening, CauseAudioReady, (*run).listen},
		keep(p, KindAudioReady, Guard{}, nil),
		{p, KindConnReady, recognising, PhaseListening, CauseAudioReady, (*run).listen},
		keep(p, KindConnReady, Guard{}, nil),
		{p, KindConnLost, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		{p, KindConnFailed, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		{p, Passed(TimerPrepare), Guard{}, PhaseFaulted, CauseError, (*run).fault},
	}
}

// listeningRows also serve while the rest of an answer is held that the user spoke
// over: what the user says instead drops it (stopSpeech), and anything else lets it
// go on.
func listeningRows() []Row {
	const p = PhaseListening
	gathered := Guard{"something said and not sent", (*run).gathered}
	said := Guard{"all of the turn was said", func(r *run) bool {
		cur := r.st.Current
		_, open := speech.LineOf(r.st.Speech)
		live, busy := copilot.LiveOf(r.st.Copilot)
		return !open && (cur.Role == Assistant || cur.Failed != "") && (!busy || live.Cancelled)
	}}
	goesOn := Guard{"an answer is paused, and the user is silent", func(r *run) bool {
		return r.st.cutIn() && !userHasFloor.holds(r) && !r.st.held()
	}}
	return []Row{
		keep(p, KindSpeechBuffered, Guard{}, nil),
		keep(p, KindSpeechStarted, Guard{}, (*run).onset),
		{p, VoiceRetracted, Guard{}, PhaseSpeaking, CauseInterruptRetract, nil},
		{p, FinalContent, Guard{}, PhaseAnalysing, CauseSTTFinal, (*run).takeFinal},
		keep(p, FinalDraft, Guard{}, (*run).gatherFinal),
		{p, FinalSend, gathered, PhaseAnalysing, CauseUserCommit, (*run).takeGathered},
		keep(p, FinalSend, Guard{}, (*run).dismiss),
		keep(p, FinalNothing, Guard{}, (*run).dismiss),
		keep(p, FinalStop, Guard{}, func(r *run) { r.stopByWord(); r.dismiss() }),
		{p, KindUserCommit, userHasFloor, PhaseAnalysing, CauseUserCommit, (*run).commit},
		{p, KindUserCommit, and(userSilent, gathered), PhaseAnalysing, CauseUserCommit, (*run).takeGathered},
		{p, KindUserText, Guard{}, PhaseAnalysing, CauseUserCommit, (*run).takeText},
		{p, KindUserRetry, and(retryable, callAgain), PhaseGeneratingResponse, CauseUserCommit, (*run).takeCallAgain},
		{p, KindUserRetry, and(retryable, not(callAgain)), PhaseAnalysing, CauseUserCommit, (*run).takeRetry},
		keep(p, KindUserRetry, Guard{}, refuseWith(CodeNothingToRetry)),
		keep(p, KindUserSpeak, free, (*run).readAloud),
		{p, KindQueueNext, queued, PhaseAnalysing, CauseQueueNext, (*run).takeQueued},
		keep(p, KindUserInterrupt, Guard{}, (*run).stopByWord),
		{p, KindSettled, goesOn, PhaseSpeaking, CauseInterruptRetract, nil},
		keep(p, KindSettled, said, func(r *run) { r.finish(r.endOf()); r.listen() }),
		{p, KindSettled, cutLost, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
	}
}

func analysingRows() []Row {
	const p = PhaseAnalysing
	awaiting := Guard{"awaiting words", func(r *run) bool { return r.st.Conv.(Analysing).Awaiting }}
	unsent := Guard{"an utterance waits to be sent", func(r *run) bool { return r.st.Conv.(Analysing).Unsent != 0 }}
	sendable := Guard{"an utterance may be sent", func(r *run) bool {
		_, ready := r.st.Copilot.(copilot.Ready)
		return r.st.Conv.(Analysing).Unsent != 0 && ready && !r.st.held()
	}}
	lastWords := Guard{"no more words are coming", func(r *run) bool {
		return r.st.Conv.(Analysing).Awaiting && len(turn.Pending(r.st.Turn)) == 0
	}}
	some := Guard{"words of the turn are here", func(r *run) bool { return r.st.Current.Utterance != 0 }}
	failed := and(not(some), Guard{"which is being explained", func(r *run) bool { return r.st.Current.Failed != "" }})
	none := and(not(some), Guard{"which is not being explained", func(r *run) bool { return r.st.Current.Failed == "" }})
	modelBroke := func(r *run) { r.modelNews(); r.explain(r.modelCode()) }
	return []Row{
		keep(p, FinalContent, awaiting, func(r *run) { r.gather(r.env.Event.(Final).Utterance) }),
		{p, KindCopilotSent, Guard{}, PhaseWaitingForCopilot, CauseCopilotRequest, (*run).attempt},
		{p, KindModelFailed, unsent, PhaseListening, CauseError, modelBroke},
		{p, Passed(TimerModel), unsent, PhaseListening, CauseError, modelBroke},
		keep(p, KindSettled, and(lastWords, some), (*run).takeGathered),
		{p, KindSettled, and(lastWords, failed), PhaseListening, CauseError, nil},
		{p, KindSettled, and(lastWords, none), PhaseListening, CauseSTTFinal, (*run).dismiss},
		keep(p, KindSettled, sendable, (*run).sendUnsent),
	}
}

func generatingRows() []Row {
	const p = PhaseGeneratingResponse
	finished := Guard{"all of it heard", func(r *run) bool {
		l, open := speech.LineOf(r.st.Speech)
		return open && l.Played == len(l.Segments) || !open && r.laterRound()
	}}
	over := Guard{"nothing more is coming", func(r *run) bool {
		live, _ := copilot.LiveOf(r.st.Copilot)
		_, open := speech.LineOf(r.st.Speech)
		return !open && (live.Request == 0 || live.Cancelled)
	}}
	gaveUp := Guard{"tools were called too often", func(r *run) bool { return r.st.Current.Failed == CodeToolRounds }}
	return []Row{
		keep(p, KindSpeechBuffered, Guard{}, nil),
		keep(p, ToolNext, Guard{}, (*run).proceed),
		{p, ToolBroke, Guard{}, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(toolCode(r)) }},
		{p, Passed(TimerTool), Guard{}, PhaseListening, CauseCopilotTimeout, func(r *run) { r.explain(toolCode(r)) }},
		{p, KindSettled, gaveUp, PhaseListening, CauseCopilotFailed, nil},
		{p, AnswerWhole, finished, PhaseListening, CauseTTSComplete, func(r *run) { r.endLine(); r.finish(Answered); r.listen() }},
		{p, KindSettled, over, PhaseListening, CauseTTSComplete, func(r *run) { r.finish(r.endOf()); r.listen() }},
	}
}

// processingRows serve all three substates: an answer of which nothing is to be heard
// at the moment.
func processingRows() []Row {
	const p = PhaseProcessing
	empty := Guard{"nothing was said", func(r *run) bool {
		_, open := speech.LineOf(r.st.Speech)
		return !open && !r.laterRound()
	}}
	silent := Guard{"nothing is left to be heard", func(r *run) bool {
		l, _ := speech.LineOf(r.st.Speech)
		return l.Played == len(l.Segments)
	}}
	return []Row{
		{p, FinalStop, Guard{}, PhaseListening, CauseUserInterrupt, (*run).drop},
		{p, KindUserInterrupt, Guard{}, PhaseListening, CauseUserInterrupt, (*run).drop},
		keep(p, KindCopilotSent, Guard{}, (*run).attempt),
		keep(p, ToolsFound, Guard{}, (*run).handOver),
		{p, AnswerBegins, Guard{}, PhaseGeneratingResponse, CauseCopilotResponse, (*run).beginAnswer},
		{p, KindCopilotToolCall, Guard{}, PhaseGeneratingResponse, CauseToolCall, (*run).wants},
		{p, AnswerWhole, empty, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(doneCode(r)) }},
		{p, AnswerBroke, silent, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(doneCode(r)) }},
		{p, SearchBroke, Guard{}, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(toolCode(r)) }},
		{p, Passed(TimerSearch), Guard{}, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(toolCode(r)) }},
		{p, Passed(TimerResponse), Guard{}, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(CodeCopilotTimeout) }},
		{p, Passed(TimerStall), silent, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(CodeCopilotStalled) }},
	}
}

func speakingRows() []Row {
	const p = PhaseSpeaking
	return []Row{
		{p, KindSpeechStarted, confirmed, PhaseInterrupted, CauseUserInterrupt, (*run).pauseForBargeIn},
		{p, KindSpeechResumed, confirmed, PhaseInterrupted, CauseUserInterrupt, (*run).pauseForBargeIn},
		keep(p, KindSpeechStarted, deaf, nil),
		{p, KindSpeechStarted, Guard{}, PhaseInterrupted, CauseUserInterrupt, (*run).interrupt},
		{p, PartialCounts, byWords, PhaseInterrupted, CauseUserInterrupt, (*run).interrupt},
		{p, FinalContent, byWords, PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.interrupt(); r.enqueueFinal() }},
		{p, FinalStop, not(never), PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.clearQueue(); r.interrupt() }},
		{p, KindUserInterrupt, Guard{}, PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.clearQueue(); r.interrupt() }},
		{p, KindSettled, audioLost, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
	}
}

// interruptedRows are a pause while it is in doubt whether the user means it, and a
// flush whose end is awaited.
func interruptedRows() []Row {
	const p = PhaseInterrupted
	return []Row{
		{p, KindSpeechFlushed, Guard{}, PhaseListening, CauseInterruptCleared, (*run).cleared},
		{p, Passed(TimerInterrupt), Guard{}, PhaseListening, CauseInterruptCleared, (*run).cleared},
		{p, VoiceRetracted, Guard{}, PhaseSpeaking, CauseInterruptRetract, nil},
		{p, KindSpeechStopped, doubtful, PhaseListening, CauseInterruptCleared, (*run).yieldFloor},
		{p, PartialCounts, doubtful, PhaseListening, CauseInterruptCleared, (*run).yieldFloor},
		{p, Passed(TimerConfirm), Guard{}, PhaseListening, CauseInterruptCleared, (*run).yieldFloor},
		{p, FinalStop, doubtful, PhaseListening, CauseInterruptCleared, (*run).stopOver},
		{p, FinalContent, doubtful, PhaseListening, CauseInterruptCleared, (*run).takeOver},
		keep(p, KindUserInterrupt, doubtful, func(r *run) { r.clearQueue(); r.interrupt() }),
		keep(p, KindUserInterrupt, Guard{}, (*run).clearQueue),
		{p, KindSettled, and(doubtful, userSilent), PhaseSpeaking, CauseInterruptRetract, nil},
		{p, KindSettled, and(not(doubtful), heldStill), PhaseListening, CauseInterruptCleared, (*run).cleared},
	}
}

// connectedRows are what means the same in all phases with a connection, unless one of
// them has a row of its own: the user's voice, an answer that comes, and what is heard
// of it.
func connectedRows() []Row {
	const p = PhaseConnected
	return []Row{
		// The user's voice, and what waits until it is answered.
		keep(p, KindSpeechStarted, Guard{}, nil),
		keep(p, KindSpeechPaused, Guard{}, nil),
		keep(p, KindSpeechResumed, Guard{}, nil),
		keep(p, KindSpeechStopped, Guard{}, nil),
		keep(p, KindPartial, Guard{}, nil),
		keep(p, PartialCounts, Guard{}, nil),
		keep(p, FinalContent, Guard{}, (*run).enqueueFinal),
		keep(p, FinalSend, Guard{}, (*run).enqueueDrafts),
		keep(p, FinalStop, Guard{}, nil),
		keep(p, FinalNothing, Guard{}, nil),
		keep(p, KindUserText, Guard{}, (*run).enqueueText),
		keep(p, KindUserCommit, floorOrDrafts, (*run).commitBehind),
		keep(p, KindRecognitionLost, Guard{}, (*run).wordsLost),
		keep(p, Passed(TimerFinal), Guard{}, func(r *run) { r.forgetPending(); r.wordsLost() }),
		keep(p, Passed(TimerUtterance), Guard{}, (*run).endUtterance),
		keep(p, Passed(TimerPause), Guard{}, (*run).endUtterance),

		// The answer.
		keep(p, KindCopilotDelta, Guard{}, (*run).progress),
		keep(p, KindCopilotSegment, Guard{}, (*run).segment),
		keep(p, KindCopilotToolCall, Guard{}, (*run).wants),
		keep(p, AnswerWhole, Guard{}, (*run).endLine),
		keep(p, AnswerBroke, Guard{}, func(r *run) { r.explainAfter(doneCode(r)) }),
		keep(p, Passed(TimerStall), Guard{}, func(r *run) { r.cancel(); r.explainAfter(CodeCopilotStalled) }),
		{p, ApprovalDecided, Guard{}, PhaseGeneratingResponse, CauseToolApproval, nil},
		{p, ApprovalListens, Guard{}, PhaseListening, CauseToolApproval, (*run).listen},
		{p, KindUserRetry, explaining, PhaseListening, CauseUserCommit, (*run).retryAfter},

		// What is heard of it.
		keep(p, VoicePause, hasPlayback, func(r *run) { r.st.VoicePaused = true }),
		keep(p, VoiceContinue, hasPlayback, func(r *run) { r.st.VoicePaused = false }),
		keep(p, KindSpeechPlayed, Guard{}, nil),
		{p, KindSpeechDrained, Guard{}, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
		{p, LineHeard, Guard{}, PhaseListening, CauseTTSComplete, func(r *run) { r.finish(r.endOf()); r.listen() }},
		{p, KindSpeechFailed, Guard{}, PhaseListening, CauseError, (*run).speechBroke},
		{p, Passed(TimerSpeech), Guard{}, PhaseListening, CauseError, (*run).speechBroke},
		{p, KindSettled, released, PhaseSpeaking, CauseTTSBufferReady, (*run).start},

		// The connection.
		keep(p, SuccessorGone, Guard{}, nil),
		{p, KindConnFailed, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		keep(p, KindSessionExpiring, renewable, (*run).succeed),
	}
}

// conversationRows are the ways out of a conversation, and what is the same in all
// of it.
func conversationRows() []Row {
	const p = PhaseConversation
	return []Row{
		keep(p, KindUserStart, Guard{}, refuseWith(CodeConversationActive)),
		{p, KindUserStop, Guard{}, PhaseTerminating, CauseUserStop, (*run).terminate},
		{p, KindSessionFailed, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		{p, KindAudioFailed, Guard{}, PhaseFaulted, CauseError, (*run).fault},
		keep(p, KindConnClosed, Guard{}, nil), // of a connection that was replaced
		keep(p, KindModelProgress, Guard{}, (*run).modelNews),
		keep(p, KindModelLoaded, Guard{}, (*run).modelNews),
		keep(p, KindModelFailed, Guard{}, (*run).modelNews),
		keep(p, Passed(TimerModel), Guard{}, (*run).modelNews),
		keep(p, KindSummarised, Guard{}, nil),
		keep(p, Passed(TimerSummary), Guard{}, nil),
	}
}

func faultedRows() []Row {
	const p = PhaseFaulted
	recovering := Guard{"recovering", func(r *run) bool { return r.st.Conv.(Faulted).Recovering }}
	recoverable := Guard{"recoverable", func(r *run) bool { f := r.st.Conv.(Faulted); return !f.Fatal && !f.Recovering }}
	byUser := Guard{"by the user", func(r *run) bool { return reasonOf(r.env.Event)&SuspendUser != 0 }}
	return []Row{
		keep(p, Passed(TimerFault), Guard{}, (*run).recover),
		keep(p, KindSuspend, and(byUser, recoverable), func(r *run) { r.st.Hold = SuspendUser }),
		keep(p, KindResume, and(byUser, recoverable), (*run).unhold),
		keep(p, KindUserStart, recoverable, (*run).recover),
		keep(p, KindUserStart, recovering, nil),
		{p, KindSessionReady, primed, PhasePreparing, CauseSessionReady, (*run).prepare},
		keep(p, KindSessionReady, Guard{}, nil),
		{p, KindAudioPrimed, primed, PhasePreparing, CauseSessionReady, (*run).prepare},
		keep(p, KindAudioPrimed, Guard{}, nil),
		keep(p, KindSessionFailed, Guard{}, (*run).fault),
		keep(p, KindAudioFailed, Guard{}, (*run).fault),
		keep(p, KindAudioLost, Guard{}, (*run).fault),
		keep(p, Passed(TimerStart), Guard{}, (*run).fault),
		{p, KindFatal, Guard{}, PhaseTerminating, CauseFatal, (*run).terminate},
		{p, KindUserStop, Guard{}, PhaseTerminating, CauseUserStop, (*run).terminate},
		keep(p, KindSessionClosed, Guard{}, nil),
		keep(p, KindAudioClosed, Guard{}, nil),
		keep(p, KindConnClosed, Guard{}, nil),
	}
}

func terminatingRows() []Row {
	const p = PhaseTerminating
	rows := []Row{
		{p, KindReset, Guard{}, PhaseIdle, CauseReset, (*run).reset},
		{p, Passed(TimerTerminate), Guard{}, PhaseIdle, CauseReset, (*run).reset},
		keep(p, Passed(TimerCancel), Guard{}, (*run).closed),
		keep(p, Passed(TimerTool), Guard{}, (*run).closed),
	}
	for _, on := range []Kind{KindSessionClosed, KindAudioClosed, KindConnClosed, KindCopilotDone, KindToolSearchDone, KindToolDone} {
		rows = append(rows, keep(p, on, Guard{}, (*run).closed))
	}
	return rows
}

// anyRows are what means the same wherever it is met: configuration, and answers
// that only the region they are about has to know. What was cancelled outlives a
// fault.
func anyRows() []Row {
	const p = PhaseAny
	return []Row{
		keep(p, KindConfigure, Guard{}, func(r *run) { c := r.env.Event.(Configure).Config; r.st.Config = &c }),
		keep(p, KindUserSelectModel, Guard{}, (*run).selectModel),
		keep(p, Passed(TimerCancel), Guard{}, nil),
		keep(p, Passed(TimerTool), Guard{}, nil),
		keep(p, KindCopilotDone, Guard{}, nil),
		keep(p, KindToolSearchDone, Guard{}, nil),
		keep(p, KindToolDone, Guard{}, nil),
	}
}

// The guards that more than one phase uses.
var (
	primed = Guard{"session ready and devices open", func(r *run) bool {
		return r.st.Resources.Session == Opened && r.st.Resources.Audio == Opened
	}}
	recognising   = Guard{"capture runs and recognition is ready", (*run).recognising}
	renewable     = Guard{"connection to be replaced", (*run).renewable}
	floorOrDrafts = Guard{"an utterance is open, awaited or not sent", func(r *run) bool {
		_, quiet := r.st.Turn.(turn.Idle)
		return !quiet || len(r.st.Drafts) > 0
	}}
	userHasFloor = Guard{"an utterance is open or awaited", func(r *run) bool {
		_, quiet := r.st.Turn.(turn.Idle)
		return !quiet
	}}
	userSilent  = Guard{"the user is silent", func(r *run) bool { return !userHasFloor.holds(r) }}
	heldStill   = Guard{"held still", func(r *run) bool { return r.st.held() }}
	hasPlayback = Guard{"something to be heard", func(r *run) bool { return r.st.HasPlayback() }}
	retryable   = Guard{"what is to be tried again failed", func(r *run) bool {
		stage := r.env.Event.(UserRetry).Stage
		return r.st.Retry.Utterance != 0 && !r.st.cutIn() && !r.approving() && !r.gathered() && (stage == copilot.StageNone || stage == r.st.Retry.Stage)
	}}
	explaining = and(Guard{"a failure is being explained", func(r *run) bool {
		_, open := speech.LineOf(r.st.Speech)
		return open && r.st.Current.Failed != ""
	}}, retryable)
	// A call is tried again as another call, and only where nothing runs.
	callAgain = Guard{"a call of a tool failed", func(r *run) bool {
		_, ready := r.st.Copilot.(copilot.Ready)
		return ready && r.st.Retry.Stage == copilot.StageCall && r.env.Event.(UserRetry).ToolCall != 0 && len(r.st.Queue) == 0
	}}
	free   = Guard{"nobody speaks", func(r *run) bool { return r.st.Current.ID == 0 }}
	queued = Guard{"an utterance waits", func(r *run) bool { return len(r.st.Queue) > 0 && !r.approving() && !r.st.cutIn() }}
	// What is buffered may be heard as soon as the user is silent and nothing holds
	// the conversation.
	released = Guard{"audio is ready, and the user is silent", func(r *run) bool {
		_, ready := r.st.Speech.(speech.Held)
		_, quiet := r.st.Turn.(turn.Idle)
		return ready && quiet && !r.st.held()
	}}
	audioLost = Guard{"its audio is gone", func(r *run) bool {
		switch r.st.Speech.(type) {
		case speech.Closed, speech.Buffering:
			return true
		default:
			return false
		}
	}}
	// The answer went on being spoken over a connection that was lost.
	cutLost = Guard{"an answer goes on that was held", func(r *run) bool {
		live, busy := copilot.LiveOf(r.st.Copilot)
		return busy && !live.Cancelled && !r.approving() && !r.st.cutIn()
	}}
)

// whole says whether the event ends an answer well.
func whole(r *run) bool {
	d := r.env.Event.(CopilotDone)
	return d.Code == "" && !d.Cancelled
}

func and(a, b Guard) Guard {
	return Guard{a.Name + ", " + b.Name, func(r *run) bool { return a.holds(r) && b.holds(r) }}
}

func not(g Guard) Guard {
	return Guard{"not: " + g.Name, func(r *run) bool { return !g.holds(r) }}
}

func refuseWith(c Code) func(*run) { return func(r *run) { r.refused = c } }
