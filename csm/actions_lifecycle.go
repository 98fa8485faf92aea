package csm

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/hold"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// begin opens a new instance: the session and the devices. Dialling waits for both
// (REQ-002).
func (r *run) begin(takeOver, typed bool) {
	st := &r.st
	st.Instance++
	r.tell(session.Created)
	st.Conn, st.Turn = connection.Disconnected{}, turn.Idle{}
	r.assistant(copilot.Input{Do: copilot.Open})
	st.Resources = Resources{Audio: Opening, Session: Opening}
	r.emit(ActivateSession{Instance: st.Instance})
	r.emit(OpenAudio{Instance: st.Instance, TakeOver: takeOver, Typed: typed})
}

// open begins a conversation for the user: with typed text, or by voice.
func (r *run) open(takeOver, typed bool) {
	r.st.Conv = Idle{Starting: true}
	r.begin(takeOver, typed)
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

// succeed dials the successor of an expiring connection.
func (r *run) succeed() {
	r.st.IDs.Epoch++
	r.link(connection.Succeed, r.st.IDs.Epoch)
	r.emit(OpenConnection{Instance: r.st.Instance, Epoch: r.st.IDs.Epoch, Successor: true})
}

// renewable says whether there is a connection to replace and no earlier replacement is
// pending.
func (r *run) renewable() bool {
	o, open := r.st.Conn.(connection.Open)
	return open && o.Successor == 0 && r.st.Resources.OldConn == 0
}

// swappable says whether the successor may take over: it is ready, the user is silent,
// and no words are awaited from the old connection.
func (s *State) swappable() bool {
	o, _ := s.Conn.(connection.Open)
	if !o.SuccessorReady {
		return false
	}
	_, quiet := s.Turn.(turn.Idle)
	_, line := speech.LineOf(s.Speech)
	switch s.Conv.Phase() {
	case PhaseListening, PhaseAnalysing, PhaseWaitingForCopilot, PhaseGeneratingResponse:
		return quiet && !line && !s.held()
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
	r.st.Resources.OldConn = epoch
	r.emit(CloseConnection{Instance: r.st.Instance, Epoch: epoch})
}

// awaitSuccessor gives up a connection whose successor is late. Waiting for the successor
// loses nothing, whereas a hang-up by the service would. The successor becomes the
// connection as soon as it is ready.
func (r *run) awaitSuccessor() {
	r.st.Resources.Conn = Opening
	r.closeOld(r.st.Resources.OldConn)
}

// abandon ends what the conversation was doing, so that nothing more of it is heard or
// answered.
func (r *run) abandon(end TurnEnd) {
	r.clearQueue()
	r.end(end)
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

// closeAll closes every open resource once.
func (r *run) closeAll() {
	res := &r.st.Resources
	if res.Conn == Opening || res.Conn == Opened {
		res.Conn, res.OldConn = Closing, 0 // one CloseConnection closes all
		r.emit(CloseConnection{Instance: r.st.Instance})
	}
	r.link(connection.Close, 0)
	if res.Audio == Opening || res.Audio == Opened {
		res.Audio = Closing
		r.emit(CloseAudio{Instance: r.st.Instance})
	}
	res.Capturing = false
	if res.Session == Opening || res.Session == Opened {
		res.Session = Closing
		r.emit(DeactivateSession{Instance: r.st.Instance})
	}
}

// fault stops the conversation after a permanent failure. It recovers after a delay if
// that can help (REQ-009); too many faults in a row open the circuit breaker (PAT-004) or
// are fatal.
func (r *run) fault() {
	st := &r.st
	code := faultCode(r.env.Event)
	r.abandon(TurnFailed)
	r.closeAll()
	r.tell(session.Failed)

	f := &st.Faults
	if r.env.At-f.Recent[0] > st.Config.BreakerWindow {
		f.InRow = 0
	}
	f.InRow++
	copy(f.Recent[1:], f.Recent[:2])
	f.Recent[0] = max(r.env.At, 1)

	st.Hold = hold.Next(st.Hold, hold.Take, ^SuspendUser)
	now := Faulted{Code: code, Fatal: code.Fatal() || f.InRow > st.Config.FaultRetries}
	oldest := f.Recent[min(max(st.Config.BreakerFaults, 1), len(f.Recent))-1]
	now.Breaker = !now.Fatal && oldest != 0 && r.env.At-oldest <= st.Config.BreakerWindow
	st.Conv, r.code = now, code
	r.emit(PublishError{Code: code, Fatal: now.Fatal})
	if now.Breaker {
		r.cause = CauseBreakerOpen
		r.emit(Notify{Code: CodeBreakerOpen})
	}
	if now.Fatal {
		r.emit(Post{Event: KindFatal})
	}
}

// faultCode is the failure code of an event.
func faultCode(e Event) Code {
	switch e := e.(type) {
	case SessionFailed:
		return e.Code
	case AudioFailed:
		return e.Code
	case AudioLost:
		return CodeDeviceLost
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
	r.st.Hold = hold.Next(r.st.Hold, hold.Take, ^SuspendReason(0))
	start, _ := r.env.Event.(UserStart)
	r.begin(start.TakeOver, false)
}

// terminate closes everything and waits for it.
func (r *run) terminate() {
	r.st.Hold = hold.Next(r.st.Hold, hold.Take, ^SuspendReason(0))
	r.abandon(TurnDropped)
	r.closeAll()
	switch r.st.Session {
	case session.Activating, session.Error: // the guard map allows inactive directly
	default:
		r.tell(session.TerminationBegun)
	}
	e, _ := r.env.Event.(UserStop)
	r.code = e.Code
	if r.st.allClosed() {
		r.emit(Post{Event: KindReset})
	}
}

// closed records that one resource was closed.
func (r *run) closed() {
	if r.st.allClosed() {
		r.emit(Post{Event: KindReset})
	}
}

func (s *State) allClosed() bool {
	res := s.Resources
	return !copilot.Busy(s.Copilot) && res.Audio == Absent && res.Conn == Absent && res.Session == Absent
}

// reset ends the instance and forgets its conversation. Ids, counters and the memory of
// faults remain.
func (r *run) reset() {
	st := &r.st
	r.tell(session.Terminated)
	st.Copilot = copilot.Idle{}
	st.Conn, st.Turn, st.Resources = connection.Torn{}, turn.Idle{}, Resources{}
	st.Retry, st.Asked, st.History, st.Cursor = copilot.Failure{}, false, history.Normal{}, Cursor{}
	if next := r.prior.(Terminating); next.Start || len(next.Texts) > 0 {
		r.open(next.TakeOver, !next.Start)
		if len(next.Texts) > 0 {
			r.setQueue(next.Texts)
		}
	}
}

// startAfter begins the next conversation once this one has ended.
func (r *run) startAfter() {
	next := r.st.Conv.(Terminating)
	next.Start, next.TakeOver = true, r.env.Event.(UserStart).TakeOver
	r.st.Conv = next
}

// textAfter keeps a typed text for the next conversation.
func (r *run) textAfter() {
	next := r.st.Conv.(Terminating)
	if len(next.Texts) >= r.st.Config.QueueMax {
		r.refused = CodeQueueFull
		return
	}
	next.Texts = append(slices.Clip(next.Texts), r.env.Event.(UserText).Utterance)
	r.st.Conv = next
}
