//go:build cgo

package live

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// shown returns the texts of the notifications.
func (tk *talk) shown() (texts []string) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for _, n := range tk.notes {
		texts = append(texts, n.Message)
	}
	return texts
}

// output measures what the assistant said, and moves a held clock by each rendered frame.
type output struct {
	spoken
	clock atomic.Pointer[talkClock]
}

func (o *output) Assistant(f *audio.Frame) {
	o.spoken.Assistant(f)
	if c := o.clock.Load(); c != nil {
		c.pass(audio.FrameTime)
	}
}

// more waits until more is heard than the end of what sounds now.
func (o *output) more(tk *talk, what string) {
	tk.t.Helper()
	enough := o.samples.Load() + audio.SampleRate/5
	tk.eventually(what, func() bool { return o.samples.Load() > enough })
}

// timedByOutput is a conversation without cues, whose clock follows its output.
func timedByOutput(t *testing.T, change func(*protocol.Settings)) (*talk, *output) {
	t.Helper()
	said := &output{}
	cfg := devicesOf(&mouth{}, nil)
	cfg.Tap = said
	tk := newTalkOver(t, func(s *protocol.Settings) {
		s.Cues.Enabled = false
		change(s)
	}, cfg)
	tk.clock.hold()
	said.clock.Store(tk.clock)
	return tk, said
}

// TestALongAnswerPausesLive: a long answer pauses after a sentence, and while it is silent
// one hears that there is more. The rest is spoken when the user continues it.
//
//test:long
func TestALongAnswerPausesLive(t *testing.T) {
	tk, said := timedByOutput(t, func(s *protocol.Settings) { s.Speech.MoreAfter = time.Second })
	tk.agent.become(says("This is the first sentence of a long answer. " +
		"And this is the second one, which has so many words that it takes more than eight seconds to speak it to its end, however fast the voice is."))
	tk.sendText("tell me something")
	tk.answered()
	tk.reach("the answer pauses", func(s csm.State) bool { return s.VoicePaused })
	tk.executed()
	said.more(tk, "one hears that there is more")
	if now := tk.d.Snapshot(); now.State != protocol.StateSpeaking || !now.Paused.Voice {
		t.Errorf("the snapshot says %s, paused %+v", now.State, now.Paused)
	}
	tk.d.Post(csm.UserPlayback{})
	tk.want(protocol.StateListening)
	if end := tk.ended(); end.Outcome != protocol.OutcomeAnswered {
		t.Errorf("the turn ended as %s", end.Outcome)
	}
	if texts := tk.shown(); len(texts) != 1 || texts[0] != "There is more. Say continue." {
		t.Errorf("shown %q", texts)
	}
}

// TestANarrationIsHeardLive: what a silent assistant does is heard, and then its answer.
//
//test:long
func TestANarrationIsHeardLive(t *testing.T) {
	// The speaker keeps its pace while a busy machine prepares the narration and the answer.
	tk, said := timedByOutput(t, func(s *protocol.Settings) { s.Copilot.Timeout, s.Copilot.Stall = time.Hour, time.Hour })
	heard := make(chan struct{})
	tk.agent.become(func(ctx context.Context, q copilot.Request, emit func(string)) error {
		emit("")
		q.Doing(copilot.Activity{ID: "1", Kind: copilot.Reading, Files: []string{"a.go"}})
		select {
		case <-heard:
		case <-ctx.Done():
			return ctx.Err()
		}
		emit("It is the parser.")
		return nil
	})
	tk.sendText("what is wrong")
	said.more(tk, "the narration is heard")
	close(heard)
	tk.answered()
	tk.want(protocol.StateListening)
	if texts := tk.shown(); len(texts) != 1 || texts[0] != "Reading one file." {
		t.Errorf("shown %q", texts)
	}
}
