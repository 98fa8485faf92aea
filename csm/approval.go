package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// The approval region is the sub-dialogue about one tool call, within the same turn. It
// is active while the assistant waits for the user's decision, and sees each event before
// the conversation. It consumes the events that it has rows for, and informs the
// conversation by ApprovalListens, ApprovalDecided and pass.
//
// A yes counts only if its onset came after the question was heard. Anything else rejects
// the call and becomes the next message. Only that one call is approved.
//
// A preapproved call runs without a question, once earlier speech was heard. If the user
// interrupts that speech, the call is asked about like any other.

// Approval is the state of the question about a call.
type Approval struct {
	State ApprovalState
	Times int // how often the question was started
	// Heard says that the question was heard to its end, so that a later onset may be its
	// answer.
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
	counts := when("the yes counts", (*run).consents)
	saysNoMore := when("the user is silent", userSilent.Holds)
	again := when("the question may be repeated", (*run).mayAskAgain)
	interrupts := when("the user may interrupt", func(r *run) bool { return r.st.Conv.Phase() != PhaseSpeaking || !never.Holds(r) })
	passes := when("the call is preapproved", (*run).passes)
	drafted := when("there are drafts", func(r *run) bool { return len(r.st.Drafts) > 0 })
	return []Row{
		row(ApprovalNone, AnswerAsks, Guard{}, ApprovalAsking, CauseToolApproval, (*run).ask),
		row(ApprovalAsking, LineHeard, passes, ApprovalNone, CauseToolApproval, (*run).approve),
		row(ApprovalAsking, KindSettled, over.And(passes), ApprovalNone, CauseToolApproval, (*run).approve),
		row(ApprovalAsking, LineHeard, Guard{}, ApprovalListening, CauseToolApproval, (*run).questionHeard),
		row(ApprovalAsking, KindSpeechStarted, unheard, ApprovalListening, CauseUserInterrupt, (*run).cut),
		row(ApprovalAsking, KindSpeechFailed, Guard{}, ApprovalListening, CauseError, (*run).questionBroke),
		row(ApprovalAsking, Passed(TimerSpeech), Guard{}, ApprovalListening, CauseError, (*run).questionBroke),
		row(ApprovalAsking, KindSettled, over.And(passes.Not()), ApprovalListening, CauseToolApproval, (*run).questionHeard),

		// An answer.
		row(ApprovalListening, FinalYes, counts, ApprovalDeciding, CauseToolApproval, nil),
		row(p, FinalYes, counts.Not().And(again), ApprovalAsking, CauseToolApproval, (*run).question),
		keep(p, FinalYes, Guard{}, nil),
		row(p, FinalUnclear, again, ApprovalAsking, CauseToolApproval, (*run).question),
		keep(p, FinalUnclear, Guard{}, nil),
		row(p, FinalNo, Guard{}, ApprovalNone, CauseToolApproval, func(r *run) { r.cut(); r.reject() }),
		row(p, KindRecognitionLost, again, ApprovalAsking, CauseToolApproval, func(r *run) { r.wordsLost(); r.question() }),
		row(p, Passed(TimerApproval), again, ApprovalAsking, CauseToolApproval, (*run).question),
		row(p, Passed(TimerApproval), Guard{}, ApprovalNone, CauseToolApproval, (*run).rejectUnanswered),
		row(p, KindUserApprove, Guard{}, ApprovalNone, CauseToolApproval, (*run).decide),
		row(ApprovalDeciding, KindSettled, saysNoMore, ApprovalNone, CauseToolApproval, (*run).approve),

		// Anything else: a command to stop, or the next message.
		row(p, FinalStop, interrupts, ApprovalNone, CauseUserInterrupt, (*run).stop),
		row(p, KindUserInterrupt, Guard{}, ApprovalNone, CauseUserInterrupt, (*run).stop),
		row(p, FinalContent, interrupts, ApprovalNone, CauseSTTFinal, (*run).replace),
		row(p, KindUserText, Guard{}, ApprovalNone, CauseUserCommit, (*run).replace),
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

// approving says whether the user is being asked about a call.
func (r *run) approving() bool { return r.st.Approval.State != 0 }

// passes says whether a call runs without a question: it is preapproved and was not asked
// about.
func (r *run) passes() bool {
	call, _ := r.asked()
	return call.Allowed && r.st.Approval.Times == 0
}

// asking says whether a yes or no concerns a call: the user is being asked, or will be.
func (r *run) asking() bool { return r.approving() && !r.passes() }

// ask starts the question about a call, after pending speech. No call runs without
// approval.
func (r *run) ask() {
	r.tell(session.QuestionRequested)
	r.st.Approval.Times = 0 // from the previous call
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
	a.Times, a.Heard = a.Times+1, false
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

// consents says whether the event is a yes that counts: its onset came after the question
// was heard and, if the action is irreversible, it names the action. The call runs once
// the user is silent, since the rest of the utterance may revoke it.
func (r *run) consents() bool {
	call, _ := r.asked()
	return r.st.Approval.Heard && r.words.Reply && (r.env.Event.(Final).Named || !call.Destructive)
}

// dropTurn rejects the call and ends the turn.
func (r *run) dropTurn() {
	r.cut()
	r.cancel()
	r.finish(TurnDropped)
}

// replace drops the turn for a new message. The conversation handles it in Listening, and
// queues it until then (invariant 7).
func (r *run) replace() {
	r.dropTurn()
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
	r.dropTurn()
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
	r.assistant(copilot.Input{Do: copilot.Approve, Call: call})
	r.refresh |= 1 << TimerTool // the previous call may have ended in this step
	live, _ := copilot.LiveOf(r.st.Copilot)
	r.tell(session.ApprovalResolved)
	r.toolNews(live, ToolRunning)
	r.emit(CallTool{ToolCall: call.ID, Request: live.Request, Turn: r.st.Current.ID})
	r.raise(ApprovalDecided)
}
