package daemon

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// failingWorld is a promptWorld whose first answer fails. It counts requests.
type failingWorld struct {
	promptWorld
	sent int
}

func (w *failingWorld) Execute(e csm.Effect) {
	if e, ok := e.(csm.SendCopilot); ok {
		if w.sent++; w.sent == 1 {
			w.port.Post(csm.CopilotSent{Request: e.Request, Attempt: 1})
			w.port.Post(csm.CopilotDone{Request: e.Request, Code: csm.CodeCopilotUnavailable})
			return
		}
	}
	w.promptWorld.Execute(e)
}

func daemonOver(t *testing.T, set protocol.Settings, world func(Port, *dispatch.Virtual) World) (*Daemon, *dispatch.Virtual) {
	t.Helper()
	clock := &dispatch.Virtual{}
	d := New(Config{
		Clock: clock, Started: time.Unix(0, 0), Settings: set, Verify: true, Log: zerolog.Nop(), Notify: func(string, any) {},
		World: func(p Port) World { return world(p, clock) },
	})
	t.Cleanup(func() { _ = d.Close() })
	d.Post(csm.UserStart{})
	d.Drain()
	return d, clock
}

// hears simulates an utterance and lets the core process it.
func hears(d *Daemon, clock *dispatch.Virtual, id uint64, words string) {
	d.Post(csm.SpeechStarted{Epoch: 1, Utterance: id, Pos: int64(id) * 480000})
	d.Drain()
	clock.Advance(400*time.Millisecond, d.Drain)
	d.Post(csm.SpeechStopped{Epoch: 1, Utterance: id, Pos: int64(id)*480000 + 24000})
	d.Post(d.heard(1, id, Certain(words)))
	d.Drain()
}

// TestTryAgainByVoice: after a failure the words are a command, and the request is sent
// again. Without a failure they are a question.
func TestTryAgainByVoice(t *testing.T) {
	w := &failingWorld{}
	d, clock := daemonOver(t, protocol.DefaultSettings(), func(p Port, clock *dispatch.Virtual) World {
		w.promptWorld = promptWorld{port: p, clock: clock}
		return w
	})
	if err := d.SendText("explain it", func(csm.Reply, protocol.Snapshot) {}); err != nil {
		t.Fatal(err)
	}
	d.Drain()
	if w.sent != 1 || d.State().Retry.Utterance == 0 {
		t.Fatalf("%d requests were sent, and there is %+v to try again", w.sent, d.State().Retry)
	}
	asked := d.State().Retry.Utterance
	hears(d, clock, 90, "please try again")
	clock.Advance(time.Second, d.Drain)
	if w.sent != 2 {
		t.Fatalf("%d requests were sent; the core is in %v", w.sent, d.State().Phase())
	}
	if got := d.State().Current.Utterance; got != asked {
		t.Errorf("utterance %d was sent, want %d again", got, asked)
	}
}

// TestSendPhraseAlone: each variant of the phrase sends the draft if the setting names
// no phrase.
func TestSendPhraseAlone(t *testing.T) {
	set := protocol.DefaultSettings()
	set.TurnDetection.Mode = protocol.TurnPhrase
	world := func(p Port, clock *dispatch.Virtual) World { return &promptWorld{port: p, clock: clock} }
	d, _ := daemonOver(t, set, world)
	for _, words := range []string{"send it", "submit that", "schick es ab"} {
		if f := d.heard(1, 90, Certain(words)); f.Class != csm.Send || f.Words != 0 {
			t.Errorf("%q is %+v", words, f)
		}
	}
	set.TurnDetection.SendPhrase = "over and out"
	d, _ = daemonOver(t, set, world)
	if f := d.heard(1, 91, Certain("submit that")); f.Class == csm.Send {
		t.Error("another phrase than that of the setting sends")
	}
}
