package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Row is one line of the table that is the authority for the conversation: it
// configures the state machine, and diagrams and tests are made from it. Of the
// rows with the same From and On the first whose guard holds is taken; the rows of a
// superstate serve where none of what is inside of it does.
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
		idleRows(), preparingRows(), listeningRows(), analysingRows(), waitingRows(),
		generatingRows(), processingRows(), speakingRows(), interruptedRows(),
		connectedRows(), holdRows(), conversationRows(), faultedRows(), terminatingRows(), anyRows(),
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
		{p, KindTimerFired, timer(TimerStart), PhaseFaulted, CauseError, (*run).fault},
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
		{p, KindTimerFired, timer(TimerPrepare), PhaseFaulted, CauseError, (*run).fault},
	}
}

func listeningRows() []Row {
	const p = PhaseListening
	gathered := Guard{"something said and not sent", (*run).gathered}
	said := Guard{"all of the turn was said", func(r *run) bool {
		cur := r.st.Current
		_, open := speech.LineOf(r.st.Speech)
		live, busy := copilot.LiveOf(r.st.Copilot)
		return !open && (cur.Role == Assistant || cur.Failed != "") && (!busy || live.Cancelled)
	}}
	return append(append(heldRows(), askedRows()...), []Row{
		keep(p, KindSpeechStarted, Guard{}, (*run).onset),
		keep(p, KindFinal, and(draft, content), (*run).gatherFinal),
		{p, KindFinal, content, PhaseAnalysing, CauseSTTFinal, (*run).takeFinal},
		{p, KindFinal, and(sendPhrase, gathered), PhaseAnalysing, CauseUserCommit, (*run).takeGathered},
		keep(p, KindFinal, and(stopWord, gathered), (*run).stopByWord),
		keep(p, KindFinal, Guard{}, (*run).dismiss),
		keep(p, KindTimerFired, timer(TimerSpeech), (*run).speechBroke),
		{p, KindUserCommit, userHasFloor, PhaseAnalysing, CauseUserCommit, (*run).commit},
		{p, KindUserCommit, gathered, PhaseAnalysing, CauseUserCommit, (*run).takeGathered},
		{p, KindUserText, Guard{}, PhaseAnalysing, CauseUserCommit, (*run).takeText},
		{p, KindUserRetry, callAgain, PhaseGeneratingResponse, CauseUserCommit, (*run).takeCallAgain},
		{p, KindUserRetry, retryable, PhaseAnalysing, CauseUserCommit, (*run).takeRetry},
		keep(p, KindUserRetry, Guard{}, refuseWith(CodeNothingToRetry)),
		keep(p, KindUserSpeak, free, (*run).readAloud),
		{p, KindQueueNext, queued, PhaseAnalysing, CauseQueueNext, (*run).takeQueued},
		keep(p, KindUserInterrupt, Guard{}, (*run).stopByWord),
		keep(p, KindSpeechBuffered, Guard{}, nil),
		keep(p, KindSpeechFailed, Guard{}, (*run).speechBroke),
		{p, KindSettled, and(released, cutIn), PhaseSpeaking, CauseInterruptRetract, (*run).release},
		{p, KindSettled, released, PhaseSpeaking, CauseTTSBufferReady, (*run).release},
		keep(p, KindSettled, said, func(r *run) { r.finish(r.endOf()); r.listen() }),
		{p, KindSettled, cutLost, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
	}...)
}

// askedRows are Listening while the user is asked about a tool: the sub-dialogue
// of the same turn. A yes counts only when it began after the question was heard,
// anything else that is said rejects the call, and only that one call is allowed.
func askedRows() []Row {
	const p = PhaseListening
	allowed := Guard{"asked, a yes that counts", (*run).allows}
	consented := Guard{"allowed, and the user says no more", func(r *run) bool {
		w, _ := r.st.Copilot.(copilot.WaitingForApproval)
		return w.Allowed && userSilent.holds(r)
	}}
	again := Guard{"heard, and it may be asked again", (*run).mayAskAgain}
	drafted := Guard{"something drafted", func(r *run) bool { return len(r.st.Drafts) > 0 }}
	return []Row{
		keep(p, KindSpeechStarted, asked, (*run).cut), /* which ends the question, and nothing else */
		keep(p, KindFinal, allowed, (*run).consent),
		{p, KindSettled, consented, PhaseGeneratingResponse, CauseToolApproval, (*run).approve},
		{p, KindFinal, and(asked, no), PhaseGeneratingResponse, CauseToolApproval, func(r *run) { r.cut(); r.reject() }},
		keep(p, KindFinal, and(asked, stopWord), (*run).drop),
		keep(p, KindFinal, and(asked, and(yes, again)), (*run).askAgain),
		keep(p, KindFinal, and(asked, yes), nil),
		keep(p, KindFinal, and(asked, draft), (*run).enqueueFinal),
		{p, KindFinal, and(asked, content), PhaseAnalysing, CauseSTTFinal, func(r *run) { r.replace(); r.takeFinal() }},
		{p, KindFinal, and(asked, and(sendPhrase, drafted)), PhaseAnalysing, CauseUserCommit, (*run).replaceByDrafts},
		keep(p, KindFinal, asked, nil),
		keep(p, KindRecognitionLost, and(asked, again), func(r *run) { r.wordsLost(); r.askAgain() }),
		keep(p, KindTimerFired, and(timer(TimerApproval), again), (*run).askAgain),
		{p, KindTimerFired, timer(TimerApproval), PhaseGeneratingResponse, CauseToolApproval, (*run).rejectUnanswered},
		keep(p, KindTimerFired, and(timer(TimerSpeech), asked), (*run).questionBroke),
		keep(p, KindSpeechFailed, asked, (*run).questionBroke),
		keep(p, KindUserCommit, and(asked, userHasFloor), (*run).commitUtterances),
		{p, KindUserCommit, and(asked, drafted), PhaseAnalysing, CauseUserCommit, (*run).replaceByDrafts},
		{p, KindUserText, asked, PhaseAnalysing, CauseUserCommit, func(r *run) { r.replace(); r.takeText() }},
		keep(p, KindUserInterrupt, asked, (*run).drop),
		{p, KindUserApprove, Guard{}, PhaseGeneratingResponse, CauseToolApproval, (*run).decide},
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
	failed := Guard{"which is being explained", func(r *run) bool { return r.st.Current.Failed != "" }}
	found := Guard{"tools chosen", func(r *run) bool { return r.copilotOut == copilot.Changed }}
	modelBroke := func(r *run) { r.modelNews(); r.explain(CodeModelFailed) }
	return []Row{
		keep(p, KindFinal, and(awaiting, content), func(r *run) { r.gather(r.env.Event.(Final).Utterance) }),
		{p, KindCopilotSent, Guard{}, PhaseWaitingForCopilot, CauseCopilotRequest, (*run).attempt},
		keep(p, KindToolSearchDone, found, (*run).handOver),
		{p, KindModelFailed, unsent, PhaseListening, CauseError, modelBroke},
		{p, KindTimerFired, and(timer(TimerModel), unsent), PhaseListening, CauseError, modelBroke},
		keep(p, KindSettled, and(lastWords, some), (*run).takeGathered),
		{p, KindSettled, and(lastWords, failed), PhaseListening, CauseError, nil},
		{p, KindSettled, lastWords, PhaseListening, CauseSTTFinal, (*run).dismiss},
		keep(p, KindSettled, sendable, (*run).sendUnsent),
	}
}

func waitingRows() []Row {
	const p = PhaseWaitingForCopilot
	return []Row{
		keep(p, KindCopilotSent, Guard{}, (*run).attempt),
		{p, KindCopilotDelta, Guard{}, PhaseGeneratingResponse, CauseCopilotResponse, nil},
		{p, KindCopilotSegment, Guard{}, PhaseGeneratingResponse, CauseCopilotResponse, (*run).segment},
		{p, KindCopilotToolCall, Guard{}, PhaseGeneratingResponse, CauseToolCall, nil},
	}
}

func generatingRows() []Row {
	const p = PhaseGeneratingResponse
	finished := Guard{"answer whole, all of it heard", func(r *run) bool {
		l, open := speech.LineOf(r.st.Speech)
		return whole(r) && (open && l.Played == len(l.Segments) || !open && r.laterRound())
	}}
	unheard := Guard{"more to be heard", func(r *run) bool {
		l, _ := speech.LineOf(r.st.Speech)
		return l.Played < len(l.Segments)
	}}
	over := Guard{"nothing more is coming", func(r *run) bool {
		live, _ := copilot.LiveOf(r.st.Copilot)
		_, open := speech.LineOf(r.st.Speech)
		return !open && (live.Request == 0 || live.Cancelled || r.approving())
	}}
	stalled := timer(TimerStall)
	found := Guard{"tools chosen", func(r *run) bool { return r.copilotOut == copilot.Changed }}
	goesOn := Guard{"the request goes on", func(r *run) bool {
		return r.copilotOut == copilot.Asks || r.copilotOut == copilot.NextRound
	}}
	return []Row{
		keep(p, KindCopilotSent, Guard{}, (*run).attempt), // of a later round
		keep(p, KindCopilotDelta, Guard{}, (*run).progress),
		keep(p, KindCopilotSegment, Guard{}, (*run).segment),
		keep(p, KindCopilotToolCall, Guard{}, (*run).wants),
		keep(p, KindCopilotDone, asks, (*run).ask),
		keep(p, KindToolSearchDone, found, (*run).handOver),
		keep(p, KindToolDone, goesOn, (*run).proceed),
		{p, KindToolDone, Guard{}, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(toolCode(r)) }},
		{p, KindTimerFired, timer(TimerTool), PhaseListening, CauseCopilotTimeout, func(r *run) { r.explain(toolCode(r)) }},
		keep(p, KindUserApprove, Guard{}, (*run).decide),
		{p, KindSpeechFailed, asked, PhaseListening, CauseError, (*run).questionBroke},
		{p, KindTimerFired, and(timer(TimerSpeech), asked), PhaseListening, CauseError, (*run).questionBroke},
		{p, KindCopilotDone, finished, PhaseListening, CauseTTSComplete, func(r *run) { r.endLine(); r.finish(Answered); r.listen() }},
		keep(p, KindCopilotDone, and(wholeAnswer, unheard), (*run).endLine),
		keep(p, KindCopilotDone, and(live, unheard), func(r *run) { r.explainAfter(doneCode(r)) }),
		keep(p, KindTimerFired, and(stalled, unheard), func(r *run) { r.cancel(); r.explainAfter(CodeCopilotStalled) }),
		{p, KindTimerFired, stalled, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(CodeCopilotStalled) }},
		keep(p, KindSpeechBuffered, Guard{}, nil),
		{p, KindSpeechFailed, Guard{}, PhaseListening, CauseError, (*run).speechBroke},
		{p, KindTimerFired, timer(TimerSpeech), PhaseListening, CauseError, (*run).speechBroke},
		{p, KindSettled, released, PhaseSpeaking, CauseTTSBufferReady, (*run).release},
		{p, KindSettled, and(asked, over), PhaseListening, CauseToolApproval, (*run).listen},
		{p, KindSettled, over, PhaseListening, CauseTTSComplete, func(r *run) { r.finish(r.endOf()); r.listen() }},
	}
}

// processingRows serve all three substates.
func processingRows() []Row {
	const p = PhaseProcessing
	return []Row{
		keep(p, KindSpeechStarted, Guard{}, nil),
		{p, KindFinal, stopWord, PhaseListening, CauseUserInterrupt, (*run).drop},
		keep(p, KindFinal, Guard{}, (*run).enqueueFinal),
		keep(p, KindUserText, Guard{}, (*run).enqueueText),
		{p, KindUserInterrupt, Guard{}, PhaseListening, CauseUserInterrupt, (*run).drop},
		keep(p, KindUserCommit, floorOrDrafts, (*run).commitBehind),
		{p, KindCopilotDone, live, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(doneCode(r)) }},
		{p, KindToolSearchDone, live, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(toolCode(r)) }},
		{p, KindTimerFired, timer(TimerSearch), PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(toolCode(r)) }},
		{p, KindTimerFired, timer(TimerResponse), PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(CodeCopilotTimeout) }},
	}
}

func speakingRows() []Row {
	const p = PhaseSpeaking
	return []Row{
		keep(p, KindCopilotDelta, Guard{}, (*run).progress),
		keep(p, KindCopilotSegment, Guard{}, (*run).segment),
		keep(p, KindCopilotToolCall, Guard{}, (*run).wants),
		keep(p, KindCopilotDone, asks, (*run).ask),
		keep(p, KindCopilotDone, wholeAnswer, (*run).endLine),
		keep(p, KindCopilotDone, live, func(r *run) { r.explainAfter(doneCode(r)) }),
		{p, KindUserApprove, Guard{}, PhaseGeneratingResponse, CauseToolApproval, (*run).decide},
		keep(p, KindTimerFired, timer(TimerStall), func(r *run) { r.cancel(); r.explainAfter(CodeCopilotStalled) }),
		keep(p, KindSpeechPlayed, Guard{}, nil),
		{p, KindSpeechDrained, and(asked, allHeard), PhaseListening, CauseToolApproval, (*run).listen},
		{p, KindSpeechDrained, allHeard, PhaseListening, CauseTTSComplete, func(r *run) { r.finish(r.endOf()); r.listen() }},
		{p, KindSpeechDrained, Guard{}, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
		{p, KindSpeechStarted, confirmed, PhaseInterrupted, CauseUserInterrupt, (*run).doubt},
		{p, KindSpeechResumed, confirmed, PhaseInterrupted, CauseUserInterrupt, (*run).doubt},
		keep(p, KindSpeechStarted, deaf, nil),
		{p, KindPartial, and(byWords, counts), PhaseInterrupted, CauseUserInterrupt, (*run).interrupt},
		{p, KindSpeechStarted, asked, PhaseInterrupted, CauseUserInterrupt, (*run).interruptQuestion},
		{p, KindSpeechStarted, Guard{}, PhaseInterrupted, CauseUserInterrupt, (*run).interrupt},
		{p, KindUserInterrupt, Guard{}, PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.clearQueue(); r.interrupt() }},
		keep(p, KindUserCommit, floorOrDrafts, (*run).commitBehind),
		{p, KindFinal, and(stopWord, not(never)), PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.clearQueue(); r.interrupt() }},
		{p, KindFinal, and(byWords, content), PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.interrupt(); r.enqueueFinal() }},
		{p, KindFinal, and(asked, no), PhaseGeneratingResponse, CauseToolApproval, func(r *run) { r.cut(); r.reject() }},
		keep(p, KindFinal, and(asked, yes), nil),
		keep(p, KindFinal, Guard{}, (*run).enqueueFinal),
		{p, KindUserText, asked, PhaseListening, CauseUserCommit, func(r *run) { r.replace(); r.enqueueText(); r.listen() }},
		keep(p, KindUserText, Guard{}, (*run).enqueueText),
		{p, KindSpeechFailed, asked, PhaseListening, CauseError, (*run).questionBroke},
		{p, KindTimerFired, and(timer(TimerSpeech), asked), PhaseListening, CauseError, (*run).questionBroke},
		{p, KindSpeechFailed, Guard{}, PhaseListening, CauseError, (*run).speechBroke},
		{p, KindTimerFired, timer(TimerSpeech), PhaseListening, CauseError, (*run).speechBroke},
		{p, KindSettled, audioLost, PhaseGeneratingResponse, CauseTTSUnderrun, nil},
	}
}

func interruptedRows() []Row {
	const p = PhaseInterrupted
	return append(bargeRows(), []Row{
		{p, KindSpeechFlushed, Guard{}, PhaseListening, CauseInterruptCleared, (*run).cleared},
		{p, KindTimerFired, timer(TimerInterrupt), PhaseListening, CauseInterruptCleared, (*run).cleared},
		keep(p, KindSpeechStarted, Guard{}, nil),
		keep(p, KindFinal, Guard{}, (*run).enqueueFinal),
		keep(p, KindUserText, Guard{}, (*run).enqueueText),
		{p, KindUserApprove, Guard{}, PhaseGeneratingResponse, CauseToolApproval, (*run).decideCut},
		keep(p, KindUserInterrupt, asked, (*run).dropQuestion),
		keep(p, KindUserInterrupt, Guard{}, (*run).clearQueue),
		keep(p, KindUserCommit, floorOrDrafts, (*run).commitBehind),
		{p, KindSettled, and(doubtful, userSilent), PhaseSpeaking, CauseInterruptRetract, nil},
		{p, KindSettled, and(not(doubtful), heldStill), PhaseListening, CauseInterruptCleared, (*run).cleared},
	}...)
}

// connectedRows are the user's voice where it means the same in all phases, and the
// connection that carries it.
func connectedRows() []Row {
	const p = PhaseConnected
	return []Row{
		keep(p, KindSpeechPaused, Guard{}, nil),
		keep(p, KindSpeechResumed, Guard{}, nil),
		keep(p, KindSpeechStopped, Guard{}, nil),
		keep(p, KindPartial, Guard{}, nil),
		keep(p, KindRecognitionLost, Guard{}, (*run).wordsLost),
		keep(p, KindTimerFired, timer(TimerFinal), func(r *run) { r.forgetPending(); r.wordsLost() }),
		keep(p, KindTimerFired, timer(TimerUtterance), (*run).endUtterance),
		keep(p, KindTimerFired, timer(TimerPause), (*run).endUtterance),
		keep(p, KindUserPlayback, hasPlayback, nil), // the gate does it
		{p, KindUserRetry, explaining, PhaseListening, CauseUserCommit, (*run).retryAfter},
		keep(p, KindConnLost, alone, nil),
		keep(p, KindConnFailed, alone, nil),
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
		keep(p, KindTimerFired, timer(TimerModel), (*run).modelNews),
		keep(p, KindSummarised, Guard{}, nil),
		keep(p, KindTimerFired, timer(TimerSummary), nil),
	}
}

func faultedRows() []Row {
	const p = PhaseFaulted
	recovering := Guard{"recovering", func(r *run) bool { return r.st.Conv.(Faulted).Recovering }}
	recoverable := Guard{"recoverable", func(r *run) bool { f := r.st.Conv.(Faulted); return !f.Fatal && !f.Recovering }}
	byUser := Guard{"by the user", func(r *run) bool { return reasonOf(r.env.Event)&SuspendUser != 0 }}
	return []Row{
		keep(p, KindTimerFired, timer(TimerFault), (*run).recover),
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
		keep(p, KindTimerFired, timer(TimerStart), (*run).fault),
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
		{p, KindTimerFired, timer(TimerTerminate), PhaseIdle, CauseReset, (*run).reset},
		keep(p, KindTimerFired, timer(TimerCancel), (*run).closed),
		keep(p, KindTimerFired, timer(TimerTool), (*run).closed),
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
		keep(p, KindTimerFired, timer(TimerCancel), nil),
		keep(p, KindTimerFired, timer(TimerTool), nil),
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
	recognising = Guard{"capture runs and recognition is ready", (*run).recognising}
	content     = Guard{"words", func(r *run) bool {
		return r.hasWords(r.env.Event.(Final))
	}}
	draft = Guard{"the user ends the turn by hand", func(r *run) bool {
		return r.drafts(r.env.Event.(Final))
	}}
	sendPhrase    = Guard{"the user says send", says(Send)}
	asked         = Guard{"asked about a tool", (*run).approving}
	asks          = Guard{"the answer asks for a tool", func(r *run) bool { return r.copilotOut == copilot.Asks }}
	renewable     = Guard{"connection to be replaced", (*run).renewable}
	dropped       = Guard{"of the connection in use", func(r *run) bool { return r.connOut == connection.Dropped }}
	alone         = Guard{"of the successor", func(r *run) bool { return r.connOut == connection.Alone }}
	floorOrDrafts = Guard{"an utterance is open, awaited or not sent", func(r *run) bool {
		_, quiet := r.st.Turn.(turn.Idle)
		return !quiet || len(r.st.Drafts) > 0
	}}
	stopWord     = Guard{"the user says stop", says(Stop)}
	yes          = Guard{"a yes", says(Yes)}
	no           = Guard{"a no", says(No)}
	userHasFloor = Guard{"an utterance is open or awaited", func(r *run) bool {
		_, quiet := r.st.Turn.(turn.Idle)
		return !quiet
	}}
	userSilent  = Guard{"the user is silent", func(r *run) bool { return !userHasFloor.holds(r) }}
	heldStill   = Guard{"held still", func(r *run) bool { return r.st.held() }}
	hasPlayback = Guard{"something to be heard", func(r *run) bool { return r.st.HasPlayback() }}
	retryable   = Guard{"what is to be tried again failed", func(r *run) bool {
		stage := r.env.Event.(UserRetry).Stage
		return r.st.Retry.Utterance != 0 && !speech.WasCut(r.st.Speech) && !r.approving() && !r.gathered() && (stage == copilot.StageNone || stage == r.st.Retry.Stage)
	}}
	explaining = and(Guard{"a failure is being explained", func(r *run) bool {
		_, open := speech.LineOf(r.st.Speech)
		return open && r.st.Current.Failed != ""
	}}, retryable)
	// A call is tried again as another call, and only where nothing runs.
	callAgain = and(retryable, Guard{"a call of a tool failed", func(r *run) bool {
		_, ready := r.st.Copilot.(copilot.Ready)
		return ready && r.st.Retry.Stage == copilot.StageCall && r.env.Event.(UserRetry).ToolCall != 0 && len(r.st.Queue) == 0
	}})
	free   = Guard{"nobody speaks", func(r *run) bool { return r.st.Current.ID == 0 }}
	queued = Guard{"an utterance waits", func(r *run) bool { return len(r.st.Queue) > 0 && !r.approving() && !speech.WasCut(r.st.Speech) }}
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
		return busy && !live.Cancelled && !r.approving() && !speech.WasCut(r.st.Speech)
	}}
	live = Guard{"of the live request", func(r *run) bool { return r.copilotOut == copilot.Ended }}

	wholeAnswer = Guard{"answer whole", whole}
)

// whole says whether the event ends an answer well.
func whole(r *run) bool {
	d := r.env.Event.(CopilotDone)
	return d.Code == "" && !d.Cancelled
}

// says is a guard on a final transcript of class c.
func says(c Class) func(*run) bool {
	return func(r *run) bool { return r.env.Event.(Final).Class == c }
}

func timer(t Timer) Guard {
	return Guard{"timer " + t.String(), func(r *run) bool { return r.env.Event.(TimerFired).Timer == t }}
}

func and(a, b Guard) Guard {
	return Guard{a.Name + ", " + b.Name, func(r *run) bool { return a.holds(r) && b.holds(r) }}
}

func not(g Guard) Guard {
	return Guard{"not: " + g.Name, func(r *run) bool { return !g.holds(r) }}
}

func refuseWith(c Code) func(*run) { return func(r *run) { r.refused = c } }
