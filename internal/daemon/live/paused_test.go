//go:build cgo

package live

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestPausedVoiceIsSilentAndGoesOn: while the user has paused the voice, the speaker
// gets nothing more of it; after the user resumes, it gets all of the rest.
func TestPausedVoiceIsSilentAndGoesOn(t *testing.T) {
	tk := newTalk(t, nil)
	tk.agent.become(says("This is an answer that is long enough to be paused in the middle of its first sentence."))
	tk.sendText("tell me something")
	tk.answered()
	tk.d.Post(csm.UserPlayback{Pause: true})
	tk.await("where the player paused", func(e csm.Event) bool {
		_, cursor := e.(csm.SpeechCursor)
		return cursor && tk.d.State().VoicePaused
	})
	pass := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-t.Context().Done():
		}
	}
	pass(100 * time.Millisecond) // the awaited cursor may be an earlier one
	seg, at := tk.w.voice.player.Cursor()
	pass(300 * time.Millisecond)
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
