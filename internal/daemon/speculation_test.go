package daemon

import (
	"context"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// silent is an assistant that never answers.
type silent struct{}

func (silent) Name() string                                              { return "silent" }
func (silent) Send(context.Context, copilot.Request, func(string)) error { return nil }

type answersOnly struct{ silent }

func (answersOnly) MaySpeculate() {}

type callsToo struct{ answersOnly }

func (callsToo) CallTool(context.Context, context.Context, copilot.ToolCall) (string, error) {
	return "", nil
}

// With agentvoice.speculation, shorter pauses end a turn, where a request that is cancelled because the
// user goes on has done nothing. The core shows that its answer is never heard then (invariants 2 and 17,
// and testdata/csm/meaning.txt).
func TestSpeculationEndsTurnsSooner(t *testing.T) {
	for _, c := range []struct {
		name      string
		adapter   copilot.Adapter
		on        bool
		eagerness string
		want      string
	}{
		{"off", answersOnly{}, false, protocol.EagernessAuto, protocol.EagernessAuto},
		{"on", answersOnly{}, true, protocol.EagernessAuto, protocol.EagernessHigh},
		{"a user who wants long pauses", answersOnly{}, true, protocol.EagernessLow, protocol.EagernessLow},
		{"an assistant that calls tools", callsToo{}, true, protocol.EagernessAuto, protocol.EagernessAuto},
		{"an assistant that may act", silent{}, true, protocol.EagernessAuto, protocol.EagernessAuto},
	} {
		set := protocol.DefaultSettings()
		set.Speculation, set.TurnDetection.Eagerness = c.on, c.eagerness
		d := New(Config{Clock: &dispatch.Virtual{}, Settings: set, Adapter: c.adapter, World: func(Port) World { return idle{} }})
		if got := d.prompted().TurnDetection.Eagerness; got != c.want {
			t.Errorf("%s: the eagerness is %s, want %s", c.name, got, c.want)
		}
		if got := d.Settings().TurnDetection.Eagerness; got != c.eagerness {
			t.Errorf("%s: the setting became %s", c.name, got)
		}
		_ = d.Close()
	}
}
