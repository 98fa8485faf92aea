package rpc_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// speakingFor10s is a conversation in which one second of a 10 s answer was spoken.
// Each request for the history lets the script continue.
const speakingFor10s = `
auto speech 0ms 10s
await state listening
say "zebra"
await state waitingForCopilot
copilot.delta "giraffe."
copilot.done
await state speaking
after 1s
await conversation/history
`

// TestTheRateOfTheVoiceIsSet: the wire sets the rate during a conversation.
func TestTheRateOfTheVoiceIsSet(t *testing.T) {
	cfg, _, _ := running(t)
	var rates []float64
	made := cfg.New
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		b, err := made(c)
		b.SetRate = func(rate float64) { rates = append(rates, rate) }
		return b, err
	}
	c := serve(t, cfg, true)
	c.initialize(nil, nil)
	c.refused(protocol.MethodPlayback, object{"action": "continue", "rate": 2}, protocol.CodeNoConversation)
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.refused(protocol.MethodPlayback, object{"action": "continue", "rate": 3.5}, protocol.CodeInvalidParams)
	c.request(protocol.MethodPlayback, object{"action": "continue", "rate": 3})
	c.request(protocol.MethodPlayback, object{"action": "continue"})
	c.end()
	if want := []float64{3}; !slices.Equal(rates, want) {
		t.Errorf("the rates are %v, want %v", rates, want)
	}
}

// goOn lets the script continue.
func (c *client) goOn() {
	c.t.Helper()
	c.call(protocol.MethodHistory, nil, nil)
}

// voicePaused checks that the assistant speaks, and whether the user paused it.
func (c *client) voicePaused(want bool, label string) {
	c.t.Helper()
	if now := c.snapshot(); now.State != protocol.StateSpeaking || now.Paused.Voice != want || now.Label != label {
		c.t.Fatalf("the state is %s (%s), paused %+v; want speaking (%s), paused: %v", now.State, now.Label, now.Paused, label, want)
	}
}

// toldPaused returns what agentvoice.paused has reported about the voice so far.
func (c *client) toldPaused() (told []bool) {
	c.t.Helper()
	for _, m := range c.seen {
		if m.Method != protocol.NotifyPaused {
			continue
		}
		var p protocol.PausedParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		told = append(told, p.Voice)
	}
	return told
}

// During an answer, "hold on" pauses the voice and "continue" resumes it; nothing is
// sent.
func TestHoldOnPausesTheVoice(t *testing.T) {
	c := scripted(t, speakingFor10s+"say \"Hold on.\"\nawait conversation/history\nsay \"Continue, please.\"")
	c.initializeAndListen(nil)
	c.goOn()
	c.voicePaused(true, "⋯ Voice paused")
	c.advance(600_000)
	c.voicePaused(true, "⋯ Voice paused")
	c.goOn()
	c.voicePaused(false, "● Speaking")
	c.advance(8_999)
	c.now(protocol.StateSpeaking, "")
	c.advance(1)
	c.now(protocol.StateListening, "")
	if told := c.toldPaused(); !slices.Equal(told, []bool{true, false}) {
		t.Errorf("the client was told %v", told)
	}
	var report protocol.Report
	if c.call(protocol.MethodDiagnosticsReport, nil, &report); report.Interruptions.Retracted != 0 {
		t.Errorf("%d interruptions count as taken back, want none: both were meant", report.Interruptions.Retracted)
	}
	if sent := c.effectsOf("SendCopilot"); len(sent) != 1 {
		t.Errorf("%d requests were sent, want 1", len(sent))
	}
	c.end()
}

// The same over the wire, and by voice in each language.
func TestThePlaybackIsPausedAndContinued(t *testing.T) {
	c := scripted(t, speakingFor10s)
	c.initializeAndListen(nil)
	c.refused(protocol.MethodPlayback, object{"action": "louder"}, protocol.CodeInvalidParams)
	c.call(protocol.MethodPlayback, object{"action": "pause"}, nil)
	c.voicePaused(true, "⋯ Voice paused")
	c.advance(600_000)
	c.voicePaused(true, "⋯ Voice paused")
	c.call(protocol.MethodPlayback, object{"action": "continue"}, nil)
	c.voicePaused(false, "● Speaking")
	c.advance(9_000)
	c.now(protocol.StateListening, "")
	c.refused(protocol.MethodPlayback, object{"action": "pause"}, protocol.CodeInvalidState)
	c.end()
	for pause, goOn := range map[string]string{
		"Wait a moment.": "Go on.", "Moment mal.": "Mach weiter.", "ちょっと待って。": "続けてください。",
	} {
		c := scripted(t, speakingFor10s+"say \""+pause+"\"\nawait conversation/history\nsay \""+goOn+"\"")
		c.initializeAndListen(nil)
		c.goOn()
		c.voicePaused(true, "⋯ Voice paused")
		c.goOn()
		c.voicePaused(false, "● Speaking")
		c.end()
	}
}

// "Stop" while the voice is paused ends the answer.
func TestStopEndsAPausedAnswer(t *testing.T) {
	c := scripted(t, speakingFor10s+"say \"stop\"")
	c.initializeAndListen(nil)
	c.call(protocol.MethodPlayback, object{"action": "pause"}, nil)
	c.goOn()
	if now := c.snapshot(); now.State != protocol.StateListening || now.Paused.Voice || now.TurnID != "" {
		t.Errorf("after \"stop\" the state is %s in turn %q, paused %+v", now.State, now.TurnID, now.Paused)
	}
	c.end()
}
