package csm

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// Step applies one event. It is total and pure: every event is accepted in every state,
// and one without a meaning there only changes a counter.
//
// Facts that arrive as often as audio take the fast path, since no transition depends on
// them.
func Step(s State, e Envelope) (State, []Effect) {
	if s.audioFact(e.Event) {
		return s, nil
	}
	return step(s, e, nil)
}

// audioFact handles facts that arrive as often as audio: the playback position, and that
// more is buffered during playback. It says whether e is one. A cursor of inaudible audio
// is stale, and so is one that moves back.
func (s *State) audioFact(e Event) bool {
	switch e := e.(type) {
	case SpeechCursor:
		was := s.Cursor
		if !speech.Sounds(s.Speech, e.Gen) || e.Gen == was.Gen && (e.Seq < was.Seq || e.Seq == was.Seq && e.Played < was.Played) {
			s.Counters.Stale++
			return true
		}
		s.Cursor = Cursor(e)
		return true
	case SpeechBuffered:
		if e.Gen != s.Speech.Generation() || !speech.Audible(s.Speech) {
			return false
		}
		s.Counters.Ignored++
		return true
	default:
		return false
	}
}

// Observation records what a step did in the table, for coverage: rows are indices into
// Table.
type Observation struct {
	Fired  []int       // the rows that were taken: the event's, then settled ones
	Guards []GuardSeen // the guards that were evaluated, in order
}

// GuardSeen is the result of one guard.
type GuardSeen struct {
	Row  int
	Held bool
}

// StepObserved is Step, and reports the rows it took.
func StepObserved(s State, e Envelope) (State, []Effect, Observation) {
	var seen Observation
	if s.audioFact(e.Event) {
		return s, nil, seen
	}
	next, fx := step(s, e, &seen)
	return next, fx, seen
}

func step(s State, e Envelope, seen *Observation) (State, []Effect) {
	return stepIn(new(run), s, e, seen)
}

// Stepper is Step with reusable scratch memory, for loops of many steps. The zero Stepper
// is ready to use. One goroutine owns it; the states and effects that it returns share no
// memory with it.
type Stepper struct{ scratch run }

// Step applies one event, like the function Step.
func (p *Stepper) Step(s State, e Envelope) (State, []Effect) {
	if s.audioFact(e.Event) {
		return s, nil
	}
	return stepIn(&p.scratch, s, e, nil)
}

func stepIn(r *run, s State, e Envelope, seen *Observation) (State, []Effect) {
	*r = run{seen: seen, Context: context.Background(), st: s, env: e, copilotOut: copilot.Ignored, speechOut: speech.Ignored}
	r.fx = r.room[:0]
	if !r.route() {
		s.Counters.Stale++
		return s, refuse(e.Event, CodeInvalidState)
	}
	switch err := r.dispatch(r.trigger()); {
	case errors.Is(err, errUnhandled):
		s.Counters.Ignored++
		return s, refuse(e.Event, noMeaning(s))
	case err != nil:
		return s, []Effect{Report{What: fmt.Sprintf("%v in %v: %v", KindOf(e.Event), s.Phase(), err)}}
	}
	r.settle(&s)
	r.publish(&s)
	r.deadlines()
	return r.st, r.effects()
}

// noMeaning returns the reply code for a call without a meaning in s.
func noMeaning(s State) Code {
	if s.Phase() == PhaseIdle {
		return CodeNoConversation
	}
	return CodeInvalidState
}

// refuse replies to the call of an event, if it has one.
func refuse(e Event, code Code) []Effect {
	if c := callOf(e); c != 0 {
		return []Effect{Reply{Call: c, Code: code}}
	}
	return nil
}

// effects orders the emitted effects: a flush first, since nothing after it may be heard
// over what it silences, then the reply to the caller, then the rest in order.
func (r *run) effects() []Effect {
	call := callOf(r.env.Event)
	if len(r.fx) == 0 && call == 0 {
		return nil
	}
	out := make([]Effect, 0, len(r.fx)+1)
	for _, e := range r.fx {
		if _, ok := e.(Flush); ok {
			out = append(out, e)
		}
	}
	if call != 0 {
		out = append(out, Reply{Call: call, Turn: r.replied, Code: r.refused})
	}
	for _, e := range r.fx {
		if _, ok := e.(Flush); !ok {
			out = append(out, e)
		}
	}
	return out
}

// callOf is the id of the request that an event carries, or 0 if no reply is expected.
func callOf(e Event) Call {
	if c, ok := e.(interface{ call() Call }); ok {
		return c.call()
	}
	return 0
}

// route passes the event to the region that it concerns and says whether it is live. The
// conversation's own transition comes afterwards and sees the updated regions.
func (r *run) route() bool {
	r.was = r.st.Copilot
	switch e := r.env.Event.(type) {
	case SessionReady, SessionFailed, SessionExpiring, SessionRenewal, SessionRenewed, SessionClosed:
		return r.routeSession(e)
	case AudioPrimed, AudioReady, AudioFailed, AudioLost, AudioRestored, AudioClosed:
		return r.routeAudio(e)
	case ConnReady, ConnLost, ConnFailed, ConnClosed:
		return r.routeConnection(e)
	case SpeechStarted, SpeechPaused, SpeechResumed, SpeechStopped, Partial, Final, RecognitionLost:
		return r.routeVoice(e)
	case ModelProgress, ModelLoaded, ModelFailed, ToolSearchDone, CopilotSent, CopilotDelta, CopilotSegment,
		CopilotToolCall, CopilotDone, ToolDone:
		return r.routeCopilot(e)
	case Summarised:
		var live bool
		r.st.History, live = history.Compacted(r.st.History, e.Job, e.Code == "", r.st.Config.HistoryKeep)
		return live
	case SpeechBuffered, SpeechPlayed, SpeechDrained, SpeechFlushed, SpeechFailed:
		return r.routeSpeech(e)
	case TimerFired:
		return r.routeTimer(e)
	case Suspend:
		return reasonOf(e) != 0
	case UserApprove:
		call, asked := r.asked()
		return asked && call.ID == e.ToolCall
	case UserInterrupt:
		r.voice(turn.Drop, turn.Utterance{})
	case UserPlayback, UserStart, UserStop, UserCommit, UserText, UserRetry, UserSelectModel, UserSpeak,
		Configure, QueueNext, Reset, Resume, Fatal, SpeechCursor:
		return true // concerns no region
	}
	return true
}

// routeVoice handles facts about the user's voice. The Pos of an onset is that of its
// utterance.
func (r *run) routeVoice(e Event) bool {
	switch e := e.(type) { //nolint:gochecksumtype // route passes only these
	case SpeechStarted:
		if r.st.deaf() { // the microphone is muted: the onset is older, and its end will not be heard
			return false
		}
		r.refresh |= 1 << TimerRevoke
		return r.hear(e.Epoch, turn.Onset, turn.Utterance{ID: e.Utterance, Pos: e.Pos, Stamp: r.st.stamp()})
	case SpeechPaused:
		return r.hear(e.Epoch, turn.Silence, turn.Utterance{ID: e.Utterance})
	case SpeechResumed:
		return r.hear(e.Epoch, turn.Voice, turn.Utterance{ID: e.Utterance})
	case SpeechStopped:
		return r.hear(e.Epoch, turn.End, turn.Utterance{ID: e.Utterance})
	case Partial:
		if _, known := turn.Find(r.st.Turn, e.Utterance); !known || e.Epoch != r.openEpoch() {
			return false
		}
		if sp, _ := r.st.Turn.(turn.UserSpeaking); sp.Open.ID != e.Utterance {
			r.refresh |= 1 << TimerFinal // the awaited words are arriving
		}
		return true
	case Final:
		r.words, _ = turn.Find(r.st.Turn, e.Utterance)
		return r.hear(e.Epoch, turn.Answered, turn.Utterance{ID: e.Utterance})
	case RecognitionLost:
		return r.hear(e.Epoch, turn.Answered, turn.Utterance{ID: e.Utterance})
	}
	return false
}

func (r *run) routeCopilot(e Event) bool {
	switch e := e.(type) { //nolint:gochecksumtype // route passes only these
	case ModelProgress:
		r.assistant(copilot.Input{Do: copilot.Progress, Load: e.Load, Percent: e.Percent})
	case ModelLoaded:
		r.assistant(copilot.Input{Do: copilot.Loaded, Load: e.Load})
		load, _ := r.was.(copilot.LoadingModel) // discarded if the event is stale
		r.st.Model.Loaded = load.Model
	case ModelFailed:
		r.assistant(copilot.Input{Do: copilot.Unloaded, Load: e.Load, Reason: string(cmp.Or(e.Code, CodeModelFailed))})
	case ToolSearchDone:
		do := copilot.Found
		if e.Code != "" || e.Cancelled {
			do = copilot.NotFound
		}
		r.assistant(copilot.Input{Do: do, Request: e.Request, Round: e.Round})
	case CopilotSent:
		r.assistant(copilot.Input{Do: copilot.Attempt, Request: e.Request, Round: e.Round, Attempt: e.Attempt})
	case CopilotDelta:
		r.assistant(copilot.Input{Do: copilot.Sign, Request: e.Request, Round: e.Round})
	case CopilotSegment:
		r.assistant(copilot.Input{Do: copilot.Sign, Request: e.Request, Round: e.Round})
	case CopilotToolCall:
		r.assistant(copilot.Input{
			Do: copilot.Wants, Request: e.Request, Round: e.Round,
			Call: copilot.Call{ID: e.ToolCall, Destructive: e.Destructive, Reads: e.Reads, Allowed: e.Allowed},
		})
	case CopilotDone:
		do := copilot.Fail
		if whole(r) {
			do = copilot.Terminal
		}
		r.assistant(copilot.Input{Do: do, Request: e.Request, Round: e.Round})
		if r.copilotOut == copilot.Ended && whole(r) {
			r.st.Asked = e.Asks
		}
	case ToolDone:
		r.toolEnded(e)
	}
	return r.copilotOut != copilot.Stale
}

// assistant applies an input to the copilot region. A question about a call is closed
// when the region stops waiting for it.
func (r *run) assistant(in copilot.Input) {
	r.st.Copilot, r.copilotOut = copilot.Next(r.st.Copilot, in)
	if _, asks := r.st.Copilot.(copilot.WaitingForApproval); !asks && r.st.Approval != (Approval{}) {
		r.st.Approval = Approval{}
		r.voice(turn.Decide, turn.Utterance{})
	}
}

// trigger returns the meaning of the event, after its region processed it.
func (r *run) trigger() Kind {
	switch e := r.env.Event.(type) { //nolint:gochecksumtype // the others have one meaning each
	case Final:
		return r.finalMeans(e)
	case UserPlayback:
		if e.Pause {
			return VoicePause
		}
		return VoiceContinue
	case Partial:
		if e.Words > 0 && e.Class != Backchannel {
			return PartialCounts
		}
	case SpeechPaused, SpeechStopped:
		if r.retracts() {
			return VoiceRetracted
		}
	case SpeechDrained:
		if r.speechOut == speech.Done {
			return LineHeard
		}
	case CopilotDelta, CopilotSegment:
		if r.copilotOut == copilot.First {
			return AnswerBegins
		}
	case CopilotDone:
		switch {
		case r.copilotOut == copilot.Asks:
			return AnswerAsks
		case r.copilotOut == copilot.Ended && whole(r):
			return AnswerWhole
		case r.copilotOut == copilot.Ended:
			return AnswerBroke
		}
	case ToolSearchDone:
		switch r.copilotOut {
		case copilot.Changed:
			return ToolsFound
		case copilot.Ended:
			return SearchBroke
		}
	case ToolDone:
		switch r.copilotOut {
		case copilot.Asks, copilot.NextRound:
			return ToolNext
		case copilot.Ended:
			return ToolBroke
		}
	case ConnLost, ConnFailed:
		if r.connOut == connection.SuccessorGone {
			return SuccessorGone
		}
	case TimerFired:
		return Passed(e.Timer)
	}
	return KindOf(r.env.Event)
}

func (r *run) routeSession(e Event) bool {
	st := &r.st
	switch e := e.(type) { //nolint:gochecksumtype // route passes only these
	case SessionReady:
		if e.Instance != st.Instance || st.Resources.Session != Opening {
			return false
		}
		st.Resources.Session = Opened
		r.tell(session.Connected)
	case SessionFailed:
		if e.Instance != st.Instance || st.Resources.Session == Absent || st.Resources.Session == Closing {
			return false
		}
	case SessionExpiring:
		return e.Instance == st.Instance && st.Resources.Session == Opened
	case SessionRenewal:
		live := e.Epoch == 0 || e.Epoch == connection.Epoch(st.Conn)
		return live && e.Instance == st.Instance && st.Resources.Session == Opened
	case SessionRenewed:
		return e.Instance == st.Instance && st.Resources.Session == Opened
	case SessionClosed:
		if e.Instance != st.Instance || st.Resources.Session != Closing {
			return false
		}
		st.Resources.Session = Absent
	}
	return true
}

func (r *run) routeAudio(e Event) bool {
	res := &r.st.Resources
	switch e := e.(type) { //nolint:gochecksumtype // route passes only these
	case AudioPrimed:
		if e.Instance != r.st.Instance || res.Audio != Opening {
			return false
		}
		res.Audio = Opened
	case AudioReady:
		if e.Instance != r.st.Instance || res.Audio != Opened || res.Capturing {
			return false
		}
		res.Capturing = true
	case AudioFailed:
		return e.Instance == r.st.Instance && (res.Audio == Opening || res.Audio == Opened)
	case AudioLost:
		return e.Instance == r.st.Instance && res.Audio == Opened && r.st.Hold|e.Device.Reasons() != r.st.Hold
	case AudioRestored:
		return e.Instance == r.st.Instance && r.st.Hold&e.Device.Reasons() != 0
	case AudioClosed:
		if e.Instance != r.st.Instance || res.Audio != Closing {
			return false
		}
		res.Audio = Absent
	}
	return true
}

func (r *run) routeConnection(e Event) bool {
	res := &r.st.Resources
	switch e := e.(type) { //nolint:gochecksumtype // route passes only these
	case ConnReady:
		r.link(connection.Ready, e.Epoch)
		res.Conn = Opened // already so for a successor
	case ConnLost:
		r.link(connection.Lost, e.Epoch)
	case ConnFailed:
		r.link(connection.Failed, e.Epoch)
	case ConnClosed:
		switch {
		case e.Instance != r.st.Instance:
			return false
		case e.Epoch == 0 && res.Conn == Closing:
			res.Conn = Absent
		case e.Epoch != 0 && e.Epoch == res.OldConn:
			res.OldConn = 0
		default:
			return false
		}
		return true
	}
	return r.connOut != connection.Stale
}

// link applies an input to the connection region.
func (r *run) link(in connection.Input, epoch uint32) {
	r.st.Conn, r.connOut = connection.Next(r.st.Conn, in, epoch)
}

// hear applies a fact about the user's voice on the live connection.
func (r *run) hear(epoch uint32, in turn.Input, u turn.Utterance) bool {
	return epoch == r.openEpoch() && r.voice(in, u) != turn.Stale
}

// voice applies an input to an utterance.
func (r *run) voice(in turn.Input, u turn.Utterance) (out turn.Outcome) {
	r.st.Turn, out = turn.Next(r.st.Turn, in, u)
	if in == turn.End || in == turn.Commit || in == turn.Answered {
		r.refresh |= 1 << TimerFinal
	}
	return out
}

// openEpoch returns the epoch of the open connection, or a value that no event has.
func (r *run) openEpoch() uint32 {
	if o, ok := r.st.Conn.(connection.Open); ok {
		return o.Epoch
	}
	return ^uint32(0)
}

func (r *run) routeSpeech(e Event) bool {
	st := &r.st
	switch e := e.(type) { //nolint:gochecksumtype // route passes only these
	case SpeechBuffered:
		st.Speech, r.speechOut = speech.Buffered(st.Speech, e.Gen, e.Seq)
		r.refresh |= 1 << TimerSpeech
	case SpeechPlayed:
		seg, _ := segmentOf(st.Speech, e.Seq)
		st.Speech, r.speechOut = speech.Played(st.Speech, e.Gen, e.Seq)
		r.heard(seg, seg.End) // discarded if the event is stale
		r.refresh |= 1 << TimerSpeech
	case SpeechDrained:
		line, _ := speech.LineOf(st.Speech)
		st.Speech, r.speechOut = speech.Drained(st.Speech, e.Gen, e.Seq)
		r.heardThrough(line.Segments[line.Played:], e.Seq)
		r.refresh |= 1 << TimerSpeech
	case SpeechFlushed:
		in, _ := st.Conv.(Interrupted)
		return st.Cleared() && in.Line.Gen == e.Gen
	case SpeechFailed:
		_, open := segmentOf(st.Speech, e.Seq)
		return open && e.Gen == st.Speech.Generation()
	}
	return r.speechOut != speech.Stale
}

func segmentOf(s speech.State, seq uint32) (speech.Segment, bool) {
	l, _ := speech.LineOf(s)
	for _, seg := range l.Segments {
		if seg.Seq == seq {
			return seg, true
		}
	}
	return speech.Segment{}, false
}

func (r *run) routeTimer(e TimerFired) bool {
	if e.Timer >= NumTimers {
		return false
	}
	t := &r.st.Timers[e.Timer]
	if !t.Armed || t.Gen != e.Gen {
		return false
	}
	t.Armed, t.At = false, 0
	live, _ := copilot.LiveOf(r.st.Copilot)
	switch e.Timer {
	case TimerCancel: // the watchdog acts as the terminal
		do := copilot.Fail
		if _, searching := r.st.Copilot.(copilot.SearchingTools); searching {
			do = copilot.NotFound
		}
		r.assistant(copilot.Input{Do: do, Request: live.Request, Round: live.Round})
	case TimerTool: // likewise
		if !live.Cancelled {
			r.emit(CancelTool{ToolCall: live.Calls[0].ID})
		}
		r.toolEnded(ToolDone{ToolCall: live.Calls[0].ID, Code: CodeToolTimeout})
	case TimerModel:
		r.assistant(copilot.Input{Do: copilot.Unloaded, Load: r.st.Copilot.(copilot.LoadingModel).Load, Reason: string(CodeModelFailed)})
	case TimerSummary:
		job := r.st.History.(history.Compacting).Job
		r.emit(CancelSummary{Job: job})
		r.st.History, _ = history.Compacted(r.st.History, job, false, r.st.Config.HistoryKeep)
	case TimerRenewal:
		r.st.Resources.OldConn = r.openEpoch()
		r.link(connection.Late, 0)
	}
	return true
}
