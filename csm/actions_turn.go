package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// openTurn opens the next turn. There is never one open already.
func (r *run) openTurn() {
	r.st.IDs.Turn++
	r.st.Current = Turn{ID: r.st.IDs.Turn, Opened: r.env.At, Config: r.st.Config}
	r.emit(PublishTurn{Turn: r.st.Current})
}

// finish ends the current turn, if there is one.
func (r *run) finish(end TurnEnd) {
	t := r.st.Current
	if t.ID == 0 {
		return
	}
	if end == TurnFailed && t.Utterance != 0 {
		r.st.Retry = t.Utterance
	}
	if end == Answered {
		r.st.Retry = 0
	}
	r.emit(PublishTurn{Turn: t, End: end, Duration: r.env.At - t.Opened})
	r.st.Current = Turn{}
}

// endOf is how the current turn ends when everything it had to say was heard.
func (r *run) endOf() TurnEnd {
	if r.st.Current.Failed != "" {
		return TurnFailed
	}
	return Answered
}

// listen is what every entry into Listening does: the user who has the floor
// has a turn. The queue is taken up by settle.
func (r *run) listen() {
	if _, quiet := r.st.Turn.(turn.Idle); !quiet && r.st.Current.ID == 0 {
		r.openTurn()
	}
}

// settle asks for the next utterance of the queue when Listening has nothing
// else to do, once.
func (r *run) settle(before State) {
	if r.st.idleWithQueue() && !before.idleWithQueue() {
		r.emit(Post{Event: KindQueueNext})
	}
}

func (s State) idleWithQueue() bool {
	_, open := speech.LineOf(s.Speech)
	return s.Phase() == PhaseListening && len(s.Queue) > 0 && s.Current.ID == 0 && !open
}

// onset opens a turn in Listening. An explanation or a text that was about to be
// said gives way: the user has the floor.
func (r *run) onset() {
	r.giveWay()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
}

// giveWay ends what is about to be said in Listening.
func (r *run) giveWay() {
	if _, open := speech.LineOf(r.st.Speech); open {
		r.flush()
		if r.st.Current.Failed != "" {
			r.finish(TurnFailed)
		} else {
			r.finish(TurnDropped)
		}
	}
}

// takeFinal takes the words of the user's turn. Utterances are answered in the
// order they were spoken: what waited goes first.
func (r *run) takeFinal() {
	f := r.env.Event.(Final)
	r.takeUtterance(f.Utterance)
}

func (r *run) takeText() {
	t := r.env.Event.(UserText)
	r.takeUtterance(t.Utterance)
	r.replied = r.st.Current.ID
}

func (r *run) takeRetry() {
	again := r.st.Retry
	r.st.Retry = 0
	r.takeUtterance(again)
	r.replied = r.st.Current.ID
}

func (r *run) takeUtterance(u uint64) {
	if len(r.st.Queue) > 0 {
		r.setQueue(append(r.st.Queue[:len(r.st.Queue):len(r.st.Queue)], u))
		u = r.pop()
	}
	r.giveWay()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.accept(u)
}

func (r *run) takeQueued() {
	u := r.pop()
	r.giveWay()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.accept(u)
}

// accept makes utterance the current turn's and sends it, or has it wait for the
// cancelled request before it (invariant 1).
func (r *run) accept(utterance uint64) {
	r.st.Current.Utterance = utterance
	if _, ready := r.st.Copilot.(copilot.Ready); !ready {
		r.st.Conv = Analysing{Unsent: utterance}
		return
	}
	r.send(utterance)
}

func (r *run) sendUnsent() { r.send(r.st.Conv.(Analysing).Unsent) }

// send hands one request over for one utterance (REQ-004, INT-005).
func (r *run) send(utterance uint64) {
	st := &r.st
	st.IDs.Request++
	req := st.IDs.Request
	st.Conv = Analysing{}
	st.Current.Request, st.Current.Attempt = req, 1
	st.Copilot, _ = copilot.Next(st.Copilot, copilot.Send, req, 0)
	st.Session, _ = session.Next(st.Session, session.TurnStarted)
	r.refresh |= 1 << TimerResponse // an utterance that had to wait is given the whole time
	r.emit(SendCopilot{
		Request: req, Turn: st.Current.ID, Utterance: utterance,
		Deadline: st.Current.Config.CopilotTimeout, History: st.History.Items,
	})
	st.History = st.History.Said(st.Current.ID, utterance)
}

// attempt notes which attempt the adapter is at. One that is told of again, late,
// is not gone back to (GUD-004).
func (r *run) attempt() {
	r.st.Current.Attempt = max(r.st.Current.Attempt, r.env.Event.(CopilotSent).Attempt)
}

// progress is a sign of life: the stall deadline begins anew.
func (r *run) progress() { r.refresh |= 1 << TimerStall }

// cancel has the live request stop.
func (r *run) cancel() {
	live, ok := copilot.LiveOf(r.st.Copilot)
	if !ok || live.Cancelled {
		return
	}
	r.st.Copilot, _ = copilot.Next(r.st.Copilot, copilot.Cancel, live.Request, 0)
	r.st.Session, _ = session.Next(r.st.Session, session.TurnComplete)
	r.emit(CancelCopilot{Request: live.Request})
}

// commit ends the user's turn by hand (REQ-004).
func (r *run) commit() {
	r.endUtterance()
	r.giveWay()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.st.Conv = Analysing{Awaiting: true}
}

// endUtterance ends the open utterance for the service: one that does not end by
// itself, or that the user ended by hand. Its words are awaited from here on.
func (r *run) endUtterance() {
	if sp, ok := r.st.Turn.(turn.UserSpeaking); ok {
		r.emit(CommitInput{Epoch: r.openEpoch()})
		r.st.Turn, _ = turn.Next(r.st.Turn, turn.End, sp.Open)
	}
}

// dismiss ends a turn whose utterance had no words, unless the user is already
// saying more or an explanation is on its way.
func (r *run) dismiss() {
	_, quiet := r.st.Turn.(turn.Idle)
	_, open := speech.LineOf(r.st.Speech)
	if quiet && !open && r.st.Current.Utterance == 0 {
		r.finish(TurnDropped)
	}
}

// wordsLost tells the user that an utterance was not understood.
func (r *run) wordsLost(code Code) {
	if _, quiet := r.st.Turn.(turn.Idle); quiet && r.st.Current.ID != 0 && r.st.Current.Failed == "" {
		r.explain(code)
	}
}

// forgetPending gives up the words that did not come.
func (r *run) forgetPending() {
	if sp, ok := r.st.Turn.(turn.UserSpeaking); ok {
		r.st.Turn = turn.UserSpeaking{Open: sp.Open}
		return
	}
	r.st.Turn = turn.Idle{}
}

// drop ends the current turn by the user's word, and what waited behind it.
func (r *run) drop() {
	r.clearQueue()
	r.cancel()
	r.flush()
	r.finish(TurnDropped)
	r.listen()
}

// hush is the user's word in Listening: what is about to be said is not.
func (r *run) hush() {
	r.clearQueue()
	r.giveWay()
}

// enqueueFinal has an utterance wait that was spoken while the assistant had the
// floor.
func (r *run) enqueueFinal() {
	if f, ok := r.env.Event.(Final); ok && f.Class == Content && f.Words > 0 {
		r.enqueue(f.Utterance)
	}
}

func (r *run) enqueueText() {
	r.enqueue(r.env.Event.(UserText).Utterance)
}

func (r *run) enqueue(u uint64) {
	if len(r.st.Queue) >= r.st.Config.QueueMax {
		r.refused = CodeQueueFull
		r.emit(Notify{Code: CodeQueueFull})
		return
	}
	r.setQueue(append(r.st.Queue[:len(r.st.Queue):len(r.st.Queue)], u))
}

func (r *run) setQueue(q []uint64) {
	r.st.Queue = q
	r.emit(PublishQueue{Waiting: len(q)})
}

func (r *run) pop() uint64 {
	u := r.st.Queue[0]
	if len(r.st.Queue) == 1 {
		r.setQueue(nil)
	} else {
		r.setQueue(r.st.Queue[1:])
	}
	return u
}

func (r *run) clearQueue() {
	if len(r.st.Queue) > 0 {
		r.setQueue(nil)
	}
}

// recognising says whether the user can be heard and understood (REQ-003).
func (r *run) recognising() bool {
	_, open := r.st.Conn.(connection.Open)
	return open && r.st.Resources.Capturing
}

// doneCode is what a request failed with. An answer that is whole and says
// nothing is a failure, and so is one that was cancelled by somebody else.
func doneCode(r *run) Code {
	d := r.env.Event.(CopilotDone)
	switch {
	case d.Code != "":
		return d.Code
	case d.Cancelled:
		return CodeCopilotFailed
	default:
		return CodeCopilotEmpty
	}
}
