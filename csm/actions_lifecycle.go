package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// begin opens a new instance: the session and the devices. The connection waits
// until both are there (REQ-002).
func (r *run) begin() {
	st := &r.st
	st.Instance++
	st.Session, _ = session.Next(st.Session, session.Created)
	st.Conn, st.Turn = connection.Disconnected{}, turn.Idle{}
	r.assistant(copilot.Input{Do: copilot.Open})
	st.Resources = Resources{Audio: Opening, Session: Opening}
	r.emit(ActivateSession{Instance: st.Instance})
	r.emit(OpenAudio{Instance: st.Instance})
}

// prepare starts capture and dials (REQ-003).
func (r *run) prepare() {
	r.emit(StartCapture{Instance: r.st.Instance})
	r.dial()
}

func (r *run) dial() {
	r.st.IDs.Epoch++
	r.link(connection.Dial, r.st.IDs.Epoch)
	r.st.Resources.Conn = Opening
	r.emit(OpenConnection{Instance: r.st.Instance, Epoch: r.st.IDs.Epoch})
}

// succeed dials the successor of a connection that is about to expire.
func (r *run) succeed() {
	r.st.IDs.Epoch++
	r.link(connection.Succeed, r.st.IDs.Epoch)
	r.emit(OpenConnection{Instance: r.st.Instance, Epoch: r.st.IDs.Epoch, Successor: true})
}

// renewable says whether there is a connection to replace, and nothing of an
// earlier replacement is left.
func (r *run) renewable() bool {
	o, open := r.st.Conn.(connection.Open)
	return open && o.Successor == 0 && r.st.Resources.OldConn == Absent
}

// swappable says whether a successor may take over: it stands, nobody speaks, and
// no words are awaited over the old connection.
func (s State) swappable() bool {
	o, open := s.Conn.(connection.Open)
	_, quiet := s.Turn.(turn.Idle)
	_, line := speech.LineOf(s.Speech)
	if !open || !o.Stands || !quiet || line {
		return false
	}
	switch s.Phase() {
	case PhaseListening, PhaseAnalysing, PhaseWaitingForCopilot, PhaseGeneratingResponse:
		return true
	default:
		return false
	}
}

func (r *run) swap() {
	old := r.openEpoch()
	r.link(connection.Swap, 0)
	r.closeOld(old)
}

func (r *run) closeOld(epoch uint32) {
	r.st.Resources.OldConn = Closing
	r.emit(CloseConnection{Instance: r.st.Instance, Epoch: epoch})
}

// lateSuccessor gives up a connection whose successor is late: nothing is lost
// by waiting for it, and something would be when the service hangs up.
func (r *run) lateSuccessor() {
	r.st.Resources.Conn = Opening
	r.suspend(SuspendConnection)
	r.closeOld(r.st.IDs.Epoch - 1)
}

// abandon ends what the conversation was doing: nothing of it is heard or
// answered any more.
func (r *run) abandon(end TurnEnd) {
	r.clearQueue()
	r.cancel()
	r.flush()
	// An interrupted turn has had its end published already.
	if in, cut := r.prior.(Interrupted); cut && !in.Asking {
		r.st.Current = Turn{}
	}
	r.finish(end)
	r.st.Turn = turn.Idle{}
	if c, ok := r.st.History.(history.Compacting); ok {
		r.emit(CancelSummary{Job: c.Job})
		r.st.History = history.Stop(r.st.History)
	}
	switch r.st.Copilot.(type) {
	case copilot.LoadingModel, copilot.LoadFailed:
		r.assistant(copilot.Input{Do: copilot.Shut})
	}
}

// closeAll closes what is open, each thing once.
func (r *run) closeAll() {
	res := &r.st.Resources
	if res.Conn == Opening || res.Conn == Opened {
		res.Conn, res.OldConn = Closing, Absent // everything is closed, each thing once
		r.emit(CloseConnection{Instance: r.st.Instance})
	}
	r.link(connection.Close, 0)
	if res.Audio == Opening || res.Audio == Opened {
		res.Audio = Closing
		r.emit(CloseAudio{Instance: r.st.Instance})
	}
	res.Capturing, res.Lost = false, false
	if res.Session == Opening || res.Session == Opened {
		res.Session = Closing
		r.emit(DeactivateSession{Instance: r.st.Instance})
	}
}

// fault stops the conversation because something failed for good. What can be
// tried again is, after a pause (REQ-009); too many in a row open the breaker
// (PAT-004) or are fatal.
func (r *run) fault() {
	st := &r.st
	code := faultCode(r.env.Event)
	r.abandon(TurnFailed)
	r.closeAll()
	st.Session, _ = session.Next(st.Session, session.Failed)

	f := &st.Faults
	if f.Recent[0] == 0 || r.env.At-f.Recent[0] > st.Config.BreakerWindow {
		f.InRow = 0
	}
	f.InRow++
	copy(f.Recent[1:], f.Recent[:2])
	f.Recent[0] = max(r.env.At, 1)

	now := Faulted{Code: code, Fatal: code.Fatal() || f.InRow > st.Config.FaultRetries}
	oldest := f.Recent[min(max(st.Config.BreakerFaults, 1), len(f.Recent))-1]
	now.Breaker = !now.Fatal && oldest != 0 && r.env.At-oldest <= st.Config.BreakerWindow
	if now.Breaker && r.cause == CauseError {
		r.cause = CauseBreakerOpen
	}
	st.Conv, r.code = now, code
	r.refresh |= 1 << TimerFault
	r.emit(PublishError{Code: code, Fatal: now.Fatal})
	if now.Breaker {
		r.emit(Notify{Code: CodeBreakerOpen})
	}
	if now.Fatal {
		r.emit(Post{Event: KindFatal})
	}
}

// faultCode says what failed.
func faultCode(e Event) Code {
	switch e := e.(type) {
	case SessionFailed:
		return e.Code
	case AudioFailed:
		return e.Code
	case ConnFailed:
		return e.Code
	case ConnLost:
		return e.Code
	case TimerFired:
		if e.Timer == TimerSuspend {
			return CodeSuspendTimeout
		}
		return CodeStartTimeout
	default:
		return CodeInternalError
	}
}

// recover opens a new instance after a fault.
func (r *run) recover() {
	f := r.st.Conv.(Faulted)
	f.Recovering = true
	r.st.Conv = f
	r.begin()
}

// terminate closes everything and waits for it.
func (r *run) terminate() {
	r.abandon(TurnDropped)
	r.closeAll()
	r.st.Session, _ = session.Next(r.st.Session, session.TerminationBegun)
	if e, ok := r.env.Event.(UserStop); ok && e.Code != "" {
		r.code = e.Code
	}
	if r.st.allClosed() {
		r.emit(Post{Event: KindReset})
	}
}

// closed is one thing less to wait for.
func (r *run) closed() {
	if r.st.allClosed() {
		r.emit(Post{Event: KindReset})
	}
}

func (s State) allClosed() bool {
	res := s.Resources
	return !copilot.Busy(s.Copilot) && res.Audio == Absent && res.Conn == Absent && res.Session == Absent
}

// reset ends the instance, and what was said is forgotten with it. Ids, counters
// and the memory of faults stay.
func (r *run) reset() {
	st := &r.st
	st.Session, st.Copilot = session.Inactive, copilot.Idle{}
	st.Conn, st.Turn, st.Resources = connection.Torn{}, turn.Idle{}, Resources{}
	st.Retry, st.History, st.Cursor = copilot.Failure{}, history.Normal{}, Cursor{}
}

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
	if in, cut := r.prior.(Interrupted); cut {
		r.heardByCursor(in.Line)
		if sus.Prior = (Listening{}); !in.Asking {
			r.st.Current = Turn{}
		}
	}
	_, sus.Paused = r.st.Speech.(speech.Paused)
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
	if l, open := speech.LineOf(r.st.Speech); open && why == SuspendConnection {
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
	l, open := speech.LineOf(r.st.Speech)
	busy := copilot.Busy(r.st.Copilot)
	_, paused := r.st.Speech.(speech.Paused)
	unheard := open && (paused || l.Played < len(l.Segments)) // what is paused has yet to drain
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
		case !unheard:
			return PhaseGeneratingResponse
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
	l, open := speech.LineOf(r.st.Speech)
	return sus.Respeak && open && l.Played < len(l.Segments)
}

// resume goes on in phase to, with what was left of the deadlines.
func (r *run) resume(to Phase) {
	sus := r.prior.(Suspended)
	r.saved = &sus.Remaining
	if sus.Prior.Phase() == to {
		r.st.Conv = sus.Prior
	}
	r.emit(ReleaseCapture{})
	var out speech.Outcome
	switch {
	case r.respeaks(sus):
		r.respeak()
	case to == PhaseSpeaking && !sus.Paused:
		if r.st.Speech, out = speech.Resume(r.st.Speech); out == speech.Started {
			r.emit(ResumePlayback{Gen: r.st.Speech.Generation()})
		} else {
			r.release()
		}
	}
	switch to {
	case PhaseListening:
		r.resumeListening(sus)
	case PhaseAnalysing:
		r.resumeAnalysing()
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
	case cur.Request == 0 && (!quiet || r.gathered()):
		// the user's turn goes on
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
	if !hasWords(f) {
		return
	}
	cur := &r.st.Current
	sus := r.st.Conv.(Suspended)
	a, analysing := sus.Prior.(Analysing)
	switch {
	case cur.ID == 0 || cur.Request != 0 || cur.Role == Assistant || cur.Failed != "" || analysing && a.Unsent != 0:
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
	unheard := open && l.Played < len(l.Segments)
	switch {
	case whole(r) && open:
		r.endLine()
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
	_, failed := r.st.Copilot.(copilot.LoadFailed)
	if a, ok := r.st.Conv.(Suspended).Prior.(Analysing); ok && failed && a.Unsent != 0 {
		r.failSuspended(CodeModelFailed)
	}
}
