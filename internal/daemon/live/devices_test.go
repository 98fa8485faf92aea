//go:build cgo

package live

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// pluggable is a device slot: a fake that a test can unplug.
type pluggable struct {
	pulled chan struct{} // capacity 1; the running device was unplugged
	there  chan struct{} // closed while it can be opened
	tried  chan struct{} // capacity 1; receives on each attempt to open it
}

func newPluggable() *pluggable {
	p := &pluggable{pulled: make(chan struct{}, 1), there: make(chan struct{}), tried: make(chan struct{}, 100)}
	close(p.there)
	return p
}

func (p *pluggable) open(ctx context.Context) error {
	p.tried <- struct{}{}
	select {
	case <-p.there:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs a device until it is unplugged.
func (p *pluggable) run(ctx context.Context, device func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	gone := &audio.DeviceError{Code: "deviceLost", Device: "headset", Err: errors.New("it gives no sound"), Remedy: "plug it in"}
	ended := make(chan struct{})
	go func() {
		select {
		case <-p.pulled:
			stop(gone)
		case <-ended:
		}
	}()
	err := device(ctx)
	close(ended)
	if context.Cause(ctx) == gone {
		return gone
	}
	return err
}

type pluggableMouth struct {
	mouth
	*pluggable
}

func (m *pluggableMouth) Open(ctx context.Context) error { return m.open(ctx) }
func (m *pluggableMouth) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	return m.run(ctx, func(ctx context.Context) error { return m.mouth.Run(ctx, deliver) })
}

type pluggableEar struct {
	loudspeaker
	*pluggable
}

func (m *pluggableEar) Open(ctx context.Context) error { return m.open(ctx) }
func (m *pluggableEar) Run(ctx context.Context, render func(*audio.Frame)) error {
	return m.run(ctx, func(ctx context.Context) error { return m.loudspeaker.Run(ctx, render) })
}

// plugged is a conversation on two devices that can be unplugged.
func plugged(t *testing.T) (*talk, *pluggableMouth, *pluggableEar) {
	t.Helper()
	in, out := &pluggableMouth{pluggable: newPluggable()}, &pluggableEar{loudspeaker{}, newPluggable()}
	tk := newTalkOver(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return in, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return out, nil },
		Speed:  speed,
	})
	tk.mouth = &in.mouth
	<-in.tried
	<-out.tried
	return tk, in, out
}

// pull unplugs a device until the returned function is called.
func (p *pluggable) pull() (plug func()) {
	there := make(chan struct{})
	p.there = there
	p.pulled <- struct{}{}
	return func() { close(there) }
}

// lacks waits until exactly these devices are lost.
func (tk *talk) lacks(devices csm.SuspendReason) {
	tk.t.Helper()
	tk.reach("the loss of devices", func(st csm.State) bool { return st.Hold == devices })
}

// TestBothDevicesLost: a sound server dies. The user is told of each device, hears and
// is heard again as soon as the device for it is back.
func TestBothDevicesLost(t *testing.T) {
	tk, in, out := plugged(t)
	plugIn := in.pull()
	tk.want(protocol.StateSuspended)
	plugOut := out.pull()
	soon(t, in.tried, "the loss of the microphone")
	soon(t, out.tried, "the loss of the loudspeaker")
	tk.lacks(csm.SuspendMicrophone | csm.SuspendSpeaker)
	plugIn()
	tk.want(protocol.StateListening)
	tk.lacks(csm.SuspendSpeaker)
	plugOut()
	tk.lacks(0)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.errors) != 2 || !strings.HasPrefix(tk.errors[0].Message, "The microphone was disconnected.") ||
		!strings.HasPrefix(tk.errors[1].Message, "The audio device was disconnected.") || tk.errors[1].Code != protocol.CodeDeviceLost || tk.errors[1].Remediation == "" {
		t.Errorf("the user is told %+v", tk.errors)
	}
}

// REQ-008, when only the speaker is lost: what the user says reaches the assistant once,
// and the answer is spoken when the speaker is back.
func TestREQ008SpeakerLostWhileTheUserSpeaks(t *testing.T) {
	tk, _, out := plugged(t)
	tk.mouth.say(t, sentence)
	tk.reach("an onset", func(st csm.State) bool { return turn.Speaking(st.Turn) })
	plug := out.pull()
	tk.lacks(csm.SuspendSpeaker)
	tk.want(protocol.StateProcessing, protocol.StateWaitingForCopilot, protocol.StateProcessing)
	tk.reach("the whole answer", func(st csm.State) bool { line, open := speech.LineOf(st.Speech); return open && line.Ended })
	if words, st := tk.lastUserWords(), tk.d.State(); words == "" || st.Conv.Phase() != csm.PhaseGeneratingResponse {
		t.Errorf("without a speaker %q was heard, in %v", words, st.Conv.Phase())
	}
	plug()
	tk.want(protocol.StateSpeaking, protocol.StateListening)
	if end := tk.ended(); end.Outcome != protocol.TurnOutcome(csm.Answered) {
		t.Errorf("the turn ended as %+v", end)
	}
	tk.agent.mu.Lock()
	defer tk.agent.mu.Unlock()
	if n := len(tk.agent.sent); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	for _, mic := range tk.mics {
		if !mic.Open && mic.Seq > 1 {
			t.Errorf("the microphone was closed: %+v", mic)
		}
	}
}

// REQ-008, when only the microphone is lost: the answer is spoken to its end, and the
// microphone is shown as closed.
func TestREQ008MicrophoneLostInAnAnswer(t *testing.T) {
	tk, in, _ := plugged(t)
	tk.sendText("hello")
	tk.answered()
	plug := in.pull()
	tk.lacks(csm.SuspendMicrophone)
	tk.mu.Lock()
	if mic := tk.mics[len(tk.mics)-1]; mic.Open {
		t.Errorf("the microphone is lost, and shown as %+v", mic)
	}
	tk.mu.Unlock()
	tk.want(protocol.StateSuspended) // when it was heard
	if end := tk.ended(); end.Outcome != protocol.TurnOutcome(csm.Answered) {
		t.Errorf("the turn ended as %+v", end)
	}
	plug()
	tk.want(protocol.StateListening)
}

// TestNoAsideWaitsForASpeaker: the microphone is muted while an aside plays, so one that a lost
// speaker cuts off, or that arrives without a speaker, is dropped, and the user is heard.
func TestNoAsideWaitsForASpeaker(t *testing.T) {
	tk, _, out := plugged(t)
	sounds := func() bool { return tk.w.aside.sounding() }
	tk.w.Say("A dialog in the editor waits for you, which you have to answer before anything goes on.")
	tk.eventually("it is heard", sounds)
	plug := out.pull()
	tk.lacks(csm.SuspendSpeaker)
	tk.eventually("the microphone is open", func() bool { return !sounds() })
	seg := audio.SegmentID{Gen: tk.w.aside.gen, Seq: tk.w.aside.last}
	tk.w.aside.audio(seg, make([]int16, audio.SampleRate))
	tk.w.aside.ended(seg) // it was on its way
	if tk.w.Say("And another."); sounds() {
		t.Error("the microphone is muted for what cannot be heard")
	}
	tk.mouth.say(t, sentence)
	tk.want(protocol.StateProcessing)
	plug()
	tk.lacks(0)
}

// TestTheWindowWhoseMicrophoneIsTakenSaysSo: the conversation ends, and the user of this
// window is told why and how to get the microphone back.
func TestTheWindowWhoseMicrophoneIsTakenSaysSo(t *testing.T) {
	dir, err := os.MkdirTemp("", "av") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	cfg := over(newRoom())
	cfg.Holder = "this window"
	tk := idleTalk(t, nil, cfg)
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	other, err := miclock.TakeOver(t.Context(), miclock.Holder{Name: "another window"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	tk.told("word of the other window", func() bool {
		return slices.ContainsFunc(tk.notes, func(n protocol.NotificationParams) bool {
			return n.Code == protocol.CodeMicrophoneTaken && n.Severity == protocol.SeverityWarning && n.Remediation != ""
		})
	})
}

// TestTakeOverIsOfOneStart: a start takes the microphone from another window if
// requested, and later starts do not.
func TestTakeOverIsOfOneStart(t *testing.T) {
	dir, err := os.MkdirTemp("", "av") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	hold := func() *miclock.Lease {
		l, err := miclock.Acquire(t.Context(), miclock.Holder{Name: "another window"})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			select {
			case <-l.Lost():
				l.Release()
			case <-t.Context().Done():
			}
		}()
		return l
	}
	other := hold()
	cfg := over(newRoom())
	cfg.Holder = "this window"
	tk := idleTalk(t, nil, cfg)
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StateFaulted, protocol.StateTerminating, protocol.StateIdle)
	tk.d.Post(csm.UserStart{TakeOver: true})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	soon(t, other.Lost(), "the loss of the lease")
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	other = hold()
	defer other.Release()
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StateFaulted, protocol.StateTerminating, protocol.StateIdle)
}
