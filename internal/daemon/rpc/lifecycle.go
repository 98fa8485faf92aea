package rpc

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/redact"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// serverName is the daemon's name on the wire.
const serverName = "agentvoice-daemon"

// initialize opens the connection: it compares versions, takes the settings and creates
// the daemon.
func (s *server) initialize(c *call, p protocol.InitializeParams) {
	s.mu.Lock()
	s.clientLocale = protocol.MatchLocale(p.Locale)
	s.mu.Unlock()
	version, refusal := protocol.Negotiate(s.clientLocale, p.ProtocolVersion)
	if refusal != nil {
		c.refuse(refusal)
		return
	}
	if p.ProcessID < 0 {
		c.refuse(s.clientLocale.InvalidParams([]protocol.FieldError{{Field: "processId", Problem: "is negative", Allowed: "the id of a process"}}))
		return
	}
	settings, bad := protocol.ParseConfiguration(p.Configuration)
	if s.cfg.Settings != nil {
		var err error
		if settings, err = s.cfg.Settings(settings); err != nil {
			c.fail(protocol.CodeInvalidParams, err.Error())
			return
		}
	}
	if err := s.begin(p, settings); err != nil {
		s.log.Error().Err(err).Msg("the daemon cannot be made")
		c.fail(protocol.CodeInternalError, err.Error())
		return
	}
	s.back.Daemon.OpenWorkspace(p.Workspace)
	s.phase = running
	s.log.Info().Str("client", clip(p.ClientInfo.Name)).Str("clientVersion", clip(p.ClientInfo.Version)).
		Bool("copilot", p.Capabilities.Copilot).Bool("heartbeat", p.Capabilities.Heartbeat).Msg("a client is connected")
	s.back.Daemon.WithSnapshot(func(now protocol.Snapshot) {
		c.reply(protocol.InitializeResult{
			ServerInfo: s.info(), ProtocolVersion: version, Snapshot: now,
			Capabilities: protocol.ServerCapabilities{
				Providers: protocol.Providers, Locales: protocol.Locales, Audio: s.back.Audio != nil,
				PushToTalk: s.back.PressToTalk != nil, Headless: s.back.Stage != nil,
				Tools: p.Capabilities.Tools, Models: true,
				JournalContent: s.recorder.full(),
			},
		})
	})
	s.opened()
	s.complain(bad)
	s.watch(p.ProcessID)
}

func (s *server) info() protocol.ServerInfo {
	return protocol.ServerInfo{Name: serverName, Version: s.cfg.Version}
}

// errEnding reports that the connection ended while the daemon was being created.
var errEnding = errors.New("the connection is ending")

// begin creates and starts the daemon.
func (s *server) begin(p protocol.InitializeParams, settings protocol.Settings) error {
	recorder, err := newRecorder(s.cfg, settings)
	if err != nil {
		return err
	}
	client := Client{Name: cmp.Or(clip(p.ClientInfo.Name), "an editor"), Settings: settings, Locale: p.Locale, Microphone: p.Microphone, Notify: s.notify, TranscriptAppend: p.Capabilities.TranscriptAppend, Journal: recorder.w}
	s.asker = newAsker(s, p.Capabilities.Tools)
	if p.Capabilities.Copilot {
		client.Copilot = s.asker
	}
	if p.Capabilities.Secrets {
		client.Credential = s.credential
	}
	if p.Capabilities.Commands {
		client.Editor = s.editorCommand
	}
	back, err := s.cfg.New(client)
	if err != nil {
		return errors.Join(err, recorder.close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.Join(errEnding, back.Daemon.Close(), recorder.close())
	}
	s.back, s.recorder = back, recorder
	if p.Capabilities.Heartbeat {
		s.beats = newHeartbeats(s.cfg.Clock, back.Daemon)
	}
	if back.Stage == nil {
		run, end := context.WithCancel(s.ctx)
		s.endRun, s.finished = end, make(chan error, 1)
		s.wg.Go(func() { s.finished <- back.Daemon.Run(run) })
	}
	return nil
}

// complain reports the invalid settings of initialize.
func (s *server) complain(bad []protocol.FieldError) {
	if len(bad) == 0 {
		return
	}
	var problems []string
	for _, f := range bad {
		problems = append(problems, f.Error())
	}
	s.notify(protocol.NotifyNotification, protocol.NotificationParams{
		Message:  protocol.CodeInvalidParams.Spec().Message(s.locale()) + " (" + strings.Join(problems, "; ") + ")",
		Severity: protocol.SeverityWarning, Kind: protocol.NotificationMessage, Code: protocol.CodeInvalidParams,
	})
}

// initialized does nothing, because requests to the client only arise from
// conversations.
func (s *server) initialized(*call) {}

// shutdown ends the conversation and closes every resource, then answers.
func (s *server) shutdown(c *call) {
	s.phase = closing
	end := func() {
		if err := s.stopDaemon(); err != nil {
			s.log.Warn().Err(err).Msg("not everything was closed in order")
		}
		c.reply(nil)
	}
	if s.back.Stage != nil {
		end()
		return
	}
	s.spawn(end)
}

// exit ends the process.
func (s *server) exit(*call) {
	if s.phase == closing {
		s.finish(nil)
		return
	}
	s.finish(ErrExit)
}

// watch ends the connection when a process ends.
func (s *server) watch(pid int) {
	if pid <= 0 {
		return
	}
	s.spawn(func() {
		if err := awaitProcess(s.ctx, pid); err == nil {
			s.finish(ErrProcessGone)
		} else if s.ctx.Err() == nil {
			s.log.Warn().Err(err).Msg("the editor's process cannot be watched")
		}
	})
}

// logged logs what is published: names and hashed ids, no words.
func (s *server) logged(params any) {
	switch p := params.(type) {
	case protocol.StateParams:
		s.log.Debug().Str("state", string(p.State)).Str("substate", string(p.Substate)).Str("from", string(p.PreviousState)).
			Str("cause", string(p.Cause)).Str("reason", p.Metadata.Reason).Str("turn", redact.Of(p.TurnID)).
			Str("session", redact.Of(p.Metadata.SessionID)).Int64("seq", p.Seq).Msg("transition")
	case protocol.TurnParams:
		s.log.Debug().Str("event", string(p.Event)).Str("turn", redact.Of(p.TurnID)).Str("outcome", string(p.Outcome)).
			Str("code", string(p.Code)).Msg("turn")
	case protocol.ErrorParams:
		s.log.Warn().Str("code", string(p.Code)).Msg("a failure was published")
	}
}

// clip limits client-supplied text in a log.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "")
	}
	return s
}

// Limits for the silence of a window.
const (
	suspendAfter = 20 * time.Second
	endAfter     = 60 * time.Second
)

// heartbeats suspends and then ends the conversation of a window that is silent (the
// protocol, client/heartbeat).
type heartbeats struct {
	clock dispatch.Clock
	d     *daemon.Daemon

	mu        sync.Mutex
	stops     []func()
	beat      uint64 // count of beats; the timer of an older one is stale
	suspended bool
	stopped   bool
}

func newHeartbeats(clock dispatch.Clock, d *daemon.Daemon) *heartbeats {
	h := &heartbeats{clock: clock, d: d}
	h.heard()
	return h
}

// heard handles a sign of life.
func (h *heartbeats) heard() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halt()
	if h.stopped {
		return
	}
	if h.suspended {
		h.suspended = false
		h.d.Post(csm.Resume{Reason: csm.SuspendHeartbeat})
	}
	h.beat++
	beat := h.beat
	h.stops = []func(){
		h.clock.AfterFunc(suspendAfter, func() {
			h.silent(beat, csm.Suspend{Reason: csm.SuspendHeartbeat})
		}),
		h.clock.AfterFunc(endAfter, func() {
			h.silent(beat, csm.UserStop{Code: csm.CodeClientGone})
		}),
	}
}

func (h *heartbeats) silent(beat uint64, e csm.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if beat == h.beat && !h.stopped {
		h.suspended = true
		h.d.Post(e)
	}
}

func (h *heartbeats) halt() {
	for _, stop := range h.stops {
		stop()
	}
	h.stops = nil
}

func (h *heartbeats) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.halt()
}

func (s *server) heartbeat(*call) {
	if s.beats != nil {
		s.beats.heard()
	}
}
