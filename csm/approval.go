package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// The approval region is the sub-dialogue about one tool call, within the same turn. It
// is active while the assistant waits for the user's decision, and sees each event before
// the conversation. It consumes the events that it has rows for, and informs the
// conversation by ApprovalListens, ApprovalDecided and pass.
//
// Meaning says what counts as an answer. A call that changes something runs once the user was
// silent for a time after the yes; anything lost or unclear in that time withdraws the yes. A
// message that was begun before the question is queued; another one rejects the call. Only
// that one call is approved.
//
// A preapproved call runs without a question, once earlier speech was heard or can only be read. If the user
// interrupts that speech, the call is asked about like any other.

// Approval is the state of the question about a call.
type Approval struct {
	State ApprovalState
	Times int // how often the question was started
	// Heard says that the question was heard, to its end or until the user paused it, so that a
	// later onset may be its answer. Where it is not and nothing sounds any more, it is asked again
	// before anything counts as its answer.
	Heard bool
}

// ApprovalState is a state of the region: none, asking (the question is being spoken),
// listening for the answer, or deciding (the user said yes and may say more).
type ApprovalState uint8

// phase is the state's name in the table.
func (a ApprovalState) phase() Phase { return ApprovalNone + Phase(a) }

func (a ApprovalState) String() string { return a.phase().String() }

// maxAsked is how often the user is asked about one call.
const maxAsked = 2

func approvalRows() []Row {
	const p = ApprovalOpen
	unheard := when("before the question was heard", func(r *run) bool {
		return r.st.Conv.Phase() == PhaseListening && !r.st.cutIn()
	})
	over := when("nothing is left to play", func(r *run) bool { return !speechOpen(r.st) })
	shown := when("nothing is left to play, or it can only be read and the user does not hold it", func(r *run) bool {
		return !speechOpen(r.st) || r.st.voiceless() && !r.st.held() && !r.st.VoicePaused && userSilent.Holds(r)
	})
	counts := when("the yes counts", (*run).consents)
	reads := when("the call changes nothing and the user is silent", func(r *run) bool {
		call, _ := r.asked()
		return call.Reads && userSilent.Holds(r)
	})
	withdrawn := when("what followed the yes was not understood", func(r *run) bool { return r.lost || r.st.deaf() })
	asking := when("the user is asked", (*run).asking)
	older := when("it was begun before the question", func(r *run) bool {
		return r.words.Stamp < turn.OverAnswer || r.words.Stamp == turn.OverDecided
	})
	again := when("the question may be repeated", (*run).mayAskAgain)
	missed := when("the question fell silent before it was heard", func(r *run) bool {
		return r.words.Stamp == turn.OverUnheard && !r.st.Approval.Heard
	})
	interrupts := when("the user may interrupt", func(r *run) bool { return r.st.Conv.Phase() != PhaseSpeaking || !never.Holds(r) })
	passes := when("the call is preapproved", (*run).passes)
	drafted := when("there are drafts", func(r *run) bool { return len(r.st.Drafts) > 0 })
	return []Row{
		row(ApprovalNone, AnswerAsks, Guard{}, ApprovalAsking, CauseToolApproval, (*run).ask),
		row(ApprovalAsking, LineHeard, passes, ApprovalNone, CauseToolApproval, (*run).approve),
		row(ApprovalAsking, KindSettled, shown.And(passes), ApprovalNone, CauseToolApproval, (*run).approve),
		row(ApprovalAsking, LineHeard, Guard{}, ApprovalListening, CauseToolApproval, (*run).questionHeard),
		row(ApprovalAsking, KindSpeechStarted, unheard, ApprovalListening, CauseUserInterrupt, (*run).cut),
		row(ApprovalAsking, KindSpeechFailed, Guard{}, ApprovalListening, CauseError, (*run).questionBroke),
		row(ApprovalAsking, Passed(TimerSpeech), Guard{}, ApprovalListening, CauseError, (*run).questionBroke),
		row(ApprovalAsking, KindSettled, over.And(passes.Not()), ApprovalListening, CauseToolApproval, (*run).questionHeard),

		// An answer.
		keep(ApprovalDeciding, FinalYes, Guard{}, nil),
		row(p, FinalYes, counts, ApprovalDeciding, CauseToolApproval, (*run).closeQuestion),
		row(p, FinalYes, counts.Not().And(again), ApprovalAsking, CauseToolApproval, (*run).question),
		keep(p, FinalYes, Guard{}, (*run).noAnswer),
		row(p, FinalUnclear, again, ApprovalAsking, CauseToolApproval, (*run).question),
		row(ApprovalDeciding, FinalUnclear, Guard{}, ApprovalListening, CauseToolApproval, (*run).wordsLost),
		keep(p, FinalUnclear, Guard{}, (*run).noAnswer),
		row(p, VoicePause, asking, ApprovalListening, CauseToolApproval, (*run).pauseQuestion),
		row(ApprovalListening, VoiceContinue, again, ApprovalAsking, CauseToolApproval, (*run).question),
		row(p, FinalNo, Guard{}, ApprovalNone, CauseToolApproval, func(r *run) { r.cut(); r.reject() }),
		row(p, KindRecognitionLost, again, ApprovalAsking, CauseToolApproval, func(r *run) { r.wordsLost(); r.question() }),
		row(p, Passed(TimerApproval), again, ApprovalAsking, CauseToolApproval, (*run).question),
		row(p, Passed(TimerApproval), Guard{}, ApprovalNone, CauseToolApproval, (*run).rejectUnanswered),
		row(p, KindUserApprove, Guard{}, ApprovalNone, CauseToolApproval, (*run).decide),
		row(ApprovalDeciding, KindSettled, withdrawn.And(again), ApprovalAsking, CauseToolApproval, (*run).question),
		row(ApprovalDeciding, KindSettled, withdrawn.And(again.Not()), ApprovalListening, CauseToolApproval, nil),
		row(ApprovalDeciding, KindSettled, withdrawn.Not().And(reads), ApprovalNone, CauseToolApproval, (*run).approve),
		row(ApprovalDeciding, Passed(TimerRevoke), Guard{}, ApprovalNone, CauseToolApproval, (*run).approve),

		// Anything else: a command to stop, or the next message.
		row(p, FinalStop, interrupts, ApprovalNone, CauseUserInterrupt, (*run).stop),
		row(p, KindUserInterrupt, Guard{}, ApprovalNone, CauseUserInterrupt, (*run).stop),
		keep(p, FinalContent, older, (*run).enqueueFinal),
		row(ApprovalListening, FinalContent, missed.And(again), ApprovalAsking, CauseToolApproval, func(r *run) { r.enqueueFinal(); r.question() }),
		row(p, FinalContent, older.Not().And(interrupts), ApprovalNone, CauseSTTFinal, (*run).replace),
		row(p, KindUserText, Guard{}, ApprovalNone, CauseUserCommit, (*run).replace),
		keep(ApprovalDeciding, FinalDraft, Guard{}, func(r *run) { r.enqueueFinal(); r.lost = true }),
		keep(p, FinalDraft, Guard{}, (*run).enqueueFinal),
		row(p, FinalSend, drafted, ApprovalNone, CauseUserCommit, (*run).replaceByDrafts),
		keep(p, KindUserCommit, userHasFloor, (*run).commitUtterances),
		row(p, KindUserCommit, userSilent.And(drafted), ApprovalNone, CauseUserCommit, (*run).replaceByDrafts),
	}
}

// asked returns the call that the user is being asked about.
func (r *run) asked() (copilot.Call, bool) {
	if w, ok := r.st.Copilot.(copilot.WaitingForApproval); ok {
		return w.Calls[0], true
	}
	return copilot.Call{}, false
}

// approving says whether a decision on a call is pending.
func (s *State) approving() bool { return s.Approval.State != 0 }

func (r *run) approving() bool { return r.st.approving() }

// passes says whether a call runs without a question: it is preapproved and was not asked
// about.
func (s *State) passes() bool {
	w, _ := s.Copilot.(copilot.WaitingForApproval)
	return w.Calls[0].Allowed && s.Approval.Times == 0
}

func (r *run) passes() bool { return r.st.passes() }

// Asking says whether a yes or no concerns a call: the user is being asked, or will be.
func (s *State) Asking() bool { return s.approving() && !s.passes() }

func (r *run) asking() bool { return r.st.Asking() }

// Deciding says whether the user said yes and may still take it back.
func (s State) Deciding() bool { return s.Approval.State.phase() == ApprovalDeciding }

// ask starts the question about a call, after pending speech. No call runs without
// approval.
func (r *run) ask() {
	r.tell(session.QuestionRequested)
	r.st.Approval.Times, r.st.Approval.Heard = 0, false // those of the previous call
	r.voice(turn.Decide, turn.Utterance{})
	if r.passes() {
		r.st.Speech, _ = speech.End(r.st.Speech)
		return
	}
	r.question()
}

// question asks, once more if the answer is missing or does not count.
func (r *run) question() {
	call, _ := r.asked()
	a := &r.st.Approval
	if a.Times == 0 {
		live, _ := copilot.LiveOf(r.st.Copilot)
		r.toolNews(live, ToolPending)
	}
	a.Times++
	r.refresh |= 1 << TimerApproval
	r.say(speech.Segment{Ask: call.ID})
	r.st.Speech, _ = speech.End(r.st.Speech)
}

// questionHeard gives the user the floor.
func (r *run) questionHeard() {
	r.st.Approval.Heard = true
	r.raise(ApprovalListens)
}

// mayAskAgain says whether the question is over and may be asked once more.
func (r *run) mayAskAgain() bool { return !speechOpen(r.st) && r.st.Approval.Times < maxAsked }

// consents says whether a yes counts: if the action is irreversible, it must name the action.
func (r *run) consents() bool {
	call, _ := r.asked()
	return r.env.Event.(Final).Named || !call.Destructive
}

// noAnswer tells that words did not answer the question, unless it still sounds.
func (r *run) noAnswer() {
	if !speechOpen(r.st) {
		r.wordsLost()
	}
}

// closeQuestion silences what is left of the question.
func (r *run) closeQuestion() {
	r.cut()
	if r.st.Conv.Phase() != PhaseListening {
		r.raise(ApprovalListens)
	}
}

// pauseQuestion leaves the question open: the user, who understood it well enough to pause it, has
// the full time to answer. What cannot be undone needs the whole question. A pause of the answer
// before the question says nothing of the question.
func (r *run) pauseQuestion() {
	line, open := speech.LineOf(r.st.Speech)
	asks := open && line.Played == len(line.Segments)-1
	if call, _ := r.asked(); asks && speech.Begun(r.st.Speech) && !call.Destructive {
		r.st.Approval.Heard = true
	}
	r.closeQuestion()
	r.refresh |= 1 << TimerApproval
}

// replace drops the turn for a new message. The conversation handles it in Listening, and
// queues it until then (invariant 7).
func (r *run) replace() {
	r.end(TurnDropped)
	if r.st.Conv.Phase() == PhaseListening {
		r.raise(r.trigger())
		return
	}
	if text, typed := r.env.Event.(UserText); typed {
		r.enqueue(text.Utterance)
	} else {
		r.enqueueFinal()
	}
	r.raise(ApprovalListens)
}

// replaceByDrafts does the same with drafts that the user commits now. Queued utterances
// go first.
func (r *run) replaceByDrafts() {
	r.end(TurnDropped)
	if r.st.Conv.Phase() != PhaseListening || len(r.st.Queue) > 0 {
		r.enqueueDrafts()
		r.raise(ApprovalListens)
		return
	}
	r.listen()
	r.raise(r.trigger())
}

// stop rejects the call. The conversation drops pending speech.
func (r *run) stop() {
	r.cancel()
	r.raise(r.trigger())
}

// questionBroke leaves a question that cannot be spoken to a manual decision.
func (r *run) questionBroke() {
	r.cut()
	r.raise(ApprovalListens)
	r.emit(Notify{Turn: r.st.Current.ID, Code: CodeSpeechFailed})
}

// decide handles the user's manual decision.
func (r *run) decide() {
	r.cut()
	if r.env.Event.(UserApprove).Approved {
		r.approve()
		return
	}
	r.reject()
}

func (r *run) approve() {
	call, _ := r.asked()
	live, _ := copilot.LiveOf(r.st.Copilot)
	if speech.Begun(r.st.Speech) { // and broke off, for want of a speaker
		r.respeak()
	}
	// No decision, no change, and nothing was heard: the turn stays provisional.
	beside := r.passes() && call.Reads && history.HeardOf(r.st.History.Said(), live.Request) == 0
	r.assistant(copilot.Input{Do: copilot.Approve, Call: call})
	r.refresh |= 1 << TimerTool // the previous call may have ended in this step
	live, _ = copilot.LiveOf(r.st.Copilot)
	r.st.Current.Decided = r.st.Current.Decided || !beside
	r.tell(session.ApprovalResolved)
	r.toolNews(live, ToolRunning)
	r.emit(CallTool{ToolCall: call.ID, Request: live.Request, Turn: r.st.Current.ID})
	r.raise(ApprovalDecided)
}
