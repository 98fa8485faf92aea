package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// The approval region is the sub-dialogue about one call of a tool, in the same turn.
// It is there while the assistant waits for the user's decision, and is offered each
// event before the conversation: what it has a row for is its own, and the conversation
// learns of it by ApprovalListens, ApprovalDecided and pass.
//
// A yes counts only when its onset came after the question was heard. What else is said
// rejects the call and becomes the next message. Only that one call is allowed.
//
// A call that is allowed beforehand is made when what was said before it was heard, and
// nobody is asked. Where the user interrupts that, they are asked as about any other.

// Approval is how the question about a call stands.
type Approval struct {
	State ApprovalState
	Times int // how often the question was begun
	// Heard says that the question was heard to its end, so that what is said from here
	// on may be the answer to it.
	Heard bool
}

// ApprovalState is a state of the region: none, asking while the question is to be
// heard, listening for the answer, deciding when the user said yes and may be saying
// more.
type ApprovalState uint8

// phase is the state's name in the table.
func (a ApprovalState) phase() Phase { return ApprovalNone + Phase(a) }

func (a ApprovalState) String() string { return a.phase().String() }

// maxAsked is how often the user is asked about one call.
const maxAsked = 2

func approvalRows() []Row {
	const p = ApprovalOpen
	unheard := when("before it is heard", func(r *run) bool {
		return r.st.Conv.Phase() == PhaseListening && !r.st.cutIn()
	})
	over := when("nothing is left to be heard", func(r *run) bool { return !speechOpen(r.st) })
	counts := when("it counts", (*run).consents)
	saysNoMore := when("the user says no more", userSilent.Holds)
	again := when("it may be asked again", (*run).mayAskAgain)
	interrupts := when("the user may interrupt", func(r *run) bool { return r.st.Conv.Phase() != PhaseSpeaking || !never.Holds(r) })
	passes := when("such calls are allowed beforehand", (*run).passes)
	drafted := when("something drafted", func(r *run) bool { return len(r.st.Drafts) > 0 })
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

		// Anything else: a word to stop, or the next message.
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

// asked is the call that the user is asked about.
func (r *run) asked() (copilot.Call, bool) {
	if w, ok := r.st.Copilot.(copilot.WaitingForApproval); ok {
		return w.Calls[0], true
	}
	return copilot.Call{}, false
}

// approving says whether the user is asked about a tool.
func (r *run) approving() bool { return r.st.Approval.State != 0 }

// passes says whether a call is made without a question: the user allowed such calls
// beforehand, and was not asked about this one.
func (r *run) passes() bool {
	call, _ := r.asked()
	return call.Allowed && r.st.Approval.Times == 0
}

// asking says whether a yes or no is about a call: the user is asked, or will be.
func (r *run) asking() bool { return r.approving() && !r.passes() }

// ask begins the question about a call, after what is still to be heard. Nothing
// is called that the user did not allow.
func (r *run) ask() {
	r.tell(session.QuestionRequested)
	r.st.Approval.Times = 0 // of the call before
	if r.passes() {
		r.st.Speech, _ = speech.End(r.st.Speech)
		return
	}
	r.question()
}

// question asks, once more where nobody answered or the answer does not count.
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

// consents says whether the event is a yes that counts: one whose onset came after
// the question was heard and, where what is done cannot be undone, that names it. It
// is carried out when the user is silent: what else is being said may take it back.
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

// replace drops the turn for what the user said instead. The conversation takes that in
// Listening, and has it wait where it is not there yet (invariant 7).
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

// replaceByDrafts does so with what the user said before, and sends now. What waited
// goes first.
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

// stop rejects the call. The conversation stops what it was about to say.
func (r *run) stop() {
	r.cancel()
	r.raise(r.trigger())
}

// questionBroke leaves a question that cannot be spoken to be answered by hand.
func (r *run) questionBroke() {
	r.cut()
	r.raise(ApprovalListens)
	r.emit(Notify{Turn: r.st.Current.ID, Code: CodeSpeechFailed})
}

// decide is the user's decision by hand.
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
	r.refresh |= 1 << TimerTool // a call before it may have ended in this step
	live, _ := copilot.LiveOf(r.st.Copilot)
	r.tell(session.ApprovalResolved)
	r.toolNews(live, ToolRunning)
	r.emit(CallTool{ToolCall: call.ID, Request: live.Request, Turn: r.st.Current.ID})
	r.raise(ApprovalDecided)
}
