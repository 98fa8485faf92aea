package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// serviceGrace is how much longer than its own silence timeout the service may take to
// report the end of a turn. After that, the core ends the turn.
const serviceGrace = time.Second

// coreConfig returns the core's part of the settings.
func coreConfig(s protocol.Settings) csm.Config {
	c := csm.DefaultConfig()
	c.StartTimeout = s.Conversation.StartTimeout
	c.CopilotTimeout = s.Copilot.Timeout
	c.StallTimeout = s.Copilot.Stall
	c.SuspendMax = s.Suspend.Max
	c.FaultRetries = s.Fault.MaxRetries
	c.Silence = s.TurnDetection.Silence + serviceGrace
	c.Turns, c.Eagerness = turnMode(s.TurnDetection)
	c.Interruption, c.Confirm = interruptions[s.Interruption.Profile], s.Interruption.Confirm
	if s.Interruption.Profile == protocol.ProfileAssertive {
		c.Confirm = 0 // any sound gets the floor; its words decide what becomes of the answer
	}
	return c
}

// interruptions maps the interruption profiles to the core's values.
var interruptions = map[string]csm.Interruption{
	protocol.ProfileDefault: csm.Confirmed, protocol.ProfileAssertive: csm.Confirmed,
	protocol.ProfileCautious: csm.ByWords, protocol.ProfileOff: csm.Never,
}

var eagerness = map[string]turn.Eagerness{
	protocol.EagernessAuto: turn.Auto, protocol.EagernessLow: turn.Low,
	protocol.EagernessMedium: turn.Medium, protocol.EagernessHigh: turn.High,
}

// turnMode returns who ends the user's turn. A phrase and a key count as manual: no
// pause ends a turn, however long it is.
func turnMode(s protocol.TurnDetectionSettings) (turn.Mode, turn.Eagerness) {
	switch s.Mode {
	case protocol.TurnServer:
		return turn.Server, turn.Auto
	case protocol.TurnPatient:
		return turn.Semantic, turn.Low
	case protocol.TurnPhrase, protocol.TurnPushToTalk:
		return turn.Manual, turn.Auto
	default:
		return turn.Semantic, eagerness[s.Eagerness]
	}
}

// coreConfig returns the core's configuration from the settings and from what the
// client offers.
func (d *Daemon) coreConfig() csm.Config {
	c := coreConfig(d.settings())
	c.Tools = d.callsTools() && len(d.content.offered()) > 0
	if l, ok := d.adapter().(copilot.Limiter); ok {
		c.ToolTimeout = l.ToolLimit()
	}
	if w, ok := d.adapter().(copilot.Worker); ok {
		c.Tools, c.RoundsMax = false, w.MaxRounds()
	}
	return c
}
