//go:build cgo

package live

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// prompt is a tape that knows its words at once.
type prompt struct{ tape }

func (p prompt) Partial() string { return p.words }

// eager is an agent that may be asked early.
type eager struct{ *answers }

func (eager) MaySpeculate(copilot.Request) bool { return true }

// With agentvoice.speculation, the embedded server's text at the pause is sent before the
// turn ends, and its answer is spoken. By default, the request waits for the final words.
//
//test:long
func TestSpeculationOverTheEmbeddedServer(t *testing.T) {
	for _, enabled := range []bool{false, true} {
		m, p := &mouth{}, prompt{newTape("these are the words")}
		agent := &answers{send: says("Here is the answer.")}
		tk := talkTo(t, agent, eager{agent}, func(s *protocol.Settings) { s.Speculation = enabled }, Config{
			Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
			Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
			Speed:  speed, Engines: func(SpeechChoice) (localrealtime.Config, error) {
				cfg, err := engines(SpeechChoice{})
				cfg.Recognizer = func() (hearing.Recognizer, error) { return p, nil }
				return cfg, err
			},
		})
		tk.d.Post(csm.UserStart{})
		tk.want(protocol.StatePreparing, protocol.StateListening)
		m.utter(voiceOf(t, sentence))
		tk.answered()
		r := agent.last()
		if n := len(agent.sent); n != 1 || agent.most != 1 || r.Messages[0].Content != "these are the words" {
			t.Errorf("%d requests, %d at once, the last with %+v", n, agent.most, r.Messages)
		}
		if early := strings.HasPrefix(r.ID, "early-"); early != enabled {
			t.Errorf("the request has the id %s; speculation is enabled: %v", r.ID, enabled)
		}
	}
}
