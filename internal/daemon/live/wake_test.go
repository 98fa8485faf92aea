//go:build cgo

package live

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// room is a microphone that counts its users. Frames come as from a mouth.
type room struct {
	mouth
	open   atomic.Int32
	opened chan struct{} // receives each time it begins to deliver, when the waker has published it
}

func newRoom() *room { return &room{opened: make(chan struct{}, 100)} }

func (r *room) Open(ctx context.Context) error {
	if r.open.Add(1) != 1 {
		panic("the microphone is opened twice")
	}
	return ctx.Err()
}

func (r *room) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	r.opened <- struct{}{}
	return r.mouth.Run(ctx, deliver)
}

func (r *room) Close() error {
	r.open.Store(0)
	return nil
}

// over is a world's devices with r as the microphone.
func over(r *room) Config {
	return Config{
		Source: func(protocol.Settings) (audio.Source, error) { return r, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed,
	}
}

func soon[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: it does not come", what)
		panic("not reached")
	}
}

// sayText makes a synthetic voice say a text.
func (m *mouth) sayText(t *testing.T, text string) {
	t.Helper()
	s, err := voice.Flite()()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var pcm []int16
	var r *audio.Resampler
	err = s.Speak(t.Context(), "slt", text, func(p []int16, rate int) (err error) {
		if r == nil {
			r, err = audio.NewResampler(rate, audio.SampleRate)
		}
		pcm = r.Process(pcm, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pcm = append(append(m.pcm, make([]int16, audio.SampleRate/2)...), pcm...)
}

func wakes(s *protocol.Settings) { s.Wake.Enabled = true }

func realSpotter(phrase string, _ bool, heard func(wake.Heard)) (Spotter, error) {
	dir, err := assets.PocketSphinx()
	if err != nil {
		return nil, err
	}
	return wake.New(wake.Config{Phrase: phrase, Heard: heard, ModelDir: dir})
}

// TestWakePhraseBeginsAConversation: the phrase, said by a synthetic voice, has the
// effect of the user's start; other speech has not. It is not listened for during the
// conversation, but again after it.
//
//test:long
func TestWakePhraseBeginsAConversation(t *testing.T) {
	r := newRoom()
	cfg := over(r)
	cfg.Spotter = realSpotter
	tk := idleTalk(t, wakes, cfg)
	soon(t, r.opened, "the microphone while idle")
	r.say(t, sentence)
	r.wait(t)
	if p := tk.d.State().Phase(); p != csm.PhaseIdle {
		t.Fatalf("other words began a conversation: %v", p)
	}
	r.sayText(t, "okay copilot")
	tk.want(protocol.StatePreparing, protocol.StateListening)
	if len(r.opened) != 0 {
		t.Error("the microphone was opened again for the conversation")
	}
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	soon(t, r.opened, "the microphone after the conversation")
	r.sayText(t, "okay copilot")
	tk.want(protocol.StatePreparing, protocol.StateListening)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.words) != 0 || len(tk.agent.requests()) != 0 {
		t.Errorf("words were taken while idle: %v, %v", tk.words, tk.agent.requests())
	}
}

// countingSpotter is a fake that counts its input and detects the phrase on demand.
type countingSpotter struct {
	frames atomic.Int64
	err    error
	tell   func(wake.Heard)
	said   atomic.Pointer[wake.Heard] // reported once the frame at its Pos was pushed
	pos    atomic.Int64               // of the last frame
	closed chan struct{}
}

func (s *countingSpotter) Push(pos int64, _ *audio.Frame) bool {
	s.frames.Add(1)
	s.pos.Store(pos)
	if h := s.said.Load(); h != nil && pos >= h.Pos && s.said.CompareAndSwap(h, nil) {
		s.tell(*h)
	}
	return true
}

// heard reports that a phrase was said just now.
func (s *countingSpotter) heard() {
	pos := s.pos.Load()
	s.tell(wake.Heard{Sure: true, Pos: pos, To: pos})
}

func (s *countingSpotter) Stats() wake.Stats { return wake.Stats{Err: s.err} }
func (s *countingSpotter) Close() error      { close(s.closed); return nil }

// spotters creates fakes and sends them to made.
func spotters(made chan *countingSpotter) func(string, bool, func(wake.Heard)) (Spotter, error) {
	return func(_ string, _ bool, heard func(wake.Heard)) (Spotter, error) {
		s := &countingSpotter{tell: heard, closed: make(chan struct{})}
		made <- s
		return s, nil
	}
}

// TestWakePhraseIsOptional: by default the microphone stays closed, and switching the
// phrase on and off takes effect at once.
func TestWakePhraseIsOptional(t *testing.T) {
	r, made := newRoom(), make(chan *countingSpotter, 10)
	cfg := over(r)
	cfg.Spotter = spotters(made)
	tk := idleTalk(t, nil, cfg)
	settled := func() { // waits until the queue has run all earlier jobs
		t.Helper()
		done := make(chan struct{})
		tk.w.devices.q.Do(func() { close(done) })
		soon(t, done, "the devices' queue")
	}
	settled()
	if r.open.Load() != 0 || len(made) != 0 {
		t.Fatal("the microphone is open and nobody asked for it")
	}
	set := tk.d.Settings()
	set.Wake.Enabled = true
	tk.d.Configure(set)
	s := soon(t, made, "the spotter")
	soon(t, r.opened, "the microphone")
	set.Wake.Enabled = false
	tk.d.Configure(set)
	soon(t, s.closed, "the end of the spotter")
	settled()
	if r.open.Load() != 0 {
		t.Error("the microphone is still open")
	}
	s.heard() // late: left over in its queue
	settled()
	if p := tk.d.State().Phase(); p != csm.PhaseIdle {
		t.Errorf("a phrase that is not listened for began a conversation: %v", p)
	}
}

// leaseFolder gives the test its own lease of the microphone.
func leaseFolder(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "av") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
}

// TestWakePhraseRespectsTheLease: the phrase is not listened for while another window
// has the microphone, and a conversation in another window takes it without asking.
func TestWakePhraseRespectsTheLease(t *testing.T) {
	leaseFolder(t)
	other, err := miclock.Acquire(t.Context(), miclock.Holder{Name: "another window"})
	if err != nil {
		t.Fatal(err)
	}
	here, made := newRoom(), make(chan *countingSpotter, 10)
	cfg := over(here)
	cfg.Spotter, cfg.Holder = spotters(made), "this window"
	cfg.Source = func(protocol.Settings) (audio.Source, error) {
		l, err := miclock.Acquire(context.Background(), miclock.Holder{Name: "a third window"})
		if err == nil {
			l.Release()
		}
		if err == nil || !strings.Contains(err.Error(), `"this window (waits for its wake phrase)"`) {
			t.Errorf("the microphone is opened, and its holder is not this window: %v", err)
		}
		return here, nil
	}
	idleTalk(t, wakes, cfg)
	soon(t, made, "the spotter")
	other.Release()
	soon(t, here.opened, "the microphone, once it is free")

	there := newRoom()
	cfg = over(there)
	cfg.Holder = "that window"
	tk := newTalkOver(t, nil, cfg)
	if here.open.Load() != 0 {
		t.Error("two windows have the microphone")
	}
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	soon(t, here.opened, "the microphone after that conversation")
}

// slowRoom is a microphone that another window takes while it is being opened.
type slowRoom struct {
	*room
	taken chan *miclock.Lease
}

func (r *slowRoom) Open(ctx context.Context) error {
	go func() {
		l, _ := miclock.TakeOver(context.Background(), miclock.Holder{Name: "another window"})
		r.taken <- l
	}()
	<-ctx.Done()
	return ctx.Err()
}

// A microphone that another window takes while it is being opened is held by that window, and
// not broken.
func TestTakenWhileItIsOpened(t *testing.T) {
	leaseFolder(t)
	r := &slowRoom{newRoom(), make(chan *miclock.Lease)}
	w := &World{cfg: Config{
		Speed: 1, Holder: "this window",
		Source: func(protocol.Settings) (audio.Source, error) { return r, nil },
	}}
	w.devices = &devices{w: w}
	err := newWaker(w).hear(t.Context(), protocol.DefaultSettings())
	var held *miclock.HeldError
	if !errors.As(err, &held) {
		t.Errorf("the microphone: %v, want that another window holds it", err)
	}
	soon(t, r.taken, "the lease of the other window").Release()
}

// TestWakePhraseThatCannotBeUsed: the user is told which word is the problem, or what
// is missing.
func TestWakePhraseThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		phrase, models, says string // models is the installed ones if empty
		code                 protocol.ErrorCode
	}{
		{"okay qwxzt", "", "qwxzt", protocol.CodeInvalidParams},
		{"okay copilot", "/nowhere", "pocketsphinx-en-us", protocol.CodeEngineMissing},
	} {
		r := newRoom()
		cfg := over(r)
		cfg.Spotter = realSpotter
		if c.models != "" {
			cfg.Spotter = func(phrase string, _ bool, heard func(wake.Heard)) (Spotter, error) {
				return wake.New(wake.Config{Phrase: phrase, ModelDir: c.models})
			}
		}
		tk := idleTalk(t, func(s *protocol.Settings) { wakes(s); s.Wake.Phrase = c.phrase }, cfg)
		for deadline := time.After(patience); ; {
			tk.mu.Lock()
			notes := append([]protocol.NotificationParams(nil), tk.notes...)
			tk.mu.Unlock()
			if len(notes) > 0 {
				if n := notes[0]; n.Code != c.code || n.Severity != protocol.SeverityWarning || !strings.Contains(n.Message, c.says) {
					t.Errorf("the user is told %+v", n)
				}
				break
			}
			select {
			case <-tk.news:
			case <-deadline:
				t.Fatal("the user is told nothing")
			}
		}
		if r.open.Load() != 0 {
			t.Error("the microphone is open for nothing")
		}
	}
}
