package csm

import (
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// openTurn opens the next turn. None is open before.
func (r *run) openTurn() {
	r.st.IDs.Turn++
	r.st.VoicePaused = false
	r.st.Current = Turn{ID: r.st.IDs.Turn, Opened: r.env.At, Config: r.st.Config}
	r.emit(PublishTurn{Turn: r.st.Current})
}

// end ends the current turn, if there is one, and with it what is left of its speech and its
// request. Nothing else ends a turn. One whose failure is being explained has failed, unless the
// user cuts it off. The context of a turn that is cut off stays while Interrupted, until it is
// known how much was heard.
func (r *run) end(how TurnEnd) {
	if !r.st.Cleared() { // or how much was heard is not known yet
		r.cut()
	}
	r.cancel()
	t := r.st.Current
	if t.ID == 0 {
		return
	}
	if how != TurnCutOff && t.Failed != "" {
		how = TurnFailed
	}
	switch how {
	case Answered:
		if t.Request != 0 { // a text read aloud answers nothing
			r.st.Retry = copilot.Failure{}
		}
	case TurnFailed:
		r.mayRetry(copilot.StageOf(r.was))
	case TurnCutOff:
		t.Interruptions++
		r.mayRetry(copilot.StageNone)
	case TurnDropped:
	}
	if how != Answered {
		r.st.Asked = false
	}
	r.endTurn(session.TurnComplete)
	r.emit(PublishTurn{Turn: t, End: how, Duration: r.env.At - t.Opened})
	if r.st.Current = t; !r.st.Cleared() {
		r.st.Current = Turn{}
	}
}

// mayRetry records what the user may retry, unless that was recorded when the turn
// failed.
func (r *run) mayRetry(stage copilot.Stage) {
	t := r.st.Current
	if t.Utterance == 0 || t.Utterance == r.st.Retry.Utterance {
		return
	}
	live, _ := copilot.LiveOf(r.was)
	if live.Request != t.Request || live.Cancelled { // that of an earlier turn
		stage = copilot.StageNone
	}
	r.st.Retry = copilot.Failure{Utterance: t.Utterance, More: t.More, Stage: stage}
	if stage == copilot.StageCall {
		r.st.Retry.Call = live.Calls[0]
	}
}

// answered ends the current turn once all its speech was heard.
func (r *run) answered() { r.end(Answered) }

// listen runs on every entry into Listening: a user who has the floor, or has unsent
// words in manual mode, gets a turn. settle takes the queue.
func (r *run) listen() {
	_, quiet := r.st.Turn.(turn.Idle)
	if r.st.Current.ID != 0 || r.row.On == KindUserRetry { // a retry opens its own
		return
	}
	if !quiet || len(r.st.Drafts) > 0 && len(r.st.Queue) == 0 {
		r.openTurn()
	}
	r.gatherDrafts()
}

// gatherDrafts adds the drafts to the current turn, if that has no words and nothing is queued
// before them.
func (r *run) gatherDrafts() {
	if cur := r.st.Current; cur.ID == 0 || cur.Utterance != 0 || len(r.st.Queue) > 0 {
		return
	}
	for _, u := range r.st.Drafts {
		r.gather(u)
	}
	r.st.Drafts = nil
}

// gather adds an utterance to the current turn.
func (r *run) gather(u uint64) {
	cur := &r.st.Current
	if cur.Utterance == 0 {
		cur.Utterance = u
		return
	}
	cur.More = append(cur.More[:len(cur.More):len(cur.More)], u)
}

// gathered says whether the current turn has unsent utterances.
func (r *run) gathered() bool {
	cur := r.st.Current
	return cur.Utterance != 0 && cur.Request == 0 && cur.Failed == ""
}

func (s *State) idleWithQueue() bool {
	return len(s.Queue) > 0 && s.Current.ID == 0 && s.Conv.Phase() == PhaseListening && !s.held()
}

// onset opens a turn in Listening. An explanation or a text that was about to be read is
// dropped, since the user has the floor. The rest of an answer is paused until the words
// over it are known.
func (r *run) onset() {
	if r.st.cutIn() {
		return
	}
	r.stopSpeech()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
}

// gatherFinal collects the words of a turn that the user commits manually. What is queued does
// not wait for that.
func (r *run) gatherFinal() {
	r.stopSpeech()
	if len(r.st.Queue) > 0 {
		r.draft(r.env.Event.(Final).Utterance)
		r.dismiss()
		return
	}
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.gatherDrafts()
	r.gather(r.env.Event.(Final).Utterance)
}

// takeGathered sends the utterances of the turn so far.
func (r *run) takeGathered() { r.submit(copilot.StageNone) }

// stopSpeech drops all pending speech in Listening, including the rest of an answer that
// the user spoke over.
func (r *run) stopSpeech() {
	if _, open := speech.LineOf(r.st.Speech); r.st.cutIn() {
		r.end(TurnCutOff)
	} else if open {
		r.end(TurnDropped)
	}
}

// takeFinal handles the words of the user's turn. Utterances are answered in the order
// they were spoken: queued ones go first.
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
	st, again := &r.st, r.st.Retry
	stage := again.Stage
	r.stopSpeech() // possibly the explanation of the same failure
	st.Retry = copilot.Failure{}
	if st.Current.ID == 0 {
		r.openTurn()
	}
	st.Current.Utterance, st.Current.More = again.Utterance, again.More
	r.submit(stage)
	r.replied = st.Current.ID
}

// retryAfter ends the explanation of a failure and retries from Listening.
func (r *run) retryAfter() {
	r.end(TurnFailed)
	r.emit(Post{Event: KindUserRetry})
}

func (r *run) takeUtterance(u uint64) {
	if len(r.st.Queue) > 0 {
		r.insert(u)
		u = r.pop()
	}
	r.stopSpeech()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.gatherDrafts()
	r.accept(u)
}

func (r *run) takeQueued() {
	u := r.pop()
	r.stopSpeech()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.accept(u)
}

// accept makes utterance the current turn's and sends it.
func (r *run) accept(utterance uint64) {
	r.gather(utterance)
	r.submit(copilot.StageNone)
}

// submit sends the current turn's utterance as soon as possible: after the previous
// request's cancellation (invariant 1), with a model loaded, and not while the
// conversation is held.
func (r *run) submit(stage copilot.Stage) {
	if _, failed := r.st.Copilot.(copilot.LoadFailed); failed { // a new message is a reason to retry
		r.load()
	}
	r.st.Conv = Analysing{Unsent: r.st.Current.Utterance, Stage: stage}
}

func (r *run) sendUnsent() { r.send(r.st.Conv.(Analysing).Stage) }

// attempt records the adapter's attempt number. A late report of an earlier attempt is
// ignored (GUD-004).
func (r *run) attempt() {
	r.st.Current.Attempt = max(r.st.Current.Attempt, r.env.Event.(CopilotSent).Attempt)
}

// provisional says whether the user goes on with what the current request is about.
func (r *run) provisional() bool { return r.words.Stamp == turn.OverRequest && r.st.mayGoOn() }

// MayGoOn says whether a voice that begins now may go on with the current request.
func (s State) MayGoOn() bool { return s.stamp() == turn.OverRequest && s.mayGoOn() }

// mayGoOn says whether the words that follow may belong to the current request: a pause ended the turn,
// the user decided none of its calls, none that may change something ran, and no other message waits. They
// do if its answer is not audible.
func (s *State) mayGoOn() bool {
	cur := s.Current
	return len(s.Queue) == 0 && s.config().Turns != turn.Manual && cur.Role == User && cur.Failed == "" && cur.Utterance != 0 &&
		!cur.Decided && !s.approving()
}

// goOn adds words to the current request: it is cancelled and asked again as a whole.
func (r *run) goOn() {
	r.cancel()
	r.flush()
	r.gather(r.env.Event.(Final).Utterance)
	r.submit(copilot.StageNone)
}

// progress handles a sign of the answer: it restarts the stall deadline.
func (r *run) progress() {
	r.refresh |= 1 << TimerStall
	if e, _ := r.env.Event.(CopilotDelta); e.Acted && e.Request == r.st.Current.Request {
		r.st.Current.Decided = true
	}
}

// commit ends the user's turn manually (REQ-004).
func (r *run) commit() {
	r.commitUtterances()
	r.stopSpeech()
	if r.st.Current.ID == 0 {
		r.openTurn()
	}
	r.gatherDrafts()
	r.st.Conv = Analysing{Awaiting: true}
}

// commitBehind manually ends what the user says while the assistant has the floor: it is
// queued.
func (r *run) commitBehind() {
	r.commitUtterances()
	r.enqueueDrafts()
}

func (r *run) enqueueDrafts() {
	drafts := r.st.Drafts
	r.st.Drafts = nil
	for _, u := range drafts {
		r.enqueue(u)
	}
}

// commitUtterances ends the open utterance and marks the awaited ones to be sent.
func (r *run) commitUtterances() {
	var u turn.Utterance
	if sp, ok := r.st.Turn.(turn.UserSpeaking); ok {
		r.emit(CommitInput{Epoch: r.openEpoch()})
		u = sp.Open
	} else if p := turn.Pending(r.st.Turn); len(p) > 0 {
		u = p[0]
	}
	r.voice(turn.Commit, u)
}

// tooLong gives up an utterance at the limit: nothing is sent for it, since its end is missing.
func (r *run) tooLong() {
	sp, _ := r.st.Turn.(turn.UserSpeaking)
	r.emit(ClearInput{Epoch: r.openEpoch()})
	r.voice(turn.Answered, sp.Open)
	r.wordsLost()
}

// endUtterance ends an utterance that does not end by itself.
func (r *run) endUtterance() {
	sp, _ := r.st.Turn.(turn.UserSpeaking)
	r.emit(CommitInput{Epoch: r.openEpoch()})
	r.voice(turn.End, sp.Open)
}

// dismiss ends a turn whose utterance had no words, unless the user is speaking again, an
// explanation is pending, or drafts wait for a commit.
func (r *run) dismiss() {
	_, quiet := r.st.Turn.(turn.Idle)
	_, open := speech.LineOf(r.st.Speech)
	if !quiet || open || r.st.Current.Utterance != 0 {
		return
	}
	if r.gatherDrafts(); r.st.Current.Utterance == 0 {
		r.end(TurnDropped)
	}
}

// wordsLost informs the user that an utterance was lost or not understood: aloud if it was
// the whole turn, otherwise only in writing (invariant 6).
func (r *run) wordsLost() {
	r.lost = true
	code := CodeUtteranceLost
	switch e := r.env.Event.(type) {
	case RecognitionLost:
		code = e.Code
	case Final:
		code = CodeNotUnderstood
	case TimerFired:
		switch e.Timer {
		case TimerFinal:
			code = CodeRecognitionTimeout
		case TimerUtterance:
			code = CodeUtteranceTooLong
		}
	default:
	}
	cur := r.st.Current
	_, quiet := r.st.Turn.(turn.Idle)
	if quiet && cur.ID != 0 && cur.Utterance == 0 && cur.Role == User && cur.Failed == "" {
		r.explain(code)
		return
	}
	r.emit(Notify{Turn: cur.ID, Code: code})
}

// giveUp gives up on the words that are awaited first: later ones wait for them.
func (r *run) giveUp() {
	r.voice(turn.Answered, turn.Pending(r.st.Turn)[0])
	r.wordsLost()
}

// drop ends the current turn and clears the queue on the user's command.
func (r *run) drop() {
	r.clearQueue()
	r.end(TurnDropped)
}

// stopByWord handles the user's command to stop in Listening: pending speech is dropped,
// and so are words that await a manual commit.
func (r *run) stopByWord() {
	r.clearQueue()
	r.stopSpeech()
	if r.st.Current.Utterance != 0 {
		r.end(TurnDropped)
		r.listen()
	}
}

// enqueueFinal queues an utterance that was spoken while the assistant had the floor:
// until the turn ends, or until the user commits the next turn manually.
func (r *run) enqueueFinal() {
	f := r.env.Event.(Final)
	if f.Class == Send {
		r.enqueueDrafts()
	}
	if r.drafts(f) {
		r.draft(f.Utterance)
		return
	}
	r.enqueue(f.Utterance)
}

// drafts says whether the words wait for a manual commit, since no pause ends the turn.
func (r *run) drafts(f Final) bool {
	return r.st.config().Turns == turn.Manual && !r.words.Committed && f.Class != Send
}

// draft keeps words for the user's next turn.
func (r *run) draft(u uint64) {
	if len(r.st.Drafts) >= r.st.Config.QueueMax {
		r.emit(Notify{Code: CodeQueueFull})
		return
	}
	r.st.Drafts = append(r.st.Drafts[:len(r.st.Drafts):len(r.st.Drafts)], u)
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
	r.insert(u)
}

// insert queues an utterance in the order of onsets (invariant 17): words may arrive after a text
// that was typed later.
func (r *run) insert(u uint64) {
	at, _ := slices.BinarySearch(r.st.Queue, u)
	r.setQueue(slices.Insert(slices.Clone(r.st.Queue), at, u))
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
	r.st.Drafts = nil
	if len(r.st.Queue) > 0 {
		r.setQueue(nil)
	}
}

// recognising says whether the user can be heard and understood (REQ-003).
func (r *run) recognising() bool {
	_, open := r.st.Conn.(connection.Open)
	return open && r.st.Resources.Capturing
}

// doneCode is the failure code of a request. An empty answer is a failure, and so is a
// cancellation by someone else.
func doneCode(r *run) Code {
	d := r.env.Event.(CopilotDone)
	switch {
	case d.Code != "":
		return d.Code
	case d.Cancelled:
		return CodeCopilotCancelled
	default:
		return CodeCopilotEmpty
	}
}
