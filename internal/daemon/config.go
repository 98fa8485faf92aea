package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// coreConfig is the core's part of the settings.
func coreConfig(s protocol.Settings) csm.Config {
	c := csm.DefaultConfig()
	c.StartTimeout = s.Conversation.StartTimeout
	c.CopilotTimeout = s.Copilot.Timeout
	c.StallTimeout = s.Copilot.Stall
	c.SuspendMax = s.Suspend.Max
	c.FaultRetries = s.Fault.MaxRetries
	return c
}
