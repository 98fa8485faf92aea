package rpc

import (
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// handler handles one message. It runs on the reader's goroutine and must not block.
type handler func(*server, *call)

// handlers lists everything that a client may send. A test compares it with the
// messages of the protocol.
var handlers = map[string]handler{
	protocol.MethodInitialize:    on((*server).initialize),
	protocol.MethodInitialized:   (*server).initialized,
	protocol.MethodShutdown:      (*server).shutdown,
	protocol.MethodExit:          (*server).exit,
	protocol.MethodCancelRequest: on((*server).cancelRequest),
	protocol.MethodHeartbeat:     (*server).heartbeat,

	protocol.MethodStart:      on((*server).start),
	protocol.MethodEnd:        on((*server).end),
	protocol.MethodInterrupt:  on((*server).interrupt),
	protocol.MethodSuspend:    on((*server).suspend),
	protocol.MethodResume:     on((*server).resume),
	protocol.MethodCommitTurn: (*server).commitTurn,
	protocol.MethodSendText:   on((*server).sendText),
	protocol.MethodRetry:      on((*server).retry),
	protocol.MethodState:      (*server).state,
	protocol.MethodHistory:    (*server).history,
	protocol.MethodPushToTalk: on((*server).pushToTalk),
	protocol.MethodSpeak:      on((*server).speak),
	protocol.MethodPlayback:   on((*server).playback),
	protocol.MethodTranscript: on((*server).transcript),

	protocol.MethodUndoCorrection: on((*server).undoCorrection),

	protocol.MethodApproveTool:     on((*server).approveTool),
	protocol.MethodModels:          (*server).models,
	protocol.MethodSelectModel:     on((*server).selectModel),
	protocol.MethodAssistants:      on((*server).assistants),
	protocol.MethodSelectAssistant: on((*server).selectAssistant),
	protocol.MethodCopilotDelta:    on((*server).copilotDelta),
	protocol.MethodCopilotToolCall: on((*server).copilotToolCall),
	protocol.MethodCopilotTools:    on((*server).copilotTools),
	protocol.MethodToolConfirming:  on((*server).toolConfirming),
	protocol.MethodWorkspaceWords:  on((*server).workspaceWords),
	protocol.MethodWorkspace:       on((*server).workspaceUpdate),

	protocol.MethodDevices:      (*server).devices,
	protocol.MethodSelectDevice: on((*server).selectDevice),
	protocol.MethodMute:         on((*server).mute),

	protocol.MethodConfigure:         on((*server).configure),
	protocol.MethodDiagnosticsReport: (*server).report,
	protocol.MethodJournal:           on((*server).journal),
	protocol.MethodSessions:          (*server).sessions,
	protocol.MethodUsage:             (*server).usage,
	protocol.MethodOpenHelp:          on((*server).openHelp),
	protocol.MethodAdvance:           on((*server).advance),
}

// on parses the params of a message. Invalid params are refused with the names of the
// fields.
func on[P any](f func(*server, *call, P)) handler {
	return func(s *server, c *call) {
		p, err := protocol.Decode[P](s.locale(), c.params)
		if err != nil {
			c.refuse(err)
			return
		}
		f(s, c, p)
	}
}

// call is a message being handled. Any goroutine may answer it; only the first answer
// is sent.
type call struct {
	s            *server
	id           jsonrpc2.ID
	method       string
	params       *json.RawMessage
	notification bool
}

// handle handles one client message. It runs on the reader's goroutine.
func (s *server) handle(r *jsonrpc2.Request) {
	c := &call{s: s, id: r.ID, method: r.Method, params: r.Params, notification: r.Notif}
	if !c.open() {
		_ = s.conn.ReplyWithError(s.ctx, r.ID, s.locale().NewError(protocol.CodeInvalidRequest, "a request with this id is still under way"))
		return
	}
	if s.phase == running {
		s.back.Daemon.Room(s.ctx) // backpressure: the client's pipe fills up meanwhile
	}
	row, known := protocol.Lookup(r.Method)
	h := handlers[r.Method]
	if r.Method == protocol.MethodAdvance && s.phase == running && s.back.Stage == nil {
		h = nil
	}
	switch {
	case s.phase == fresh && r.Method != protocol.MethodInitialize && r.Method != protocol.MethodExit:
		c.fail(protocol.CodeNotInitialized, "")
	case s.phase != fresh && r.Method == protocol.MethodInitialize:
		c.fail(protocol.CodeInvalidRequest, "initialize was sent before")
	case s.phase == closing && r.Method != protocol.MethodExit:
		c.fail(protocol.CodeShuttingDown, "")
	case !known || h == nil:
		c.fail(protocol.CodeMethodNotFound, "")
	case row.Notification != r.Notif && r.Notif:
		c.fail(protocol.CodeInvalidRequest, "it has no id")
	case row.Notification != r.Notif:
		c.fail(protocol.CodeInvalidRequest, "this is a notification: it has no id")
	default:
		if unknown := strangers(row, r); len(unknown) > 0 {
			c.refuse(s.locale().InvalidParams(unknown))
		} else {
			h(s, c)
		}
		if s.back.Stage != nil {
			s.back.Stage.Saw(r.Method)
		}
	}
}

// strangers returns the members of a request that its method does not define. Those of
// initialize are not checked, so that clients of later versions can announce their
// capabilities; nor are those of notifications, which cannot be refused.
func strangers(row protocol.Message, r *jsonrpc2.Request) []protocol.FieldError {
	if row.Notification || row.Method == protocol.MethodInitialize {
		return nil
	}
	return protocol.UnknownMembers(row.Params, r.Params)
}

// open registers a request that needs an answer. It returns false if its id is in use.
func (c *call) open() bool {
	if c.notification {
		return true
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.pending[c.id] != nil {
		return false
	}
	c.s.pending[c.id] = c
	return true
}

// close reports whether this is the first answer.
func (c *call) close() bool {
	if c.notification {
		return false
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.pending[c.id] != c {
		return false
	}
	delete(c.s.pending, c.id)
	return true
}

// reply answers with a result; nil becomes null.
func (c *call) reply(result any) {
	if c.close() {
		c.s.sent(c.s.conn.Reply(c.s.ctx, c.id, result))
	}
}

// fail answers with a protocol error. A failed notification is only logged.
func (c *call) fail(code protocol.ErrorCode, detail string) {
	c.refuse(c.s.locale().NewError(code, detail))
}

func (c *call) refuse(err *jsonrpc2.Error) {
	c.s.log.Debug().Str("method", known(c.method)).Int64("code", err.Code).Msg("a message of the client was refused")
	if c.close() {
		c.s.sent(c.s.conn.ReplyWithError(c.s.ctx, c.id, err))
	}
}

// known returns a method's name for logs. Names invented by a client are not logged.
func known(method string) string {
	if _, ok := protocol.Lookup(method); ok {
		return method
	}
	return "unknown"
}

// stepped returns a callback that answers a user's command with f's result once it is
// stepped, or with the core's refusal.
func (c *call) stepped(f func(csm.Reply, protocol.Snapshot) any) func(csm.Reply, protocol.Snapshot) {
	return func(r csm.Reply, s protocol.Snapshot) {
		if r.Code != "" {
			c.fail(protocol.ErrorCode(r.Code), "")
			return
		}
		c.reply(f(r, s))
	}
}

// Answers to commands.
func snapshot(_ csm.Reply, s protocol.Snapshot) any { return s }
func nothing(csm.Reply, protocol.Snapshot) any      { return nil }

// cancelRequest answers a cancelled request. Effects that already happened remain.
func (s *server) cancelRequest(_ *call, p protocol.CancelParams) {
	s.mu.Lock()
	c := s.pending[p.ID]
	s.mu.Unlock()
	if c != nil {
		c.fail(protocol.CodeRequestCancelled, "")
	}
}
