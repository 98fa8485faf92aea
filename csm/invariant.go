package csm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// Check returns what is wrong with a state that Step returned, or nil. The numbers are
// those of the design's list of invariants; 18 is that a pause by the user ends only by the user,
// with the microphone closed under it.
func Check(s State) error {
	for _, c := range []func(State) error{
		checkSpeech, checkRecognition, checkQueue, checkHold, checkTimers, checkAnalysing, checkTurn, checkCopilot, checkHistory, checkEnd,
	} {
		if err := c(s); err != nil {
			return fmt.Errorf("in %v: %w", s.Phase(), err)
		}
	}
	return nil
}

// checkSpeech: invariant 4.
func checkSpeech(s State) error {
	line, open := speech.LineOf(s.Speech)
	begun, why := speech.Begun(s.Speech), s.Silence()
	switch speaking := s.Conv.Phase() == PhaseSpeaking; {
	case begun && speech.Audible(s.Speech) == (why != 0):
		return fmt.Errorf("invariant 4: silence reasons are %b, but speech is %v", why, s.Speech)
	case speaking && !begun:
		return fmt.Errorf("invariant 4: phase is Speaking, but speech is %v", s.Speech)
	case begun && !speaking && why&(SilenceBargeIn|SilenceFloor) == 0:
		return fmt.Errorf("invariant 4: speech is %v outside of Speaking", s.Speech)
	}
	switch s.Conv.Phase() {
	case PhaseAnalysing, PhaseWaitingForCopilot, PhaseInterrupted:
		if in, _ := s.Conv.(Interrupted); open && !in.Doubt {
			return fmt.Errorf("invariant 4: speech line open while nothing plays")
		}
	}
	if in, _ := s.Conv.(Interrupted); in.Doubt {
		if _, paused := s.Speech.(speech.Paused); !paused {
			return fmt.Errorf("invariant 4: barge-in is unconfirmed, but speech is %v", s.Speech)
		}
	}
	_, ready := s.Speech.(speech.Ready)
	_, quiet := s.Turn.(turn.Idle)
	live, _ := copilot.LiveOf(s.Copilot)
	switch {
	case (ready || s.cutIn()) && quiet && !s.voiceless():
		return fmt.Errorf("invariant 8: speech waits for a user who is silent")
	case s.Conv.Phase() == PhaseGeneratingResponse && !open && (live.Request == 0 || live.Cancelled):
		return fmt.Errorf("invariant 8: waiting for an answer that will not arrive")
	}
	if s.VoicePaused && !s.HasPlayback() {
		return fmt.Errorf("invariant 4: the voice is paused without paused speech")
	}
	if open && s.Current.ID == 0 {
		return fmt.Errorf("invariant 3: speech without a turn")
	}
	if open && (line.Played > line.Asked || line.Asked > len(line.Segments)) {
		return fmt.Errorf("line has %d segments, %d synthesised, %d heard", len(line.Segments), line.Asked, line.Played)
	}
	if open && line.Asked < len(line.Segments) && !s.voiceless() {
		return fmt.Errorf("invariant 8: waiting for a segment that is not being synthesised")
	}
	return nil
}

// checkRecognition: in a listening phase, the user can be heard and understood (REQ-003).
func checkRecognition(s State) error {
	switch s.Phase() {
	case PhaseIdle, PhasePreparing, PhaseSuspended, PhaseFaulted, PhaseTerminating:
		return nil
	}
	if _, open := s.Conn.(connection.Open); !open || !s.Resources.Capturing {
		return fmt.Errorf("the user cannot be heard: connection %v, capturing %v", s.Conn, s.Resources.Capturing)
	}
	return nil
}

// checkHold: invariants 5 and 18.
func checkHold(s State) error {
	f, faulted := s.Conv.(Faulted)
	switch {
	case s.Hold != 0 && !s.Conv.Phase().Active() && (!faulted || s.Hold != SuspendUser):
		return fmt.Errorf("invariant 5: held (%b) without an active conversation", s.Hold)
	case faulted && s.UserPaused() && f.Recovering:
		return fmt.Errorf("invariant 18: recovering although the user paused the conversation")
	}
	return nil
}

// checkUserPauseStep: a pause by the user ends only by the user or with the conversation
// (invariant 18).
func checkUserPauseStep(before State, e Envelope, after State) error {
	if before.UserPaused() && !after.UserPaused() && after.Phase() != PhaseTerminating && !endsUserPause(e.Event) {
		return fmt.Errorf("invariant 18: %v ended the user's pause", KindOf(e.Event))
	}
	return nil
}

// checkMicrophone: captured audio flows only in phases that show it, and stops in the
// step that leaves the last of them (invariant 18).
func checkMicrophone(before, after State, fx []Effect) error {
	flows, closed := !before.deaf(), false
	for _, f := range fx {
		switch f.(type) {
		case HoldCapture:
			flows = false
		case ReleaseCapture:
			flows = true
		case CloseAudio:
			closed = true
		case OpenAudio:
			if after.UserPaused() {
				return fmt.Errorf("invariant 18: %s during a pause by the user", NameOf(f))
			}
		case StartCapture:
			if after.Phase() != PhasePreparing {
				return fmt.Errorf("invariant 18: the microphone is opened in %v", after.Phase())
			}
		default:
		}
	}
	open := before.Resources.Audio == Opening || before.Resources.Audio == Opened
	switch p := after.Phase(); {
	case p.Active() && flows == after.deaf():
		return fmt.Errorf("invariant 18: in %v captured audio flows: %v", p, flows)
	case before.Phase().Active() && !p.Active() && open && !closed:
		return fmt.Errorf("invariant 18: the microphone stays open in %v", p)
	}
	return nil
}

// endsUserPause says whether an event is the user's command to resume or end.
func endsUserPause(e Event) bool {
	switch e := e.(type) {
	case Resume:
		return e.Reason&SuspendUser != 0
	case UserStart, UserStop:
		return true
	default:
		return false
	}
}

// checkVoicePauseStep: a pause of the voice by the user ends only by the user or with the
// paused speech (invariant 18).
func checkVoicePauseStep(before State, e Envelope, after State) error {
	if !before.VoicePaused || after.VoicePaused || before.Current.ID != after.Current.ID || !after.HasPlayback() {
		return nil
	}
	switch e := e.Event.(type) {
	case UserPlayback:
		if !e.Pause {
			return nil
		}
	case Final:
		if e.Class == Continue {
			return nil
		}
	default:
	}
	was, open := speech.LineOf(before.Speech)
	if now, still := speech.LineOf(after.Speech); open && (!still || now.Gen != was.Gen) {
		return nil // flushed together with the paused speech
	}
	return fmt.Errorf("invariant 18: %v ended the user's pause of the voice", KindOf(e.Event))
}

// checkSpoken: a synthesised segment belongs to the open line and the current turn, and
// is requested once (invariant 3).
func checkSpoken(before, after State, fx []Effect) error {
	line, _ := speech.LineOf(after.Speech)
	asked := 0
	if was, open := speech.LineOf(before.Speech); open && was.Gen == line.Gen {
		asked = was.Asked
	}
	for _, f := range fx {
		sp, ok := f.(Speak)
		if !ok {
			continue
		}
		if sp.Gen != line.Gen || asked >= line.Asked || line.Segments[asked] != sp.Segment || sp.Turn != after.Current.ID {
			return fmt.Errorf("invariant 3: segment %d is synthesised out of order", sp.Segment.Seq)
		}
		asked++
	}
	if asked < line.Asked {
		return fmt.Errorf("invariant 8: segment %d is marked as requested but was not", line.Segments[asked].Seq)
	}
	return nil
}

// checkHeardOut: if the words of an utterance are lost, the user is informed, unless the
// user ended the conversation or the audio is kept (invariant 6, REQ-008).
func checkHeardOut(before State, e Envelope, after State, fx []Effect) error {
	answered := uint64(0)
	switch e := e.Event.(type) {
	case Final:
		answered = e.Utterance
	case UserStop:
		return nil
	case ConnLost:
		if e.Kept {
			return nil
		}
	default:
	}
	lost := func(u turn.Utterance) bool {
		_, known := turn.Find(after.Turn, u.ID)
		return !known && u.ID != answered
	}
	sp, open := before.Turn.(turn.UserSpeaking)
	if !(open && lost(sp.Open)) && !slices.ContainsFunc(turn.Pending(before.Turn), lost) {
		return nil
	}
	for _, f := range fx {
		switch f.(type) {
		case Notify, PublishError:
			return nil
		default:
		}
	}
	return fmt.Errorf("invariant 6: %v loses an utterance without informing the user", KindOf(e.Event))
}

// checkDeadlines: a deadline belongs to one wait. The next wait gets its full time
// (invariant 8).
func checkDeadlines(before State, e Envelope, after State) error {
	for t := range NumTimers {
		was, is := before.Timers[t], after.Timers[t]
		if !before.needs(t) || !after.needs(t) || before.waiting(t) == after.waiting(t) {
			continue
		}
		if is.Left > 0 || is.Armed && (is.Gen == was.Gen || is.At != e.At+after.after(t)) {
			return fmt.Errorf("invariant 8: deadline %v belongs to another wait", t)
		}
	}
	return nil
}

// waiting returns the wait that timer t bounds.
func (s *State) waiting(t Timer) any {
	live, _ := copilot.LiveOf(s.Copilot)
	line, _ := speech.LineOf(s.Speech)
	switch t {
	case TimerUtterance:
		return s.Turn.(turn.UserSpeaking).Open.ID
	case TimerPause:
		return s.Turn.(turn.UserSpeaking).Open.ID
	case TimerFinal:
		return turn.Pending(s.Turn)[0].ID
	case TimerResponse:
		return s.Current.ID
	case TimerStall, TimerSearch:
		return [2]uint64{live.Request, uint64(live.Round)}
	case TimerCancel:
		return live.Request
	case TimerApproval, TimerTool, TimerRevoke:
		return live.Calls[0].ID
	case TimerModel:
		return s.Copilot.(copilot.LoadingModel).Load
	case TimerSpeech:
		return [2]uint32{line.Gen, uint32(line.Played)}
	case TimerSummary:
		return s.History.(history.Compacting).Job
	case TimerRenewal:
		return s.Conn.(connection.Open).Successor
	default: // the conversation's
		return s.Instance
	}
}

// checkTimers: invariant 8.
func checkTimers(s State) error {
	for t := range NumTimers {
		if runs := s.needs(t) && !s.stands(t); runs != s.Timers[t].Armed {
			return fmt.Errorf("invariant 8: timer %v: needed %v, armed %v", t, runs, s.Timers[t].Armed)
		}
	}
	return nil
}

// checkAnalysing: the wait of Analysing ends (invariants 6 and 8).
func checkAnalysing(s State) error {
	a, ok := s.Conv.(Analysing)
	if !ok {
		return nil
	}
	live, busy := copilot.LiveOf(s.Copilot)
	_, loading := s.Copilot.(copilot.LoadingModel)
	switch {
	case a.Awaiting && len(turn.Pending(s.Turn)) == 0:
		return fmt.Errorf("invariant 8: awaiting a transcript that was not requested")
	case !a.Awaiting && a.Unsent == 0 && (!busy || live.Cancelled || live.Request != s.Current.Request):
		return fmt.Errorf("invariant 8: waiting for a request that is not live")
	case a.Unsent != 0 && !loading && !s.held() && (!busy || !live.Cancelled):
		return fmt.Errorf("invariant 6: an utterance that is never sent")
	case a.Unsent != 0 && a.Unsent != s.Current.Utterance:
		return fmt.Errorf("invariant 6: the unsent utterance is not the turn's")
	}
	return nil
}

// checkCopilot: the copilot region is consistent with the conversation (invariants 1, 9
// and 13).
func checkCopilot(s State) error {
	live, _ := copilot.LiveOf(s.Copilot)
	p := s.Conv.Phase()
	if _, asks := s.Copilot.(copilot.WaitingForApproval); asks != (s.Approval.State != 0) || !asks && s.Approval != (Approval{}) {
		return fmt.Errorf("invariant 13: approval is %v, but the assistant is %v", s.Approval.State, s.Copilot)
	}
	if asking := s.Approval.State.phase() == ApprovalAsking; asking && !speechOpen(s) {
		return fmt.Errorf("invariant 8: asking without a spoken question")
	}
	switch c := s.Copilot.(type) {
	case copilot.LoadingModel, copilot.LoadFailed:
		if !s.Phase().Active() {
			return fmt.Errorf("invariant 9: model is %v without a conversation", c)
		}
	case copilot.SearchingTools, copilot.Generating, copilot.Streaming:
		if live.Cancelled {
			break
		}
		switch p {
		case PhaseAnalysing, PhaseWaitingForCopilot, PhaseGeneratingResponse, PhaseSpeaking:
		default:
			if mayGoOn(s) {
				break
			}
			return fmt.Errorf("invariant 1: %v while the assistant is %v", p, c)
		}
	case copilot.WaitingForApproval:
		if len(c.Calls) == 0 {
			return fmt.Errorf("invariant 13: asking for approval without a call")
		}
		in, cut := s.Conv.(Interrupted)
		switch {
		case cut && in.Doubt:
		case p == PhaseListening, p == PhaseSpeaking, p == PhaseGeneratingResponse && speechOpen(s):
		default:
			return fmt.Errorf("invariant 8: asking about a tool in %v", p)
		}
	case copilot.CallingTool:
		if len(c.Calls) == 0 {
			return fmt.Errorf("invariant 13: calling a tool without a call")
		}
		if !live.Cancelled && p != PhaseGeneratingResponse {
			return fmt.Errorf("invariant 13: %v while a tool is running", p)
		}
	}
	return nil
}

// mayGoOn says whether an answer is paused that may still resume.
func mayGoOn(s State) bool {
	in, _ := s.Conv.(Interrupted)
	return in.Doubt || s.cutIn()
}

func speechOpen(s State) bool { _, open := speech.LineOf(s.Speech); return open }

// checkHistory: invariant 10.
func checkHistory(s State) error {
	if c, ok := s.History.(history.Compacting); ok {
		switch {
		case !s.Phase().Active():
			return fmt.Errorf("invariant 9: a compaction without a conversation")
		case c.Count < 1 || c.Count > len(c.Items):
			return fmt.Errorf("invariant 10: summarising %d of %d items", c.Count, len(c.Items))
		}
	}
	return nil
}

// checkTurn: invariants 1, 2 and 7, as far as a single state shows them.
func checkTurn(s State) error {
	live, busy := copilot.LiveOf(s.Copilot)
	if busy && !live.Cancelled && live.Request != s.Current.Request {
		return fmt.Errorf("invariant 1: request %d is live, but the turn's request is %d", live.Request, s.Current.Request)
	}
	if s.Session.InTurn() && s.Current.Request == 0 {
		return fmt.Errorf("invariant 9: the session is %v without a request", s.Session)
	}
	if s.Current.ID > s.IDs.Turn || s.Current.Request > s.IDs.Request {
		return fmt.Errorf("invariant 7: unallocated id")
	}
	if s.Current.Failed != "" && !explained(s) {
		return fmt.Errorf("invariant 6: turn %d failed without an explanation", s.Current.ID)
	}
	p := s.Conv.Phase()
	switch p {
	case PhaseAnalysing, PhaseWaitingForCopilot, PhaseGeneratingResponse, PhaseSpeaking, PhaseInterrupted:
		if s.Current.ID == 0 {
			return fmt.Errorf("invariant 6: no turn")
		}
	case PhaseListening:
		if copilot.Busy(s.Copilot) && !live.Cancelled && !mayGoOn(s) {
			return fmt.Errorf("invariant 1: listening while a request is live")
		}
	}
	return nil
}

// explained says whether the explanation of a failed turn is being spoken or was cut off.
func explained(s State) bool {
	line, _ := speech.LineOf(s.Speech)
	in, _ := s.Conv.(Interrupted)
	return slices.ContainsFunc(slices.Concat(line.Segments, in.Line.Segments),
		func(seg speech.Segment) bool { return seg.Notice != "" })
}

// checkEnd: invariant 9.
func checkEnd(s State) error {
	switch s.Phase() {
	case PhaseIdle:
		if s.Conv.(Idle).Starting {
			return nil
		}
		if s.Session != session.Inactive || s.Resources != (Resources{}) {
			return fmt.Errorf("invariant 9: idle with something open: %v, %+v", s.Session, s.Resources)
		}
		fallthrough
	case PhaseTerminating, PhaseFaulted:
		_, open := speech.LineOf(s.Speech)
		_, quiet := s.Turn.(turn.Idle)
		live, busy := copilot.LiveOf(s.Copilot)
		if open || !quiet || busy && !live.Cancelled || len(s.Queue) > 0 || s.Current.ID != 0 {
			return fmt.Errorf("invariant 9: a child region is still active")
		}
		switch s.Conn.(type) {
		case connection.Torn, connection.Disconnected:
		default:
			return fmt.Errorf("invariant 9: the connection is %v", s.Conn)
		}
	}
	return nil
}

// checkSent: a round of a request is sent once, and a turn has one request, unless the user
// went on before it was answered.
func checkSent(before State, e Envelope, f SendCopilot) error {
	waits, _ := before.Conv.(Analysing)
	_, words := e.Event.(Final)
	if f.Turn == before.Current.ID && before.Current.Request != 0 && before.Current.Request != f.Request && waits.Unsent == 0 && !words {
		return fmt.Errorf("invariant 2: turn %d has a second request", f.Turn)
	}
	if f.Request == before.IDs.Request+1 && f.Round == 0 {
		return nil
	}
	live, ok := copilot.LiveOf(before.Copilot)
	switch c := before.Copilot.(type) {
	case copilot.SearchingTools:
		ok = ok && live.Request == f.Request && live.Round == f.Round
	case copilot.WaitingForApproval, copilot.CallingTool:
		ok = ok && live.Request == f.Request && live.Round+1 == f.Round
	default:
		return fmt.Errorf("invariant 2: round %d of request %d was sent again, while the assistant was %v", f.Round, f.Request, c)
	}
	if !ok {
		return fmt.Errorf("invariant 2: round %d of request %d was sent out of order", f.Round, f.Request)
	}
	return nil
}

// CheckStep returns what is wrong with a step, beyond the states themselves, or nil.
func CheckStep(before State, e Envelope, after State, fx []Effect) error {
	if err := Check(after); err != nil {
		return err
	}
	if before.IDs.Turn > after.IDs.Turn || after.IDs.Turn > before.IDs.Turn+1 {
		return fmt.Errorf("invariant 7: turn ids went from %d to %d", before.IDs.Turn, after.IDs.Turn)
	}
	if after.Counters.Rejected > before.Counters.Rejected {
		return fmt.Errorf("invariant 9: %v reported a status that the guard map forbids from %v", KindOf(e.Event), before.Session)
	}
	if t, ok := e.Event.(TimerFired); ok && t.Timer < NumTimers && before.Timers[t.Timer].Armed && after.Timers[t.Timer] == before.Timers[t.Timer] &&
		t.Gen == before.Timers[t.Timer].Gen {
		return fmt.Errorf("invariant 8: deadline %v fired without effect", t.Timer)
	}
	for _, err := range [...]error{
		checkUserPauseStep(before, e, after), checkVoicePauseStep(before, e, after), checkMicrophone(before, after, fx),
		checkSpoken(before, after, fx), checkHeardOut(before, e, after, fx), checkDeadlines(before, e, after),
		checkHeard(before, e, after), checkWithdrawn(before, e, after, fx), checkDropped(before, e, after),
		checkDevices(before, e, after, fx),
	} {
		if err != nil {
			return err
		}
	}
	flushed, sent, replies := false, 0, 0
	for _, f := range fx {
		switch f := f.(type) {
		case Flush:
			flushed = true
		case SendCopilot:
			sent++
			if err := checkSent(before, e, f); err != nil {
				return err
			}
		case CallTool:
			running, _ := copilot.LiveOf(after.Copilot)
			w, asked := before.Copilot.(copilot.WaitingForApproval)
			if !(asked && w.Calls[0].ID == f.ToolCall) && !(len(running.Calls) > 0 && running.Calls[0].ID == f.ToolCall && running.Calls[0].Allowed) {
				return fmt.Errorf("invariant 13: call %d runs without approval", f.ToolCall)
			}
			if err := errors.Join(checkConsent(before, e, after, f), checkHolds(before, e, after, f)); err != nil {
				return err
			}
		case Summarise:
			if _, ok := before.History.(history.Compacting); ok && KindOf(e.Event) != KindSummarised && KindOf(e.Event) != KindTimerFired {
				return fmt.Errorf("invariant 10: a second compaction")
			}
		case Reply:
			replies++
		case Report:
			return fmt.Errorf("core reported: %s", f.What)
		case StartPlayback, ResumePlayback:
			if flushed {
				return fmt.Errorf("invariant 3: playback starts in the step of a flush")
			}
		default:
		}
	}
	if sent > 1 {
		return fmt.Errorf("invariant 2: %d requests in one step", sent)
	}
	if want := callOf(e.Event) != 0; (replies == 1) != want || replies > 1 {
		return fmt.Errorf("a call was replied to %d times", replies)
	}
	return nil
}
