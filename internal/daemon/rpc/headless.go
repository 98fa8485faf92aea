package rpc

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// advance advances virtual time. Everything that becomes due is published before the
// answer.
func (s *server) advance(c *call, p protocol.AdvanceParams) {
	if p.Milliseconds > int64(maxAdvance/time.Millisecond) {
		c.refuse(s.locale().InvalidParams([]protocol.FieldError{{Field: "ms", Problem: "is too large", Allowed: "0 to 86400000"}}))
		return
	}
	now := s.back.Stage.Advance(time.Duration(p.Milliseconds) * time.Millisecond)
	c.reply(protocol.AdvanceResult{Now: now.Milliseconds()})
}

// maxAdvance is a day, which exceeds every deadline.
const maxAdvance = 24 * time.Hour
