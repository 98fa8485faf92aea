//go:build cgo

package live

import (
	"context"
	"testing"
	"time"

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

// TestALongAnswerPausesLive: a long answer pauses after a sentence, and while it is silent
// one hears that there is more. The rest is spoken when the user continues it.
//
//test:long
func TestALongAnswerPausesLive(t *testing.T) {
	tk := newTalk(t, func(s *protocol.Settings) { s.Speech.MoreAfter = time.Second })
	tk.agent.become(says("This is the first sentence of a long answer. " +
		"And this is the second one, which has so many words that it takes more than eight seconds to speak it to its end, however fast the voice is."))
	tk.sendText("tell me something")
	tk.answered()
	tk.eventually("one hears that there is more", tk.w.aside.sounding)
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
	tk := newTalk(t, nil)
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
	tk.eventually("the narration is heard", tk.w.aside.sounding)
	close(heard)
	tk.answered()
	tk.want(protocol.StateListening)
	if texts := tk.shown(); len(texts) != 1 || texts[0] != "Reading one file." {
		t.Errorf("shown %q", texts)
	}
}
