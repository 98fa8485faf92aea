package csm

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// send starts the request of the current turn's utterance (REQ-004, INT-005), after a
// search for tools if there are any. A retry after a successful search skips the search.
func (r *run) send(stage copilot.Stage) {
	st := &r.st
	r.newRequest()
	st.Conv = Analysing{}
	if st.config().Tools && stage != copilot.StageGeneration && stage != copilot.StageStream {
		r.assistant(copilot.Input{Do: copilot.Search, Request: st.Current.Request})
		r.searchTools()
		return
	}
	r.assistant(copilot.Input{Do: copilot.Send, Request: st.Current.Request})
	r.handOver()
}

func (r *run) newRequest() {
	st := &r.st
	st.IDs.Request++
	st.Current.Request, st.Current.Attempt, st.Asked = st.IDs.Request, 1, false
	r.tell(session.TurnStarted)
}

func (r *run) searchTools() {
	live, _ := copilot.LiveOf(r.st.Copilot)
	r.emit(SearchTools{Request: live.Request, Round: live.Round, Turn: r.st.Current.ID, Utterance: r.st.Current.Utterance})
}

// handOver sends a round. From then on the utterance is part of the history; that of a
// retry already is, and so is the beginning of one that the user went on with, before calls that read.
func (r *run) handOver() {
	st := &r.st
	live, _ := copilot.LiveOf(st.Copilot)
	said := st.History.Said()
	cur := st.Current
	n := history.Asked(said, cur.Utterance)
	if n >= 0 && (n == len(said.Items)-1 || live.Round == 0 && len(said.Items[n].More) < len(cur.More)) {
		said.Items = said.Items[:n]
		st.History = history.Again(st.History, history.Item{Turn: cur.ID, Utterance: cur.Utterance, More: cur.More})
	} else if live.Round == 0 {
		st.History = history.Add(st.History, history.Item{Turn: cur.ID, Utterance: cur.Utterance, More: cur.More})
	}
	r.refresh |= 1 << TimerResponse // an utterance that was queued gets the full time
	r.emit(SendCopilot{
		Request: live.Request, Round: live.Round, Turn: cur.ID, Utterance: cur.Utterance, More: cur.More,
		Deadline: cur.Config.CopilotTimeout, Summary: said.Summary, History: said.Items,
	})
}

// cancel cancels the live request in any state. It rejects a call that is being asked
// about.
func (r *run) cancel() {
	st := &r.st
	live, ok := copilot.LiveOf(st.Copilot)
	if !ok || live.Cancelled {
		return
	}
	was := st.Copilot
	r.assistant(copilot.Input{Do: copilot.Cancel, Request: live.Request})
	r.endTurn(session.TurnComplete)
	switch was.(type) {
	case copilot.SearchingTools:
		r.emit(CancelSearch{Request: live.Request})
	case copilot.CallingTool:
		r.emit(CancelTool{ToolCall: live.Calls[0].ID})
	case copilot.WaitingForApproval:
		r.toolNews(live, ToolRejected)
		r.remember(live, history.Rejected)
	default:
		r.emit(CancelCopilot{Request: live.Request})
	}
}

// tell reports a status to the session region. Rejected statuses are counted, and an
// invariant forbids them.
func (r *run) tell(status session.Status) {
	next, ok := session.Next(r.st.Session, status)
	if !ok {
		r.st.Counters.Rejected++
		return
	}
	r.st.Session = next
}

// endTurn ends the session's turn, if there is one. The guard map allows Waiting to Ready
// only by Running.
func (r *run) endTurn(status session.Status) {
	if r.st.Session == session.Waiting {
		r.tell(session.ApprovalResolved)
	}
	if r.st.Session == session.Running {
		r.tell(status)
	}
}

// laterRound says whether the event concerns a round after the first.
func (r *run) laterRound() bool {
	live, _ := copilot.LiveOf(r.was)
	return live.Round > 0
}

// wants handles a tool call of the answer. Calls over the limit are rejected.
func (r *run) wants() {
	r.progress()
	if r.copilotOut != copilot.Refused {
		return
	}
	e := r.env.Event.(CopilotToolCall)
	refused := copilot.Live{Request: e.Request, Calls: []copilot.Call{{ID: e.ToolCall, Destructive: e.Destructive}}}
	r.toolNews(refused, ToolRejected)
	r.remember(refused, history.Rejected)
}

// reject records the rejection of a call and continues.
func (r *run) reject() {
	live, _ := copilot.LiveOf(r.st.Copilot)
	r.st.Current.Decided = true
	r.tell(session.ApprovalResolved)
	r.toolNews(live, ToolRejected)
	r.remember(live, history.Rejected)
	r.assistant(copilot.Input{Do: copilot.Reject, Call: live.Calls[0]})
	r.raise(ApprovalDecided)
	r.proceed()
}

// rejectUnanswered rejects a call after the approval timeout.
func (r *run) rejectUnanswered() {
	r.emit(Notify{Turn: r.st.Current.ID, Code: CodeToolUnanswered})
	r.reject()
}

// proceed continues after a decision on a call: with the next question or the next round.
func (r *run) proceed() {
	live, _ := copilot.LiveOf(r.st.Copilot)
	switch {
	case r.copilotOut == copilot.Asks:
		r.raise(AnswerAsks)
	case live.Round >= r.st.config().RoundsMax:
		r.assistant(copilot.Input{Do: copilot.NotFound, Request: live.Request, Round: live.Round})
		r.explainAfter(CodeToolRounds)
	case r.st.config().Tools:
		r.searchTools()
	default:
		r.assistant(copilot.Input{Do: copilot.Found, Request: live.Request, Round: live.Round})
		r.handOver()
	}
}

// toolCode is the failure code of a search for tools or a call.
func toolCode(r *run) Code {
	switch e := r.env.Event.(type) {
	case ToolSearchDone:
		if e.Code != "" {
			return e.Code
		}
		return CodeToolSearchFailed
	case TimerFired:
		if e.Timer == TimerTool {
			return CodeToolTimeout
		}
		return CodeToolSearchFailed
	case ToolDone:
		if e.Code != "" {
			return e.Code
		}
		return CodeToolFailed
	default:
		return CodeToolFailed
	}
}

// toolEnded handles the terminal of a call. Its result is kept, whatever the user said in
// the meantime (invariant 13).
func (r *run) toolEnded(e ToolDone) {
	in := copilot.Input{Do: copilot.ToolDone, Call: copilot.Call{ID: e.ToolCall}}
	outcome, status := history.Done, ToolCompleted
	switch {
	case e.Cancelled:
		in.Do, outcome, status = copilot.ToolFail, history.Stopped, ToolCancelled
	case e.Code != "":
		in.Do, outcome, status = copilot.ToolFail, history.Failed, ToolFailed
	}
	live, _ := copilot.LiveOf(r.st.Copilot)
	if r.assistant(in); r.copilotOut == copilot.Stale {
		return
	}
	r.toolNews(live, status)
	r.remember(live, outcome)
}

// remember records the outcome of l's first call in the history.
func (r *run) remember(l copilot.Live, o history.Outcome) {
	it := history.Item{Tool: l.Calls[0].ID, Outcome: o}
	if l.Request == r.st.Current.Request {
		it.Turn = r.st.Current.ID
	}
	r.st.History = history.Add(r.st.History, it)
}

func (r *run) toolNews(l copilot.Live, status ToolStatus) {
	p := PublishTool{Request: l.Request, ToolCall: l.Calls[0].ID, Of: r.retried, Status: status, Destructive: l.Calls[0].Destructive}
	if l.Request == r.st.Current.Request {
		p.Turn = r.st.Current.ID
	}
	r.emit(p)
}

// takeCallAgain retries a failed call as a new call, which needs approval unless it is
// preapproved.
func (r *run) takeCallAgain() {
	st, again := &r.st, r.st.Retry
	call := again.Call
	call.ID = r.env.Event.(UserRetry).ToolCall
	r.stopSpeech()
	st.Retry = copilot.Failure{}
	if st.Current.ID == 0 {
		r.openTurn()
	}
	st.Current.Utterance, st.Current.More = again.Utterance, again.More
	r.newRequest()
	r.replied = st.Current.ID
	r.assistant(copilot.Input{Do: copilot.Ask, Request: st.Current.Request, Call: call})
	r.retried = again.Call.ID
	r.raise(AnswerAsks)
}

// selectModel loads another model as soon as no request is in progress.
func (r *run) selectModel() {
	r.st.Model.Wanted = r.env.Event.(UserSelectModel).Model
	switch r.st.Copilot.(type) {
	case copilot.LoadingModel, copilot.LoadFailed:
		r.load()
	}
}

func (r *run) load() {
	st := &r.st
	st.IDs.Load++
	st.Model.Loaded = 0
	r.assistant(copilot.Input{Do: copilot.Load, Load: st.IDs.Load, Model: st.Model.Wanted})
	r.refresh |= 1 << TimerModel
	r.emit(LoadModel{Load: st.IDs.Load, Model: st.Model.Wanted})
}

// modelNews publishes the loading status.
func (r *run) modelNews() {
	switch r.env.Event.(type) {
	case ModelProgress:
		if r.copilotOut == copilot.Changed {
			r.refresh |= 1 << TimerModel
			r.emit(PublishModel{Model: r.st.Model.Wanted, Percent: r.st.Copilot.(copilot.LoadingModel).Percent})
		}
	case ModelLoaded:
		r.emit(PublishModel{Model: r.st.Model.Loaded, Percent: 100})
	default: // it failed or timed out
		r.emit(PublishModel{Model: r.st.Model.Wanted, Code: r.modelCode()})
	}
}

// modelCode is why no model is loaded.
func (r *run) modelCode() Code {
	failed, _ := r.st.Copilot.(copilot.LoadFailed)
	return Code(failed.Reason)
}

// settle takes the rows that need no event, releases what was held back, and starts
// background work: loading the selected model, summarising a long history, dialling a
// successor connection, and taking the next queued utterance. Each is started once.
func (r *run) settle(before *State) {
	st := &r.st
	was, is := before.deaf(), st.deaf()
	if was && !is && st.Conv.Phase().Active() {
		r.emit(ReleaseCapture{})
	}
	r.complete()
	r.synthesise()
	r.gate(before)
	if !st.Conv.Phase().Active() {
		return
	}
	if is && !was {
		r.emit(HoldCapture{})
	}
	if _, ready := st.Copilot.(copilot.Ready); ready && st.Model.Wanted != st.Model.Loaded {
		r.load()
	}
	if c := st.Config; history.Due(st.History, c.HistoryMax) {
		r.compact(c)
	}
	if st.swappable() {
		r.swap()
	}
	if st.idleWithQueue() && !before.idleWithQueue() {
		r.emit(Post{Event: KindQueueNext})
	}
}

func (r *run) compact(c *Config) {
	st := &r.st
	st.IDs.Job++
	st.History = history.Compact(st.History, st.IDs.Job, min(c.HistoryKeep, c.HistoryMax))
	job, _ := st.History.(history.Compacting)
	r.refresh |= 1 << TimerSummary
	r.emit(Summarise{Job: job.Job, Previous: job.Summary, Items: job.Items[:job.Count:job.Count]})
}
