//go:build cgo

package live

import (
	"context"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// microphone waits until the snapshot's microphone matches.
func (tk *talk) microphone(what string, holds func(protocol.Microphone) bool) {
	tk.t.Helper()
	for limit := time.After(patience); ; {
		if holds(tk.d.Snapshot().Microphone) {
			return
		}
		select {
		case <-tk.news:
		case <-limit:
			tk.t.Fatalf("%s: the microphone is %+v", what, tk.d.Snapshot().Microphone)
		}
	}
}

// settled waits until the devices' queue has run all earlier jobs.
func (tk *talk) settled() {
	tk.t.Helper()
	done := make(chan struct{})
	tk.w.devices.q.Do(func() { close(done) })
	soon(tk.t, done, "the devices' queue")
}

// While muted, the wake phrase is not listened for: the device is closed, the snapshot
// says so, and unmuting reopens it.
func TestMutedTheMicrophoneIsClosedForTheWakePhrase(t *testing.T) {
	r, made := newRoom(), make(chan *countingSpotter, 10)
	cfg := over(r)
	cfg.Spotter = spotters(made)
	tk := idleTalk(t, wakes, cfg)
	s := soon(t, made, "the spotter")
	waits := func(m protocol.Microphone) bool { return m.Open && m.Wake && !m.Muted && m.Phrase != "" }
	tk.microphone("listening for the phrase", waits)
	soon(t, r.opened, "the microphone")

	tk.d.Mute(protocol.MuteParams{Muted: true})
	tk.settled()
	if mic := tk.d.Snapshot().Microphone; mic.Open || mic.Wake || !mic.Muted || r.open.Load() != 0 {
		t.Errorf("muted: the snapshot says %+v, the device is open %d times", mic, r.open.Load())
	}
	s.heard() // late: left over in its queue
	tk.d.Configure(tk.d.Settings())
	tk.settled()
	if p := tk.d.State().Phase(); p != csm.PhaseIdle || r.open.Load() != 0 {
		t.Errorf("muted: the conversation is %v, the device is open %d times", p, r.open.Load())
	}

	tk.d.Mute(protocol.MuteParams{Muted: false})
	soon(t, r.opened, "the microphone, unmuted")
	tk.microphone("listening for the phrase again", waits)
}

// lateRoom is a microphone that opens but delivers frames only when allowed.
type lateRoom struct {
	*room
	asked chan struct{} // capacity 1; frames were requested
	may   chan struct{}
}

func (r lateRoom) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	r.asked <- struct{}{}
	select {
	case <-r.may:
	case <-ctx.Done():
		return ctx.Err()
	}
	return r.room.Run(ctx, deliver)
}

// An open device is not enough: the conversation listens, and the snapshot calls the
// microphone open, only after the first frame.
func TestREQ003ListeningWaitsForTheFirstFrame(t *testing.T) {
	r := lateRoom{newRoom(), make(chan struct{}, 1), make(chan struct{})}
	cfg := over(r.room)
	cfg.Source = func(protocol.Settings) (audio.Source, error) { return r, nil }
	tk := idleTalk(t, nil, cfg)
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing)
	audioReady := func(e csm.Event) bool {
		_, ready := e.(csm.AudioReady)
		return ready
	}
	tk.await("connection", func(e csm.Event) bool {
		if audioReady(e) {
			t.Error("the microphone is ready without a frame")
		}
		_, ready := e.(csm.ConnReady)
		return ready
	})
	soon(t, r.asked, "the request for frames") // earlier reports have arrived by now
	for len(tk.events) > 0 {
		if audioReady(<-tk.events) {
			t.Error("the microphone is ready without a frame")
		}
	}
	if now := tk.d.Snapshot(); now.State != protocol.StatePreparing || now.Microphone.Open {
		t.Errorf("without a frame the state is %s, the microphone %+v", now.State, now.Microphone)
	}
	close(r.may)
	tk.want(protocol.StateListening)
	if mic := tk.d.Snapshot().Microphone; !mic.Open {
		t.Errorf("listening: %+v", mic)
	}
}

// The snapshot says that the microphone is open while the device delivers frames: not
// before the first, and not after the last.
func TestTheSnapshotFollowsTheDevice(t *testing.T) {
	r := newRoom()
	cfg := over(r)
	tk := idleTalk(t, nil, cfg)
	if tk.d.Snapshot().Microphone.Open {
		t.Error("open, and there was no conversation yet")
	}
	tk.d.Mute(protocol.MuteParams{Muted: true, By: protocol.MutedByTyped})
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	if mic := tk.d.Snapshot().Microphone; !mic.Open || !mic.Muted || mic.MutedBy != protocol.MutedByTyped || mic.Wake {
		t.Errorf("in a conversation that began muted: %+v", mic)
	}
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	if mic := tk.d.Snapshot().Microphone; mic.Open || !mic.Muted {
		t.Errorf("after the conversation: %+v", mic)
	}
}

// While a notice outside of a turn plays, captured audio is not used, and the snapshot
// does not call the microphone open.
func TestTheSnapshotSaysThatANoticeSilencesTheMicrophone(t *testing.T) {
	tk := newTalk(t, nil)
	tk.microphone("before the notice", func(m protocol.Microphone) bool { return m.Open })
	tk.w.Say("Please look at the dialog.")
	tk.microphone("while it is heard", func(m protocol.Microphone) bool { return !m.Open })
	tk.microphone("after it", func(m protocol.Microphone) bool { return m.Open })
}
