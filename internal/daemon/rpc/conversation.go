package rpc

import (
	"encoding/json"
	"errors"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func (s *server) start(c *call, p protocol.StartParams) {
	var folder string
	if named, ok := p.Context["folder"]; ok && json.Unmarshal(named, &folder) != nil {
		c.refuse(s.locale().InvalidParams([]protocol.FieldError{{Field: "context.folder", Problem: "is not a string", Allowed: "the path of an open folder"}}))
		return
	}
	if err := s.back.Daemon.ChooseFolder(folder); err != nil {
		c.fail(protocol.CodeNoTrustedFolder, err.Error())
		return
	}
	s.back.Daemon.Call(func(id csm.Call) csm.Event { return csm.UserStart{Call: id, TakeOver: p.TakeOver} }, c.stepped(snapshot))
}

func (s *server) end(c *call, p protocol.EndParams) {
	var code csm.Code
	if p.Reason == protocol.EndClientGone {
		code = csm.CodeClientGone
	}
	s.back.Daemon.Call(func(id csm.Call) csm.Event { return csm.UserStop{Call: id, Code: code} }, c.stepped(snapshot))
}

func (s *server) interrupt(c *call, p protocol.InterruptParams) {
	s.seen.count("interrupts." + string(p.Source))
	s.back.Daemon.Call(func(id csm.Call) csm.Event { return csm.UserInterrupt{Call: id} }, c.stepped(snapshot))
}

// suspendReasons are the reasons that a client may set and clear. The others reflect
// actual conditions.
var suspendReasons = map[protocol.SuspendReason]csm.SuspendReason{
	"":                             csm.SuspendUser,
	protocol.SuspendUser:           csm.SuspendUser,
	protocol.SuspendSessionRenewal: csm.SuspendRenewal,
	protocol.SuspendDiagnostics:    csm.SuspendDiagnostics,
}

func (s *server) suspend(c *call, p protocol.SuspendParams) {
	if why, ok := c.reason(p); ok {
		s.back.Daemon.Call(func(id csm.Call) csm.Event { return csm.Suspend{Call: id, Reason: why} }, c.stepped(snapshot))
	}
}

func (s *server) resume(c *call, p protocol.SuspendParams) {
	if why, ok := c.reason(p); ok {
		s.back.Daemon.Call(func(id csm.Call) csm.Event { return csm.Resume{Call: id, Reason: why} }, c.stepped(snapshot))
	}
}

func (c *call) reason(p protocol.SuspendParams) (csm.SuspendReason, bool) {
	why, ok := suspendReasons[p.Reason]
	if !ok {
		c.refuse(c.s.locale().InvalidParams([]protocol.FieldError{{
			Field: "reason", Problem: "is a fact that only the daemon knows", Allowed: "user, session-renewal, diagnostics",
		}}))
	}
	return why, ok
}

func (s *server) commitTurn(c *call) {
	s.back.Daemon.Call(func(id csm.Call) csm.Event { return csm.UserCommit{Call: id} }, c.stepped(snapshot))
}

var retryStages = map[protocol.RetryStage]copilot.Stage{
	protocol.RetrySearch: copilot.StageSearch, protocol.RetryGeneration: copilot.StageGeneration,
	protocol.RetryStream: copilot.StageStream, protocol.RetryCall: copilot.StageCall,
}

func (s *server) retry(c *call, p protocol.RetryParams) {
	s.back.Daemon.Retry(retryStages[p.Stage], c.stepped(snapshot))
}

// turn answers a command that opens a turn with the id of the turn.
func turn(r csm.Reply, _ protocol.Snapshot) any {
	return protocol.TurnResult{TurnID: daemon.TurnID(r.Turn)}
}

func (s *server) sendText(c *call, p protocol.SendTextParams) {
	c.worded(s.back.Daemon.SendText(p.Text, c.stepped(turn)))
}

func (s *server) speak(c *call, p protocol.SpeakParams) {
	if p.Source != "" {
		s.seen.count("spoken." + string(p.Source))
	}
	c.worded(s.back.Daemon.Speak(p.Text, c.stepped(turn)))
}

// worded refuses a text without words.
func (c *call) worded(err error) {
	if errors.Is(err, daemon.ErrNoWords) {
		c.fail(protocol.CodeTextEmpty, "")
	}
}

func (s *server) undoCorrection(c *call, p protocol.UndoCorrectionParams) {
	if err := s.back.Daemon.UndoCorrection(p.Correction, c.stepped(nothing)); err != nil {
		c.fail(protocol.CodeInvalidState, err.Error())
	}
}

// playback controls the assistant's speech. A repeated answer is a separate turn, so it
// needs a conversation that listens.
func (s *server) playback(c *call, p protocol.PlaybackParams) {
	switch {
	case p.Rate == 0:
	case s.back.Daemon.State().Phase() == csm.PhaseIdle: // the action below is refused with the reason
	case s.back.SetRate == nil:
		c.fail(protocol.CodeInvalidState, "this daemon has no voice")
		return
	default:
		s.back.SetRate(p.Rate)
	}
	d := s.back.Daemon
	switch p.Action {
	case protocol.PlaybackRepeat:
		if d.Repeat(c.stepped(nothing)) != nil {
			c.fail(protocol.CodeInvalidState, "nothing was answered yet")
		}
	case protocol.PlaybackSkip:
		d.Call(func(id csm.Call) csm.Event { return csm.UserInterrupt{Call: id} }, c.stepped(nothing))
	default:
		pause := p.Action == protocol.PlaybackPause
		d.Call(func(id csm.Call) csm.Event { return csm.UserPlayback{Call: id, Pause: pause} }, c.stepped(nothing))
	}
}

// pushToTalk starts an utterance when the key goes down and ends it when the key goes
// up. The user decides when a turn ends; pauses do not.
func (s *server) pushToTalk(c *call, p protocol.PushToTalkParams) {
	d := s.back.Daemon
	if mode := d.TurnMode(); mode != protocol.TurnPushToTalk {
		c.fail(protocol.CodeInvalidState, "agentvoice.turnDetection.mode is "+string(mode)+"; set it to "+protocol.TurnPushToTalk+" before the conversation begins")
		return
	}
	if s.back.PressToTalk == nil {
		c.fail(protocol.CodeInvalidState, "push-to-talk is unavailable; use conversation/commitTurn")
		return
	}
	if !p.Down {
		d.Call(func(id csm.Call) csm.Event { return csm.UserCommit{Call: id} }, c.stepped(nothing))
		return
	}
	if err := s.back.PressToTalk(); err != nil {
		c.fail(protocol.CodeInvalidState, err.Error())
		return
	}
	c.reply(nil)
}

func (s *server) state(c *call) {
	s.back.Daemon.WithSnapshot(func(now protocol.Snapshot) { c.reply(now) })
}

func (s *server) history(c *call) {
	c.reply(protocol.HistoryResult{Transitions: s.back.Daemon.History()})
}

func (s *server) transcript(c *call, p protocol.TranscriptRequestParams) {
	s.back.Daemon.WithTranscript(p.Since, func(r protocol.TranscriptResult) { c.reply(r) })
}
