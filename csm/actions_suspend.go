package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// reasonOf is the reason a suspension was asked for or is taken away.
func reasonOf(e Event) SuspendReason {
	switch e := e.(type) {
	case Suspend:
		return e.Reason &^ suspendFacts
	case Resume:
		return e.Reason &^ suspendFacts
	case SessionRenewed:
		return SuspendRenewal
	case AudioRestored:
		return SuspendDevice
	case ConnReady:
		return SuspendConnection
	default:
		return 0
	}
}

// suspend holds the conversation still: devices and deadlines stand, nothing is
// lost but the words that were being spoken (REQ-008).
func (r *run) suspend(why SuspendReason) {
	sus := Suspended{Prior: r.prior, Remaining: r.remaining()}
	unsettled, still := r.unsettle()
	if in, cut := r.prior.(Interrupted); cut && !unsettled {
		r.heardUpTo(in.Line, r.st.Cursor)
		if sus.Prior = (Listening{}); !in.Asking {
			r.st.Current = Turn{}
		}
	}
	_, sus.Paused = r.st.Speech.(speech.Paused)
	if unsettled { // the user's words are lost, and the answer goes on
		sus.Prior, sus.Paused = Speaking{}, still
	}
	var out speech.Outcome
	if r.st.Speech, out = speech.Pause(r.st.Speech); out == speech.Stopped {
		r.emit(PausePlayback{Gen: r.st.Speech.Generation()})
	}
	r.st.Conv = sus
	r.emit(HoldCapture{})
	r.dropOpenUtterance()
	r.addReason(why)
}

// dropOpenUtterance gives up the utterance that is being spoken: its rest will
// not be captured.
func (r *run) dropOpenUtterance() {
	sp, ok := r.st.Turn.(turn.UserSpeaking)
	if !ok {
		return
	}
	if e := r.openEpoch(); e != ^uint32(0) {
		r.emit(ClearInput{Epoch: e})
	}
	r.st.Turn, _ = turn.Next(r.st.Turn, turn.Answered, sp.Open)
	r.owe(CodeUtteranceLost)
}

// owe notes a failure that the user is told of when the conversation goes on.
func (r *run) owe(code Code) {
	sus := r.st.Conv.(Suspended)
	if sus.Owed == "" {
		sus.Owed = code
	}
	r.st.Conv = sus
}

// addReason adds a reason to the set. A lost connection is dialled again at
// once, takes awaited words with it, and has speech synthesised anew.
func (r *run) addReason(why SuspendReason) {
	sus := r.st.Conv.(Suspended)
	sus.Reasons |= why
	sus.Resuming = false
	if l, _ := speech.LineOf(r.st.Speech); why == SuspendConnection {
		sus.Respeak = l.Played < len(l.Segments)
	}
	r.st.Conv = sus
	if why != SuspendConnection {
		return
	}
	if _, quiet := r.st.Turn.(turn.Idle); !quiet {
		r.st.Turn = turn.Idle{}
		r.owe(CodeUtteranceLost)
	}
	if connection.Epoch(r.st.Conn) == 0 { // no successor is on its way
		r.dial()
	}
}

// takeReason takes a reason away while others are left, or while speech has to
// be synthesised again before the conversation can go on.
func (r *run) takeReason() {
	sus := r.st.Conv.(Suspended)
	sus.Reasons &^= reasonOf(r.env.Event)
	if sus.Reasons == 0 && !sus.Resuming {
		sus.Resuming, sus.Restored = true, restoredBy(r.env.Event.Kind())
		r.st.Conv = sus
		r.respeak()
		return
	}
	r.st.Conv = sus
}

// respeak has the unheard rest of the line synthesised again.
func (r *run) respeak() {
	r.st.Speech = speech.Restart(r.st.Speech)
	l, _ := speech.LineOf(r.st.Speech)
	r.emit(Flush{Gen: l.Gen})
	for _, seg := range l.Segments {
		r.emit(Speak{Gen: l.Gen, Turn: r.st.Current.ID, Segment: seg})
	}
}

func restoredBy(on Kind) Cause {
	switch on {
	case KindAudioRestored:
		return CauseDeviceRestored
	case KindConnReady:
		return CauseConnRestored
	default:
		return CauseSessionResume
	}
}

// resumesTo holds when the event takes the last reason away and phase to can be
// entered at once. Speaking after a lost connection cannot: it waits for audio.
func resumesTo(to Phase) Guard {
	return Guard{"last reason gone, back to " + to.String(), func(r *run) bool {
		sus := r.st.Conv.(Suspended)
		return sus.Reasons&^reasonOf(r.env.Event) == 0 && r.resumeTarget(sus) == to
	}}
}

// resumeTarget is the phase that a suspended conversation goes on in, or
// PhaseSuspended while speech has to be synthesised again first.
func (r *run) resumeTarget(sus Suspended) Phase {
	l, _ := speech.LineOf(r.st.Speech)
	live, _ := copilot.LiveOf(r.st.Copilot)
	busy := copilot.Busy(r.st.Copilot) && !live.Cancelled
	_, paused := r.st.Speech.(speech.Paused)
	unheard := paused || l.Played < len(l.Segments) // what is paused has yet to drain
	switch sus.Prior.(type) {
	case Preparing:
		if r.recognising() {
			return PhaseListening
		}
		return PhasePreparing
	case Analysing:
		if sus.Prior.(Analysing).Awaiting && len(turn.Pending(r.st.Turn)) == 0 {
			return PhaseListening
		}
		return PhaseAnalysing
	case WaitingForCopilot:
		return PhaseWaitingForCopilot
	case GeneratingResponse, Speaking:
		_, speaking := sus.Prior.(Speaking)
		_, held := r.st.Speech.(speech.Held)
		_, dry := r.st.Speech.(speech.Buffering) // it ran dry as it was paused
		_, quiet := r.st.Turn.(turn.Idle)
		switch {
		case !unheard && !busy:
			return PhaseListening
		case r.respeaks(sus) && speaking:
			return PhaseSuspended
		case speaking && !dry, held && quiet && !sus.Respeak:
			return PhaseSpeaking
		default:
			return PhaseGeneratingResponse
		}
	default:
		if _, held := r.st.Speech.(speech.Held); held && !sus.Respeak {
			return PhaseSpeaking
		}
		return PhaseListening
	}
}

// respeaks says whether there is speech that has to be synthesised again.
func (r *run) respeaks(sus Suspended) bool {
	l, _ := speech.LineOf(r.st.Speech)
	return sus.Respeak && l.Played < len(l.Segments)
}

// resume goes on in phase to, with what was left of the deadlines.
func (r *run) resume(to Phase) {
	sus := r.prior.(Suspended)
	r.saved = &sus.Remaining
	if sus.Prior.Phase() == to {
		r.st.Conv = sus.Prior
	}
	r.emit(ReleaseCapture{})
	switch {
	case r.respeaks(sus):
		r.respeak()
	case to == PhaseSpeaking:
		r.resumePlayback(sus.Paused)
	}
	switch to {
	case PhasePreparing: // where nobody is heard
		r.st.Turn = turn.Idle{}
	case PhaseListening:
		r.resumeListening(sus)
	case PhaseAnalysing:
		r.resumeAnalysing()
	}
}

// resumePlayback lets what stood still be heard again. What the user had paused
// stays paused, also where it is the next piece that waits.
func (r *run) resumePlayback(paused bool) {
	_, held := r.st.Speech.(speech.Held)
	if held {
		r.release()
	}
	var out speech.Outcome
	switch {
	case paused && held:
		r.st.Speech, _ = speech.Pause(r.st.Speech)
		r.emit(PausePlayback{Gen: r.st.Speech.Generation()})
	case paused:
	default:
		if r.st.Speech, out = speech.Resume(r.st.Speech); out == speech.Started {
			r.emit(ResumePlayback{Gen: r.st.Speech.Generation()})
		}
	}
}

// resumeListening settles what became of the turn meanwhile.
func (r *run) resumeListening(sus Suspended) {
	_, quiet := r.st.Turn.(turn.Idle)
	_, open := speech.LineOf(r.st.Speech)
	cur := r.st.Current
	switch {
	case cur.Failed != "" && !open:
		r.finish(TurnFailed)
		r.listen()
	case cur.ID == 0 || open || r.approving():
		r.listen()
	case (cur.Request != 0 || cur.Role == Assistant) && sus.Owed == "":
		r.finish(Answered)
		r.listen()
	case cur.Request == 0 && !quiet:
		// the user's turn goes on
	case r.gathered() && r.st.config().Turns == turn.Manual: // and so does one that waits for the user to end it
		if sus.Owed != "" {
			r.emit(Notify{Turn: cur.ID, Code: sus.Owed})
		}
	case sus.Owed != "":
		r.explain(sus.Owed)
	default:
		r.finish(TurnDropped)
	}
}

// resumeAnalysing sends what waited for a cancelled request or a model that was
// settled meanwhile.
func (r *run) resumeAnalysing() {
	a := r.st.Conv.(Analysing)
	if _, ready := r.st.Copilot.(copilot.Ready); ready && a.Unsent != 0 {
		r.send(a.Stage)
	}
}

// resumeSpeech goes on in Speaking: audio is buffered again.
func (r *run) resumeSpeech() {
	sus := r.prior.(Suspended)
	r.cause = sus.Restored
	r.saved = &sus.Remaining
	r.emit(ReleaseCapture{})
	r.play()
}

// respeakBroke gives up the speech of a suspended conversation.
func (r *run) respeakBroke() {
	if r.approving() { // it is answered by hand then
		r.questionBroke()
		r.standBy()
		return
	}
	r.cancel()
	r.flush()
	r.failed(CodeSpeechFailed)
	r.finish(TurnFailed)
	r.standBy()
}

// standBy has the conversation go on in Listening; at once when nothing else
// holds it.
func (r *run) standBy() {
	sus := r.st.Conv.(Suspended)
	resuming := sus.Resuming
	if sus.Prior.Phase() != PhasePreparing { // where there is nothing to listen with yet
		sus.Prior = Listening{}
	}
	sus.Respeak, sus.Resuming, sus.Owed = false, false, ""
	r.st.Conv = sus
	if resuming {
		r.emit(Post{Event: KindResume})
	}
}

// dropSuspended is the user's word to stop the assistant.
func (r *run) dropSuspended() {
	r.clearQueue()
	r.cancel()
	r.flush()
	r.finish(TurnDropped)
	r.standBy()
}

// finalSuspended keeps an utterance that was understood meanwhile: of the
// current turn when that is waiting for it, else in the queue.
func (r *run) finalSuspended() {
	f := r.env.Event.(Final)
	if !r.hasWords(f) {
		return
	}
	cur := &r.st.Current
	sus := r.st.Conv.(Suspended)
	a, _ := sus.Prior.(Analysing)
	switch {
	case cur.ID == 0 || cur.Request != 0 || cur.Role == Assistant || cur.Failed != "" || a.Unsent != 0:
		r.enqueueFinal()
	case r.drafts(f):
		r.gather(f.Utterance)
	default:
		r.gather(f.Utterance)
		sus.Prior = Analysing{Unsent: cur.Utterance}
		r.st.Conv = sus
	}
}

// sentSuspended and deltaSuspended keep the answer's progress.
func (r *run) sentSuspended() {
	r.attempt()
	r.advancePrior(PhaseAnalysing, WaitingForCopilot{})
}

func (r *run) deltaSuspended() {
	r.advancePrior(PhaseAnalysing, GeneratingResponse{})
	r.advancePrior(PhaseWaitingForCopilot, GeneratingResponse{})
}

func (r *run) advancePrior(from Phase, to Conversation) {
	sus := r.st.Conv.(Suspended)
	if sus.Prior.Phase() == from {
		sus.Prior = to
		if to.Phase() == PhaseGeneratingResponse {
			sus.Remaining[TimerResponse] = 0
		}
		r.st.Conv = sus
	}
}

// doneSuspended ends the answer.
func (r *run) doneSuspended() {
	sus := r.st.Conv.(Suspended)
	sus.Remaining[TimerStall] = 0
	r.st.Conv = sus
	l, open := speech.LineOf(r.st.Speech)
	unheard := l.Played < len(l.Segments)
	switch {
	case whole(r) && open:
		r.endLine()
	case whole(r) && r.laterRound(): // which had nothing to add
		r.endTurn(session.TurnComplete)
		sus.Prior = Listening{}
		r.st.Conv = sus
	case unheard:
		r.explainAfter(doneCode(r))
	default:
		r.failSuspended(doneCode(r))
	}
}

// decideSuspended is the user's decision by hand about a tool.
func (r *run) decideSuspended() {
	sus := r.st.Conv.(Suspended)
	sus.Prior, sus.Respeak = GeneratingResponse{}, false
	r.st.Conv = sus
	r.decide()
}

// toolSuspended keeps what became of a tool, or of the search for tools.
func (r *run) toolSuspended() {
	switch {
	case r.copilotOut == copilot.Confirmed:
	case r.copilotOut == copilot.Ended:
		r.failSuspended(toolCode(r))
	case r.copilotOut == copilot.Asks, r.copilotOut == copilot.NextRound:
		r.proceed()
	default:
		r.handOver()
	}
}

// failSuspended ends a request that failed with nothing left to be heard: the
// user is told when the conversation goes on.
func (r *run) failSuspended(code Code) {
	r.flush()
	r.owe(code)
	sus := r.st.Conv.(Suspended)
	sus.Prior, sus.Respeak = Listening{}, false
	r.st.Conv = sus
}

// modelSuspended is the model's news while an utterance may wait for it.
func (r *run) modelSuspended() {
	r.modelNews()
	if a, _ := r.st.Conv.(Suspended).Prior.(Analysing); a.Unsent != 0 {
		r.failSuspended(CodeModelFailed)
	}
}
