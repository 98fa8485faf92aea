//go:build cgo

package live

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestPausedVoiceIsSilentAndGoesOn: while the user has paused the voice, the speaker
// gets nothing more of it; after the user resumes, it gets all of the rest.
func TestPausedVoiceIsSilentAndGoesOn(t *testing.T) {
	mouth, rendered := &mouth{}, &frameCounter{}
	cfg := devicesOf(mouth, nil)
	cfg.Tap = rendered
	tk := newTalkOver(t, nil, cfg)
	tk.agent.become(says("This is an answer that is long enough to be paused in the middle of its first sentence."))
	tk.sendText("tell me something")
	tk.answered()
	tk.d.Post(csm.UserPlayback{Pause: true})
	tk.reach("the voice is paused", func(s csm.State) bool { return s.VoicePaused })
	tk.executed()
	frames := func(n int64) {
		t.Helper()
		end := rendered.rendered.Load() + n
		tk.eventually("frame of the speaker", func() bool { return rendered.rendered.Load() >= end })
	}
	frames(10) // of its fade
	seg, at := tk.w.voice.player.Cursor()
	frames(60)
	if again, now := tk.w.voice.player.Cursor(); again != seg || now != at {
		t.Errorf("paused at sample %d of segment %v, and played on to %d of %v", at, seg, now, again)
	}
	if now := tk.d.Snapshot(); now.State != protocol.StateSpeaking || !now.Paused.Voice {
		t.Errorf("the snapshot says %s, paused %+v", now.State, now.Paused)
	}
	tk.d.Post(csm.UserPlayback{})
	tk.want(protocol.StateListening)
	if end := tk.ended(); end.Outcome != protocol.OutcomeAnswered {
		t.Errorf("the turn ended as %s", end.Outcome)
	}
}
