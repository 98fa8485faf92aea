package watch

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/protocol/jsonrpc"
)

// session is the reading side of one connection.
type session struct {
	*Server
	ctx    context.Context
	w      *watcher
	stream *jsonrpc.Stream
	token  string
	joined bool
}

// serve reads one watcher's requests until it disconnects.
func (s *Server) serve(ctx context.Context, w *watcher, token string) {
	c := &session{Server: s, ctx: ctx, w: w, token: token}
	c.stream = jsonrpc.NewStream(w.conn, w, nil)
	_ = w.conn.SetReadDeadline(time.Now().Add(helloMax))
	for {
		var r jsonrpc2.Request
		if c.stream.ReadObject(&r) != nil || !c.handle(&r) {
			break
		}
	}
	w.finish(time.Now().Add(farewell), nil)
	<-w.done
	s.mu.Lock()
	delete(s.conns, w)
	s.mu.Unlock()
	if c.joined {
		s.hub.do(func() { delete(s.hub.watchers, w) })
		s.hub.count.Add(-1)
	}
}

// handle handles one message, and reports whether the connection stays open.
func (c *session) handle(r *jsonrpc2.Request) bool {
	locale := c.d.Locale()
	row, known := protocol.Lookup(r.Method)
	switch {
	case r.Method == protocol.MethodExit:
		return false
	case r.Method == protocol.MethodInitialize && !r.Notif && !c.joined:
		return c.initialize(r)
	case !c.joined:
		c.refuse(r, locale.NewError(protocol.CodeNotInitialized, ""))
		return false
	case r.Notif: // for example initialized, which needs no action
		return true
	case !known || row.Direction == protocol.DaemonToClient:
		c.refuse(r, locale.NewError(protocol.CodeMethodNotFound, ""))
	default:
		c.read(r)
	}
	return true
}

// initialize admits a watcher and sends it the snapshot.
func (c *session) initialize(r *jsonrpc2.Request) bool {
	locale := c.d.Locale()
	p, refusal := protocol.Decode[protocol.InitializeParams](locale, r.Params)
	if refusal != nil {
		return c.refuse(r, refusal)
	}
	version, refusal := protocol.Negotiate(locale, p.ProtocolVersion)
	switch {
	case refusal != nil:
		return c.refuse(r, refusal)
	case subtle.ConstantTimeCompare([]byte(p.Watch.Token), []byte(c.token)) != 1:
		return c.refuse(r, locale.NewError(protocol.CodeWatchRefused, "the token is wrong"))
	case p.Watch.Words && !c.hub.words.Load():
		return c.refuse(r, locale.NewError(protocol.CodeWatchRefused, "agentvoice.privacy.watch does not allow words"))
	}
	_ = c.w.conn.SetReadDeadline(time.Time{})
	c.w.follows = p.Watch
	c.joined = true
	c.hub.count.Add(1) // before the snapshot, so that no later notification is missed
	c.d.WithSnapshot(func(now protocol.Snapshot) {
		c.hub.do(func() {
			c.w.join(c.answer(r, protocol.InitializeResult{
				ServerInfo: protocol.ServerInfo{Name: "agentvoice-daemon", Version: c.cfg.Version}, ProtocolVersion: version, Snapshot: now,
				Capabilities: protocol.ServerCapabilities{Locales: protocol.Locales},
			}))
			c.hub.watchers[c.w] = struct{}{}
		})
	})
	return true
}

// read answers read-only requests and refuses all others.
func (c *session) read(r *jsonrpc2.Request) {
	ctx, stop := context.WithTimeout(c.ctx, helloMax)
	defer stop()
	switch r.Method {
	case protocol.MethodState:
		c.reply(r, c.d.Snapshot())
	case protocol.MethodHistory:
		c.reply(r, protocol.HistoryResult{Transitions: c.d.History()})
	case protocol.MethodTranscript:
		c.transcript(r)
	case protocol.MethodSessions:
		result, err := c.cfg.Sessions(ctx)
		c.replyOr(r, result, err)
	case protocol.MethodUsage:
		result, err := c.cfg.Usage(ctx)
		c.replyOr(r, result, err)
	default:
		c.refuse(r, c.d.Locale().NewError(protocol.CodeReadOnly, ""))
	}
}

func (c *session) transcript(r *jsonrpc2.Request) {
	locale := c.d.Locale()
	p, refusal := protocol.Decode[protocol.TranscriptRequestParams](locale, r.Params)
	switch {
	case refusal != nil:
		c.refuse(r, refusal)
	case !c.w.follows.Words || !c.hub.words.Load():
		c.refuse(r, locale.NewError(protocol.CodeWatchRefused, "this watcher gets no words"))
	default:
		c.d.WithTranscript(p.Since, func(t protocol.TranscriptResult) { c.reply(r, t) })
	}
}

func (c *session) replyOr(r *jsonrpc2.Request, result any, err error) {
	if err != nil {
		c.cfg.Log.Warn().Err(err).Msg("a watcher's request failed")
		c.refuse(r, c.d.Locale().NewError(protocol.CodeInternalError, ""))
		return
	}
	c.reply(r, result)
}

func (c *session) reply(r *jsonrpc2.Request, result any) {
	_, _ = c.w.Write(c.answer(r, result)) // it may have disconnected
}

// answer returns the wire form of a result.
func (c *session) answer(r *jsonrpc2.Request, result any) []byte {
	answer := &jsonrpc2.Response{ID: r.ID}
	err := answer.SetResult(result)
	var message []byte
	if err == nil {
		message, err = jsonrpc.Encode(answer)
	}
	if err != nil {
		c.cfg.Log.Error().Err(err).Msg("an answer cannot be encoded for a watcher")
	}
	return message
}

// refuse answers with an error. It returns false, for callers that then hang up.
func (c *session) refuse(r *jsonrpc2.Request, err *jsonrpc2.Error) bool {
	if !r.Notif {
		_ = c.stream.WriteObject(&jsonrpc2.Response{ID: r.ID, Error: err})
	}
	return false
}

var fellBehind = map[protocol.Locale]string{
	protocol.English:  "This watcher fell behind.",
	protocol.German:   "Dieser Beobachter ist nicht nachgekommen.",
	protocol.Japanese: "監視クライアントの処理が遅れました。",
}

// resync makes a watcher continue from a new snapshot. It runs on the writer's
// goroutine.
func (s *Server) resync(w *watcher) {
	locale := s.d.Locale()
	s.d.WithSnapshot(func(now protocol.Snapshot) {
		s.hub.do(func() {
			w.resume(func(spared int) []byte {
				message, err := notification(protocol.NotifyNotification, protocol.NotificationParams{
					Message: fellBehind[locale], Severity: protocol.SeverityInfo, Kind: protocol.NotificationResync,
					Snapshot: &now, Dropped: spared,
				})
				if err != nil {
					s.cfg.Log.Error().Err(err).Msg("a resync cannot be encoded")
				}
				return message
			})
		})
	})
}
