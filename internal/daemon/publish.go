package daemon

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// maxHistory is how many transitions are kept (CON-003).
const maxHistory = 20

// publisher turns steps into notifications for a client, in order. It belongs to the
// loop's goroutine.
type publisher struct {
	d        *Daemon
	shown    csm.State // as last published
	seq      int64     // of agentvoice.state
	words    int64     // of transcripts
	history  []protocol.Transition
	entries  []protocol.TranscriptEntry
	tools    []protocol.ToolParams // current tool calls of the live conversation
	session  session.State
	life     sessionLife
	counted  csm.Counters
	reason   string            // of the failure in the current step
	caption  speech.Segment    // the segment being spoken
	calls    map[uint64]uint64 // unfinished tool calls and their requests
	floor    floorMeter
	open     uint64 // the request whose answer waits for a tool, or 0
	told     told
	lastSaid saidWords

	microphone protocol.Microphone
	capturing  bool // the microphone is captured for a conversation
}

func (p *publisher) notify(method string, params any) {
	if p.d.cfg.Notify != nil {
		p.d.cfg.Notify(method, params)
	}
	if p.d.cfg.Watch != nil {
		p.d.cfg.Watch.Publish(method, params)
	}
}

// step publishes the results of a step. The answer to a call comes first, as in the
// effects.
func (p *publisher) step(s dispatch.Step) {
	before := p.shown
	p.shown, p.reason = s.State, p.d.reason(s.Envelope.Event)
	stale := s.State.Counters != p.counted
	p.counted = s.State.Counters
	if !stale {
		p.event(s)
	}
	p.floor.step(s)
	for _, f := range s.Effects {
		p.effect(s, f)
	}
	p.device(before, s)
	p.paused(before, s.State)
	if life := p.d.sessionLife(s.State); s.State.Session != p.session || life != p.life {
		p.publishSession(s, life)
	}
}

func (p *publisher) effect(s dispatch.Step, f csm.Effect) {
	switch f := f.(type) {
	case csm.Reply:
		p.d.answer(f, s.State)
	case csm.PublishState:
		p.transition(s, f)
	case csm.PublishTurn:
		p.turn(s, f)
	case csm.PublishHeard:
		p.heard(f)
	case csm.PublishTool:
		p.tool(f)
	case csm.PublishQueue:
		p.notify(protocol.NotifyQueue, queueOf(s.State))
	case csm.PublishModel:
		p.model(f)
	case csm.SendCopilot:
		p.d.voice.problem.Store(false) // a new turn clears the previous problem
	case csm.Notify:
		p.d.voice.problem.Store(true)
		spec := p.d.spec(protocol.ErrorCode(f.Code))
		severity := protocol.SeverityWarning
		if f.Code == csm.CodeBreakerOpen {
			severity = protocol.SeverityError
		}
		p.notify(protocol.NotifyNotification, protocol.NotificationParams{
			Message: spec.Message(p.d.locale()), Severity: severity, Kind: protocol.NotificationMessage,
			Code: spec.Code, TurnID: turnID(f.Turn),
		})
	case csm.PublishError:
		p.d.voice.problem.Store(true)
		p.notify(protocol.NotifyError, p.d.failure(f.Code, p.reason))
	case csm.Report:
		p.d.cfg.Log.Error().Str("what", f.What).Uint64("seq", s.Envelope.Seq).Msg("the core contradicted itself; please report this with the journal")
		p.notify(protocol.NotifyError, p.d.locale().NewErrorParams(protocol.ErrorCode(csm.CodeInvariantViolation), ""))
	case csm.Speak:
		switch seg := f.Segment; {
		case seg.Notice != "":
			p.d.record(s.Envelope.At, "notice", uint64(seg.Seq), p.d.spokenText(seg))
		case seg.Ref != 0:
			p.d.record(s.Envelope.At, "text", seg.Ref, p.d.spokenText(seg))
		case seg.Ask != 0:
			p.d.record(s.Envelope.At, "question", seg.Ask, p.d.spokenText(seg))
		}
		if _, first := s.State.Speech.(speech.Buffering); first && p.caption.Seq == 0 {
			p.caption = f.Segment
		}
	case csm.StartPlayback:
		p.showCaption(s.State, 0)
	case csm.Flush:
		p.caption = speech.Segment{}
	default: // the world's
	}
}

func (p *publisher) transition(s dispatch.Step, f csm.PublishState) {
	p.seq++
	from, _ := f.From.Wire()
	to, sub := f.To.Wire()
	st := s.State
	cause := p.causeID(s.Envelope.Event)
	params := protocol.StateParams{
		State: protocol.State(to), PreviousState: protocol.State(from), Substate: protocol.Substate(sub),
		Label: p.d.label(st), TurnID: turnID(f.Turn), Since: p.d.wall(s.Envelope.At),
		Cause: protocol.Cause(f.Cause), CauseID: cause, Queue: queueOf(st), Seq: p.seq,
		Metadata: protocol.StateMetadata{
			InterruptionCount: st.Current.Interruptions, Reason: reasonOf(st, f.Code),
			SessionID: sessionID(st.Instance), TranscriptID: utteranceID(st.Current.Utterance),
			RetryCount: max(st.Current.Attempt-1, 0), PendingActions: p.d.pendingActions(st),
		},
	}
	if live, ok := copilot.LiveOf(st.Copilot); ok && !live.Cancelled {
		id := requestID(live.Request)
		params.Metadata.CopilotRequestID = &id
	}
	p.history = append(p.history, protocol.Transition{
		From: params.PreviousState, To: params.State, Substate: params.Substate, Cause: params.Cause,
		CauseID: cause, Timestamp: params.Since, TurnID: params.TurnID, Seq: p.seq,
	})
	if n := len(p.history); n > maxHistory {
		p.history = p.history[n-maxHistory:]
	}
	p.notify(protocol.NotifyState, params)
	if f.To == csm.PhaseIdle { // the conversation is over, and its words are dropped
		p.entries, p.tools, p.lastSaid = nil, nil, saidWords{}
		p.d.content.forget()
	}
}

// causeID returns the wire id of an event's subject.
func (p *publisher) causeID(e csm.Event) string {
	switch e := e.(type) {
	case csm.SpeechStarted:
		return utteranceID(e.Utterance)
	case csm.SpeechStopped:
		return utteranceID(e.Utterance)
	case csm.Final:
		return utteranceID(e.Utterance)
	case csm.UserText:
		return utteranceID(e.Utterance)
	case csm.CopilotSent:
		return requestID(e.Request)
	case csm.CopilotDelta:
		return requestID(e.Request)
	case csm.CopilotDone:
		return requestID(e.Request)
	case csm.SpeechBuffered:
		return wireID("seg-", uint64(e.Seq))
	case csm.SpeechDrained:
		return wireID("seg-", uint64(e.Seq))
	case csm.ConnReady:
		return wireID("conn-", uint64(e.Epoch))
	case csm.ConnLost:
		return wireID("conn-", uint64(e.Epoch))
	default:
		return ""
	}
}

func (p *publisher) turn(s dispatch.Step, f csm.PublishTurn) {
	t := protocol.TurnParams{
		TurnID: turnID(f.Turn.ID), Role: protocol.Role(f.Turn.Role.String()),
		CopilotRequestID: requestID(f.Turn.Request), InterruptionCount: f.Turn.Interruptions,
		Timestamp: p.d.wall(s.Envelope.At), Code: protocol.ErrorCode(f.Turn.Failed),
	}
	switch f.End {
	case "":
		t.Event = protocol.TurnStarted
	case csm.TurnCutOff:
		t.Event = protocol.TurnInterrupted
	default:
		t.Event = protocol.TurnCompleted
	}
	if f.End != "" {
		p.endOfTurn(s, f.Turn)
		t.End = p.d.content.endOfTurn(f.Turn, f.End)
		ms := f.Duration.Milliseconds()
		t.DurationMs, t.Outcome = &ms, protocol.TurnOutcome(f.End)
	}
	p.notify(protocol.NotifyTurn, t)
}

// event publishes the words that an event refers to.
func (p *publisher) event(s dispatch.Step) {
	id := turnID(s.State.Current.ID)
	switch e := s.Envelope.Event.(type) {
	case csm.Partial:
		if text := p.d.content.utterance(e.Utterance); text != "" {
			p.transcript(s, protocol.TranscriptEntry{TurnID: id, Role: protocol.RoleUser, Text: text})
		}
	case csm.Final:
		if e.Words > 0 {
			p.final(s, e.Utterance)
		}
	case csm.UserText:
		p.transcript(s, protocol.TranscriptEntry{TurnID: id, Role: protocol.RoleUser, Text: p.d.content.utterance(e.Utterance), Final: true})
		p.d.record(s.Envelope.At, "utterance", e.Utterance, p.d.content.utterance(e.Utterance))
	case csm.CopilotDelta:
		p.open = 0
		p.answer(s, id, e.Request)
	case csm.CopilotToolCall:
		p.requested(s, e)
	case csm.CopilotDone:
		if live, more := copilot.LiveOf(s.State.Copilot); more && live.Request == e.Request {
			p.open = e.Request // another round follows, or the turn ends before it
			return
		}
		p.endOfAnswer(s, id, e.Request, !e.Cancelled)
	case csm.SpeechPlayed:
		p.nextCaption(s.State)
	case csm.SpeechDrained, csm.SpeechFlushed:
		p.caption = speech.Segment{}
	}
}

// final publishes the final words of an utterance. If it was recognised as one with those that it
// continues, these are the words of all of them.
func (p *publisher) final(s dispatch.Step, utterance uint64) {
	cur := s.State.Current
	text, heard := p.d.content.utterance(utterance), p.d.content.heard(utterance)
	p.d.record(s.Envelope.At, "utterance", utterance, text)
	before := uint64(0)
	if ids := append([]uint64{cur.Utterance}, cur.More...); ids[len(ids)-1] == utterance {
		if whole, apart, of := p.d.content.message(ids); of > 0 {
			text, heard, before = whole, apart, ids[len(ids)-2]
			p.d.words(s.Envelope.At, journal.Words{Kind: "joined", ID: utterance, Text: text, Of: of})
		}
	}
	if heard == text {
		heard = ""
	}
	p.said(s, utterance, before, protocol.TranscriptEntry{
		TurnID: turnID(cur.ID), Role: protocol.RoleUser, Text: text, Heard: heard, Correction: p.d.content.correction(utterance), Final: true,
	})
	if heard != "" {
		p.d.record(s.Envelope.At, "heard", utterance, heard)
	}
}

// endOfAnswer publishes the end of an answer.
func (p *publisher) endOfAnswer(s dispatch.Step, turn string, request uint64, whole bool) {
	p.open = 0
	text := strings.TrimSpace(p.d.content.answer(request, -1))
	if text != "" && whole {
		p.transcript(s, protocol.TranscriptEntry{TurnID: turn, Role: protocol.RoleAssistant, Text: text, Final: true, End: p.d.content.cutEnd(request)})
	}
	p.d.record(s.Envelope.At, "answer", request, text)
}

// heard updates the transcript with how much of the answer was heard.
func (p *publisher) heard(f csm.PublishHeard) {
	for i := len(p.entries) - 1; i >= 0; i-- {
		if e := &p.entries[i]; e.TurnID == turnID(f.Turn) && e.Role == protocol.RoleAssistant {
			chars := p.d.content.heardOf(f.Request, f.Chars)
			e.HeardChars = &chars
			return
		}
	}
}

// showCaption publishes the segment being spoken.
func (p *publisher) showCaption(st csm.State, heard int) {
	if l, ok := speech.LineOf(st.Speech); ok && l.Played < len(l.Segments) && heard == 0 {
		p.caption = l.Segments[l.Played]
	}
	if text := p.d.sourceText(p.caption); text != "" {
		p.notify(protocol.NotifyCaption, protocol.CaptionParams{TurnID: turnID(st.Current.ID), Text: text, HeardChars: heard})
	}
}

// nextCaption completes the caption of a segment that was heard, and shows the next
// one.
func (p *publisher) nextCaption(st csm.State) {
	heard := p.caption.End - p.caption.Start
	if heard == 0 { // a notice or a question; the core does not know its length
		heard = utf8.RuneCountInString(p.d.sourceText(p.caption))
	}
	p.showCaption(st, heard)
	if l, ok := speech.LineOf(st.Speech); ok && l.Played < len(l.Segments) {
		p.showCaption(st, 0)
	}
}

// publishSession publishes session changes: each state change of a step that makes
// several, and other new information.
func (p *publisher) publishSession(s dispatch.Step, life sessionLife) {
	path := session.Path(p.session, s.State.Session)
	if len(path) == 0 {
		path = []session.State{s.State.Session}
	}
	for _, to := range path {
		now := protocol.SessionParams{
			State: protocol.SessionState(to.String()), PreviousState: protocol.SessionState(p.session.String()),
			ID: sessionID(s.State.Instance), Provider: p.d.settings().Hears(), Renewing: life.renewing, Path: life.path,
		}
		if life.expires != 0 {
			now.ExpiresAt = protocol.At(time.Unix(life.expires, 0))
		}
		if f, ok := s.State.Conv.(csm.Faulted); ok && to == session.Error {
			now.Code = protocol.ErrorCode(f.Code)
		}
		if d := p.d; d.cfg.Record != nil && to != p.session {
			d.cfg.Record.Session(now, d.costs, d.wall(s.Envelope.At).Time)
		}
		p.session, p.life = to, life
		p.notify(protocol.NotifySession, now)
	}
}

// snapshot returns the wire form of the state.
func (d *Daemon) snapshot(st csm.State) protocol.Snapshot {
	state, sub := st.Phase().Wire()
	previous, _ := st.Previous.Wire()
	s := protocol.Snapshot{
		State: protocol.State(state), Substate: protocol.Substate(sub), TurnID: turnID(st.Current.ID),
		Since: d.wall(st.Since), Label: d.label(st), Queue: queueOf(st), Paused: pausedOf(st),
		Metadata: protocol.Metadata{
			Reason: reasonOf(st, st.Current.Failed), SessionID: sessionID(st.Instance),
			TranscriptID: utteranceID(st.Current.Utterance), CopilotRequestID: requestID(st.Current.Request),
			RetryCount: max(st.Current.Attempt-1, 0), PendingActions: d.pendingActions(st),
		},
		Session:    protocol.Session{State: protocol.SessionState(st.Session.String()), ID: sessionID(st.Instance), Path: d.pub.life.path},
		Connection: protocol.Connection{State: protocol.ConnectionState(st.Conn.String()), Epoch: int64(connection.Epoch(st.Conn))},
		Microphone: d.pub.microphone,
		Seq:        d.pub.seq,
	}
	if st.CauseSeq != 0 {
		s.PreviousState = protocol.State(previous)
	}
	if st.Current.ID != 0 {
		s.TurnRole = protocol.Role(st.Current.Role.String())
	}
	return s
}

func queueOf(st csm.State) protocol.Queue {
	q := protocol.Queue{Count: len(st.Queue), IDs: protocol.List[string]{}}
	for _, id := range st.Queue {
		q.IDs = append(q.IDs, utteranceID(id))
	}
	return q
}

var suspendReasons = []struct {
	bit  csm.SuspendReason
	name protocol.SuspendReason
}{
	{csm.SuspendUser, protocol.SuspendUser}, {csm.SuspendRenewal, protocol.SuspendSessionRenewal},
	{csm.SuspendConnection, protocol.SuspendConnection}, {lostDevices, protocol.SuspendDevice},
	{csm.SuspendDiagnostics, protocol.SuspendDiagnostics}, {csm.SuspendHeartbeat, protocol.SuspendHeartbeat},
}

// reasonOf returns the reason that a state is shown with: the first reason of a
// suspension, the code of a fault, or the failure of a turn.
func reasonOf(st csm.State, code csm.Code) string {
	if f, faulted := st.Conv.(csm.Faulted); faulted {
		return string(f.Code)
	}
	for _, r := range suspendReasons {
		if st.Hold&r.bit != 0 {
			return string(r.name)
		}
	}
	return string(code)
}

// wall converts a time of the conversation's clock to wall-clock time.
func (d *Daemon) wall(at time.Duration) protocol.Timestamp { return protocol.At(d.cfg.Started.Add(at)) }
