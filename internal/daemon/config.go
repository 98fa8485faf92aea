package daemon

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// serviceGrace is what the service, which counts the silence that ends a turn, may
// take to say that it is over. The core ends the turn then.
const serviceGrace = time.Second

// coreConfig is the core's part of the settings.
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
	return c
}

// interruptions are what the profiles mean to the core.
var interruptions = map[string]csm.Interruption{
	protocol.ProfileDefault: csm.Confirmed, protocol.ProfileAssertive: csm.AtOnce,
	protocol.ProfileCautious: csm.ByWords, protocol.ProfileOff: csm.Never,
}

var eagerness = map[string]turn.Eagerness{
	protocol.EagernessAuto: turn.Auto, protocol.EagernessLow: turn.Low,
	protocol.EagernessMedium: turn.Medium, protocol.EagernessHigh: turn.High,
}

// turnMode is who ends the user's turn. A phrase and a key are the user's hand:
// no pause ends a turn, however long.
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

// coreConfig is the core's part of the settings and of what the client offers.
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
