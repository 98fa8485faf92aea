package rpc

import (
	"encoding/json"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// openHelp has the client open the help page for a failure. Pages open only at the
// user's request.
func (s *server) openHelp(c *call, p protocol.OpenHelpParams) {
	page := daemon.HelpPage(p.Code, s.back.Daemon.Settings())
	if page == "" {
		c.fail(protocol.CodeInvalidState, "there is no page for this failure")
		return
	}
	s.spawn(func() {
		var null json.RawMessage
		if err := s.asker.Call(s.ctx, protocol.MethodOpenExternal, protocol.OpenExternalParams{URL: page}, &null); err != nil {
			c.fail(protocol.CodeInternalError, "the client did not open the page")
			return
		}
		c.reply(nil)
	})
}
