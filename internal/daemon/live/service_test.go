package live

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// With a phrase the service still parts what is said into utterances: the core
// waits for the one that ends with it. Only the key needs no detection.
func TestTurnModesOnTheRealtimeWire(t *testing.T) {
	for mode, want := range map[string]realtime.TurnDetection{
		protocol.TurnAutomatic:  {Type: realtime.SemanticVAD, Eagerness: protocol.EagernessAuto},
		protocol.TurnPatient:    {Type: realtime.SemanticVAD, Eagerness: protocol.EagernessLow},
		protocol.TurnPushToTalk: {Type: realtime.NoDetection},
	} {
		set := protocol.DefaultSettings().TurnDetection
		set.Mode = mode
		if got := turnDetection(set); got != want {
			t.Errorf("%s: %+v, want %+v", mode, got, want)
		}
	}
	for _, mode := range []string{protocol.TurnServer, protocol.TurnPhrase} {
		set := protocol.DefaultSettings().TurnDetection
		set.Mode = mode
		if got := turnDetection(set); got.Type != realtime.ServerVAD || got.Silence != set.Silence {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}
