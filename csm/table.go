package csm

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Row is one line of the table that defines the conversation and the regions that run on
// the same events. It configures the state machine; diagrams and tests are generated from
// it.
type (
	Row   = statechart.Row[Phase, Kind, Cause, *run, func(*run)]
	Guard = statechart.Guard[*run] // evaluated on a step
)

var (
	row  = statechart.NewRow[Phase, Kind, Cause, *run, func(*run)]
	when = statechart.When[*run]
)

// Table returns a copy of the rows, in order.
func Table() []Row {
	return slices.Concat(
		idleRows(), preparingRows(), listeningRows(), analysingRows(),
		generatingRows(), processingRows(), speakingRows(), interruptedRows(),
		connectedRows(), holdRows(), conversationRows(), faultedRows(), terminatingRows(), anyRows(), approvalRows(),
	)
}

// keep is an internal transition.
func keep(p Phase, on Kind, g Guard, do func(*run)) Row { return row(p, on, g, p, "", do) }

func idleRows() []Row {
	const p = PhaseIdle
	starting := when("starting", func(r *run) bool { return r.st.Conv.(Idle).Starting })
	return []Row{
		keep(p, KindUserStart, starting, refuseWith(CodeConversationActive)),
		keep(p, KindUserStart, Guard{}, func(r *run) { r.open(r.env.Event.(UserStart).TakeOver, false) }),
		keep(p, KindUserText, starting, (*run).enqueueText),
		keep(p, KindUserText, Guard{}, func(r *run) { r.open(false, true); r.enqueueText() }),
		row(p, KindUserStop, starting, PhaseTerminating, CauseUserStop, nil),
		row(p, KindSessionReady, primed, PhasePreparing, CauseSessionReady, nil),
		keep(p, KindSessionReady, Guard{}, nil),
		row(p, KindAudioPrimed, primed, PhasePreparing, CauseSessionReady, nil),
		keep(p, KindAudioPrimed, Guard{}, nil),
		row(p, KindSessionFailed, Guard{}, PhaseFaulted, CauseError, nil),
		row(p, KindAudioFailed, Guard{}, PhaseFaulted, CauseError, nil),
		row(p, KindAudioLost, Guard{}, PhaseFaulted, CauseError, nil),
		row(p, Passed(TimerStart), Guard{}, PhaseFaulted, CauseError, nil),
	}
}

func preparingRows() []Row {
	const p = PhasePreparing
	return []Row{
		row(p, KindAudioReady, recognising, PhaseListening, CauseAudioReady, nil),
		keep(p, KindAudioReady, Guard{}, nil),
		row(p, KindConnReady, recognising, PhaseListening, CauseAudioReady, nil),
		keep(p, KindConnReady, Guard{}, nil),
		keep(p, KindUserText, Guard{}, (*run).enqueueText),
		row(p, KindConnLost, Guard{}, PhaseFaulted, CauseError, nil),
		row(p, KindConnFailed, Guard{}, PhaseFaulted, CauseError, nil),
		row(p, Passed(TimerPrepare), Guard{}, PhaseFaulted, CauseError, nil),
	}
}

// listeningRows also apply while the rest of an answer is paused because the user spoke
// over it: a new message drops it (stopSpeech), anything else resumes it.
func listeningRows() []Row {
	const p = PhaseListening
	gathered := when("unsent utterances", (*run).gathered)
	said := when("the turn is complete", func(r *run) bool {
		cur := r.st.Current
		_, open := speech.LineOf(r.st.Speech)
		live, busy := copilot.LiveOf(r.st.Copilot)
		return !open && (cur.Role == Assistant || cur.Failed != "") && (!busy || live.Cancelled)
	})
	goesOn := when("an answer is paused and the user is silent", func(r *run) bool {
		return r.st.cutIn() && !userHasFloor.Holds(r) && !r.st.voiceless()
	})
	return []Row{
		keep(p, KindSpeechBuffered, Guard{}, nil),
		keep(p, KindSpeechStarted, Guard{}, (*run).onset),
		row(p, VoiceRetracted, Guard{}, PhaseSpeaking, CauseInterruptRetract, nil),
		row(p, FinalContent, Guard{}, PhaseAnalysing, CauseSTTFinal, (*run).takeFinal),
		keep(p, FinalDraft, Guard{}, (*run).gatherFinal),
		row(p, FinalSend, gathered, PhaseAnalysing, CauseUserCommit, (*run).takeGathered),
		keep(p, FinalSend, Guard{}, (*run).dismiss),
		keep(p, FinalNothing, Guard{}, (*run).dismiss),
		keep(p, FinalDoubt, Guard{}, (*run).wordsLost),
		keep(p, FinalStop, Guard{}, func(r *run) { r.stopByWord(); r.dismiss() }),
		row(p, KindUserCommit, userHasFloor, PhaseAnalysing, CauseUserCommit, (*run).commit),
		row(p, KindUserCommit, userSilent.And(gathered), PhaseAnalysing, CauseUserCommit, (*run).takeGathered),
		row(p, KindUserText, Guard{}, PhaseAnalysing, CauseUserCommit, (*run).takeText),
		row(p, KindUserRetry, retryable.And(callAgain), PhaseGeneratingResponse, CauseUserCommit, (*run).takeCallAgain),
		row(p, KindUserRetry, retryable.And(callAgain.Not()), PhaseAnalysing, CauseUserCommit, (*run).takeRetry),
		keep(p, KindUserRetry, Guard{}, refuseWith(CodeNothingToRetry)),
		keep(p, KindUserSpeak, free, (*run).readAloud),
		row(p, KindQueueNext, queued, PhaseAnalysing, CauseQueueNext, (*run).takeQueued),
		keep(p, KindUserInterrupt, Guard{}, (*run).stopByWord),
		keep(p, KindSettled, behindLoss.And(userSilent), (*run).stopSpeech),
		row(p, KindSettled, goesOn, PhaseSpeaking, CauseInterruptRetract, nil),
		keep(p, KindSettled, said, func(r *run) { r.answered(); r.listen() }),
		row(p, KindSettled, cutLost, PhaseGeneratingResponse, CauseTTSUnderrun, nil),
	}
}

func analysingRows() []Row {
	const p = PhaseAnalysing
	awaiting := when("awaiting words", func(r *run) bool { return r.st.Conv.(Analysing).Awaiting })
	unsent := when("an utterance is unsent", func(r *run) bool { return r.st.Conv.(Analysing).Unsent != 0 })
	sendable := when("the utterance can be sent", func(r *run) bool {
		_, ready := r.st.Copilot.(copilot.Ready)
		return r.st.Conv.(Analysing).Unsent != 0 && ready && r.st.Model.Wanted == r.st.Model.Loaded && !r.st.held()
	})
	lastWords := when("no more words are awaited", func(r *run) bool {
		return r.st.Conv.(Analysing).Awaiting && !turn.Committed(r.st.Turn)
	})
	some := when("the turn has words", func(r *run) bool { return r.st.Current.Utterance != 0 })
	failed := some.Not().And(when("its failure is being explained", func(r *run) bool { return r.st.Current.Failed != "" }))
	none := some.Not().And(when("no failure is being explained", func(r *run) bool { return r.st.Current.Failed == "" }))
	modelBroke := func(r *run) { r.modelNews(); r.explain(r.modelCode()) }
	return []Row{
		keep(p, FinalContent, awaiting, func(r *run) { r.gather(r.env.Event.(Final).Utterance) }),
		row(p, KindCopilotSent, Guard{}, PhaseWaitingForCopilot, CauseCopilotRequest, (*run).attempt),
		row(p, KindModelFailed, unsent, PhaseListening, CauseError, modelBroke),
		row(p, Passed(TimerModel), unsent, PhaseListening, CauseError, modelBroke),
		keep(p, KindSettled, lastWords.And(some), (*run).takeGathered),
		row(p, KindSettled, lastWords.And(failed), PhaseListening, CauseError, nil),
		row(p, KindSettled, lastWords.And(none), PhaseListening, CauseSTTFinal, (*run).dismiss),
		keep(p, KindSettled, sendable, (*run).sendUnsent),
	}
}

func generatingRows() []Row {
	const p = PhaseGeneratingResponse
	over := when("nothing more will arrive", func(r *run) bool {
		live, _ := copilot.LiveOf(r.st.Copilot)
		_, open := speech.LineOf(r.st.Speech)
		return !open && (live.Request == 0 || live.Cancelled)
	})
	gaveUp := when("tool round limit reached", func(r *run) bool { return r.st.Current.Failed == CodeToolRounds })
	return []Row{
		keep(p, KindSpeechBuffered, Guard{}, nil),
		keep(p, ToolNext, Guard{}, (*run).proceed),
		row(p, ToolBroke, Guard{}, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(toolCode(r)) }),
		row(p, Passed(TimerTool), Guard{}, PhaseListening, CauseCopilotTimeout, func(r *run) { r.explain(toolCode(r)) }),
		row(p, KindSettled, behindLoss, PhaseListening, CauseQueueNext, func(r *run) { r.end(TurnCutOff) }),
		row(p, KindSettled, gaveUp, PhaseListening, CauseCopilotFailed, nil),
		row(p, KindSettled, over, PhaseListening, CauseTTSComplete, (*run).answered),
	}
}

// processingRows apply to all three substates: an answer with nothing audible at the
// moment.
func processingRows() []Row {
	const p = PhaseProcessing
	empty := when("no words", func(r *run) bool {
		_, open := speech.LineOf(r.st.Speech)
		return !open && !r.laterRound()
	})
	silent := when("nothing is left to play", func(r *run) bool {
		l, _ := speech.LineOf(r.st.Speech)
		return l.Played == len(l.Segments)
	})
	goesOn := when("the user goes on with the request", (*run).provisional)
	return []Row{
		row(p, FinalContent, goesOn, PhaseAnalysing, CauseSTTFinal, (*run).goOn),
		row(p, FinalStop, Guard{}, PhaseListening, CauseUserInterrupt, (*run).drop),
		row(p, KindUserInterrupt, Guard{}, PhaseListening, CauseUserInterrupt, (*run).drop),
		keep(p, KindCopilotSent, Guard{}, (*run).attempt),
		keep(p, ToolsFound, Guard{}, (*run).handOver),
		row(p, AnswerBegins, Guard{}, PhaseGeneratingResponse, CauseCopilotResponse, (*run).beginAnswer),
		row(p, KindCopilotToolCall, Guard{}, PhaseGeneratingResponse, CauseToolCall, (*run).wants),
		row(p, AnswerWhole, empty, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(doneCode(r)) }),
		row(p, AnswerBroke, silent, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(doneCode(r)) }),
		row(p, SearchBroke, Guard{}, PhaseListening, CauseCopilotFailed, func(r *run) { r.explain(toolCode(r)) }),
		row(p, Passed(TimerSearch), Guard{}, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(toolCode(r)) }),
		row(p, Passed(TimerResponse), Guard{}, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(CodeCopilotTimeout) }),
		row(p, Passed(TimerStall), silent, PhaseListening, CauseCopilotTimeout, func(r *run) { r.cancel(); r.explain(CodeCopilotStalled) }),
	}
}

func speakingRows() []Row {
	const p = PhaseSpeaking
	return []Row{
		row(p, KindSpeechStarted, confirmed, PhaseInterrupted, CauseUserInterrupt, (*run).pauseForBargeIn),
		row(p, KindSpeechResumed, confirmed, PhaseInterrupted, CauseUserInterrupt, (*run).pauseForBargeIn),
		row(p, PartialCounts, byWords, PhaseInterrupted, CauseUserInterrupt, (*run).pauseForBargeIn),
		row(p, FinalContent, byWords, PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.interrupt(); r.enqueueFinal() }),
		row(p, FinalStop, never.Not(), PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.clearQueue(); r.interrupt() }),
		row(p, KindUserInterrupt, Guard{}, PhaseInterrupted, CauseUserInterrupt, func(r *run) { r.clearQueue(); r.interrupt() }),
		row(p, KindUserText, when("the voice is paused", func(r *run) bool { return r.st.VoicePaused }), PhaseInterrupted, CauseUserCommit,
			func(r *run) { r.interrupt(); r.enqueueText() }),
		row(p, KindSettled, behindPause, PhaseInterrupted, CauseQueueNext, (*run).interrupt),
		row(p, KindSettled, behindLoss, PhaseInterrupted, CauseQueueNext, (*run).interrupt),
		row(p, KindSettled, audioLost, PhaseGeneratingResponse, CauseTTSUnderrun, nil),
	}
}

// interruptedRows are a pause while the interruption is uncertain, and a flush that
// awaits confirmation.
func interruptedRows() []Row {
	const p = PhaseInterrupted
	return []Row{
		row(p, KindSpeechFlushed, Guard{}, PhaseListening, CauseInterruptCleared, nil),
		row(p, Passed(TimerInterrupt), Guard{}, PhaseListening, CauseInterruptCleared, nil),
		row(p, VoiceRetracted, Guard{}, PhaseSpeaking, CauseInterruptRetract, nil),
		row(p, KindSpeechStopped, doubtful, PhaseListening, CauseInterruptCleared, (*run).yieldFloor),
		row(p, PartialCounts, doubtful, PhaseListening, CauseInterruptCleared, (*run).yieldFloor),
		row(p, Passed(TimerConfirm), Guard{}, PhaseListening, CauseInterruptCleared, (*run).yieldFloor),
		row(p, FinalStop, doubtful, PhaseListening, CauseInterruptCleared, (*run).stopOver),
		row(p, FinalContent, doubtful, PhaseListening, CauseInterruptCleared, (*run).takeOver),
		keep(p, KindUserInterrupt, doubtful, func(r *run) { r.clearQueue(); r.interrupt() }),
		keep(p, KindUserInterrupt, Guard{}, (*run).clearQueue),
		row(p, KindSettled, doubtful.And(userSilent), PhaseSpeaking, CauseInterruptRetract, nil),
		row(p, KindSettled, doubtful.Not().And(nothingPlays), PhaseListening, CauseInterruptCleared, nil),
	}
}

// connectedRows apply in all phases with a connection, unless the phase has its own row:
// the user's voice, an arriving answer, and its playback.
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
		keep(p, FinalDraft, Guard{}, (*run).enqueueFinal),
		keep(p, FinalDoubt, Guard{}, (*run).wordsLost),
		keep(p, KindUserText, Guard{}, (*run).enqueueText),
		keep(p, KindUserCommit, floorOrDrafts, (*run).commitBehind),
		keep(p, KindRecognitionLost, Guard{}, (*run).wordsLost),
		keep(p, Passed(TimerFinal), Guard{}, (*run).giveUp),
		keep(p, Passed(TimerUtterance), Guard{}, (*run).tooLong),
		keep(p, Passed(TimerPause), Guard{}, (*run).endUtterance),

		// The answer.
		keep(p, KindCopilotDelta, Guard{}, (*run).progress),
		keep(p, KindCopilotSegment, Guard{}, (*run).segment),
		keep(p, KindCopilotToolCall, Guard{}, (*run).wants),
		keep(p, AnswerWhole, Guard{}, (*run).endLine),
		keep(p, AnswerBroke, Guard{}, func(r *run) { r.explainAfter(doneCode(r)) }),
		keep(p, Passed(TimerStall), Guard{}, func(r *run) { r.cancel(); r.explainAfter(CodeCopilotStalled) }),
		row(p, ApprovalDecided, Guard{}, PhaseGeneratingResponse, CauseToolApproval, nil),
		row(p, ApprovalListens, Guard{}, PhaseListening, CauseToolApproval, nil),
		row(p, KindUserRetry, explaining, PhaseListening, CauseUserCommit, (*run).retryAfter),

		// Its playback.
		keep(p, VoicePause, hasPlayback, func(r *run) { r.st.VoicePaused = true }),
		keep(p, VoiceContinue, hasPlayback, func(r *run) { r.st.VoicePaused = false }),
		keep(p, KindSpeechPlayed, Guard{}, nil),
		row(p, KindSpeechDrained, Guard{}, PhaseGeneratingResponse, CauseTTSUnderrun, nil),
		row(p, LineHeard, Guard{}, PhaseListening, CauseTTSComplete, (*run).answered),
		row(p, KindSpeechFailed, Guard{}, PhaseListening, CauseError, (*run).speechBroke),
		row(p, Passed(TimerSpeech), Guard{}, PhaseListening, CauseError, (*run).speechBroke),
		row(p, KindSettled, released, PhaseSpeaking, CauseTTSBufferReady, (*run).start),

		// The connection.
		keep(p, SuccessorGone, Guard{}, nil),
		row(p, KindConnFailed, Guard{}, PhaseFaulted, CauseError, nil),
		keep(p, KindSessionExpiring, renewable, (*run).succeed),
	}
}

// conversationRows leave the conversation, or apply in all of it.
func conversationRows() []Row {
	const p = PhaseConversation
	return []Row{
		keep(p, KindUserStart, Guard{}, refuseWith(CodeConversationActive)),
		row(p, KindUserStop, Guard{}, PhaseTerminating, CauseUserStop, nil),
		row(p, KindSessionFailed, Guard{}, PhaseFaulted, CauseError, nil),
		row(p, KindAudioFailed, Guard{}, PhaseFaulted, CauseError, nil),
		keep(p, KindConnClosed, Guard{}, nil), // the replaced connection
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
	recovering := when("recovering", func(r *run) bool { return r.st.Conv.(Faulted).Recovering })
	recoverable := when("recoverable", func(r *run) bool { f := r.st.Conv.(Faulted); return !f.Fatal && !f.Recovering })
	byUser := when("by the user", func(r *run) bool { return reasonOf(r.env.Event)&SuspendUser != 0 })
	return []Row{
		keep(p, Passed(TimerFault), Guard{}, (*run).recover),
		keep(p, KindSuspend, byUser.And(recoverable), func(r *run) { r.st.Hold = hold.Next(r.st.Hold, hold.Give, SuspendUser) }),
		keep(p, KindResume, byUser.And(recoverable), (*run).unhold),
		keep(p, KindUserStart, recoverable, (*run).recover),
		keep(p, KindUserStart, recovering, nil),
		row(p, KindSessionReady, primed, PhasePreparing, CauseSessionReady, nil),
		keep(p, KindSessionReady, Guard{}, nil),
		row(p, KindAudioPrimed, primed, PhasePreparing, CauseSessionReady, nil),
		keep(p, KindAudioPrimed, Guard{}, nil),
		keep(p, KindSessionFailed, Guard{}, (*run).fault),
		keep(p, KindAudioFailed, Guard{}, (*run).fault),
		keep(p, KindAudioLost, Guard{}, (*run).fault),
		keep(p, Passed(TimerStart), Guard{}, (*run).fault),
		row(p, KindFatal, Guard{}, PhaseTerminating, CauseFatal, nil),
		row(p, KindUserStop, Guard{}, PhaseTerminating, CauseUserStop, nil),
		keep(p, KindSessionClosed, Guard{}, nil),
		keep(p, KindAudioClosed, Guard{}, nil),
		keep(p, KindConnClosed, Guard{}, nil),
	}
}

func terminatingRows() []Row {
	const p = PhaseTerminating
	starts := when("another conversation would begin", func(r *run) bool {
		next := r.st.Conv.(Terminating)
		return next.Start || len(next.Texts) > 0
	})
	rows := []Row{
		row(p, KindReset, Guard{}, PhaseIdle, CauseReset, nil),
		row(p, Passed(TimerTerminate), Guard{}, PhaseIdle, CauseReset, nil),
		keep(p, Passed(TimerCancel), Guard{}, (*run).closed),
		keep(p, Passed(TimerTool), Guard{}, (*run).closed),
		keep(p, KindUserStart, Guard{}, (*run).startAfter),
		keep(p, KindUserText, Guard{}, (*run).textAfter),
		keep(p, KindUserStop, starts, func(r *run) { r.st.Conv = Terminating{} }),
	}
	for _, on := range []Kind{KindSessionClosed, KindAudioClosed, KindConnClosed, KindCopilotDone, KindToolSearchDone, KindToolDone} {
		rows = append(rows, keep(p, on, Guard{}, (*run).closed))
	}
	return rows
}

// anyRows apply in every phase: configuration, and answers that concern only their
// region. A cancelled request outlives a fault.
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

// Guards that several phases use.
var (
	primed = when("session ready and devices open", func(r *run) bool {
		return r.st.Resources.Session == Opened && r.st.Resources.Audio == Opened
	})
	recognising   = when("capture is running and recognition is ready", (*run).recognising)
	renewable     = when("the connection must be replaced", (*run).renewable)
	floorOrDrafts = when("an utterance is open, awaited or unsent", func(r *run) bool {
		_, quiet := r.st.Turn.(turn.Idle)
		return !quiet || len(r.st.Drafts) > 0
	})
	userHasFloor = when("an utterance is open or awaited", func(r *run) bool {
		_, quiet := r.st.Turn.(turn.Idle)
		return !quiet
	})
	userSilent   = when("the user is silent", func(r *run) bool { return !userHasFloor.Holds(r) })
	nothingPlays = when("nothing can be played", func(r *run) bool { return r.st.voiceless() })
	hasPlayback  = when("there is audio to play", func(r *run) bool { return r.st.HasPlayback() })
	retryable    = when("the stage to retry failed", func(r *run) bool {
		stage := r.env.Event.(UserRetry).Stage
		return r.st.Retry.Utterance != 0 && !r.st.cutIn() && !r.approving() && !r.gathered() && (stage == copilot.StageNone || stage == r.st.Retry.Stage)
	})
	explaining = when("a failure is being explained", func(r *run) bool {
		_, open := speech.LineOf(r.st.Speech)
		return open && r.st.Current.Failed != ""
	}).And(retryable)
	// A tool call is retried as a new call, and only if no call is running.
	callAgain = when("a tool call failed", func(r *run) bool {
		_, ready := r.st.Copilot.(copilot.Ready)
		return ready && r.st.Retry.Stage == copilot.StageCall && r.env.Event.(UserRetry).ToolCall != 0
	})
	free   = when("no turn is active", func(r *run) bool { return r.st.Current.ID == 0 })
	queued = when("an utterance is queued", func(r *run) bool { return len(r.st.Queue) > 0 && !r.approving() })
	// Buffered audio may play as soon as the user is silent, if it can be heard.
	released = when("audio is ready and the user is silent", func(r *run) bool {
		_, ready := r.st.Speech.(speech.Ready)
		_, quiet := r.st.Turn.(turn.Idle)
		return ready && quiet && !r.st.voiceless()
	})
	// Nothing waits behind a paused voice (invariant 16).
	behindPause = when("an utterance is queued behind a paused voice", func(r *run) bool {
		live, _ := copilot.LiveOf(r.st.Copilot)
		return r.st.VoicePaused && len(r.st.Queue) > 0 && (live.Request == 0 || live.Cancelled || r.approving())
	})
	// Nor behind speech that only lacks a speaker: that is shown in writing.
	behindLoss = when("an utterance is queued behind speech without a speaker", func(r *run) bool {
		return len(r.st.Queue) > 0 && r.st.inWriting()
	})
	audioLost = when("its audio was lost", func(r *run) bool {
		switch r.st.Speech.(type) {
		case speech.Closed, speech.Buffering:
			return true
		default:
			return false
		}
	})
	// The answer was being spoken when the connection was lost.
	cutLost = when("a paused answer resumes", func(r *run) bool {
		live, busy := copilot.LiveOf(r.st.Copilot)
		return busy && !live.Cancelled && !r.approving() && !r.st.cutIn()
	})
)

// whole says whether the event is the success of an answer.
func whole(r *run) bool {
	d := r.env.Event.(CopilotDone)
	return d.Code == "" && !d.Cancelled
}

func refuseWith(c Code) func(*run) { return func(r *run) { r.refused = c } }
