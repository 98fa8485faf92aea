//go:build cgo

package live

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
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

// TestBothDevicesLost, as when a sound server dies: the user is told once, and the
// conversation continues only when both are back.
func TestBothDevicesLost(t *testing.T) {
	in, out := &pluggableMouth{pluggable: newPluggable()}, &pluggableEar{loudspeaker{}, newPluggable()}
	tk := newTalkOver(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return in, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return out, nil },
		Speed:  speed,
	})
	<-in.tried
	<-out.tried
	in.there, out.there = make(chan struct{}), make(chan struct{})
	in.pulled <- struct{}{}
	tk.want(protocol.StateSuspended)
	out.pulled <- struct{}{}
	soon(t, in.tried, "the loss of the microphone")
	soon(t, out.tried, "the loss of the loudspeaker")
	if n := tk.lost(); n != 2 {
		t.Fatalf("%d devices are lost, want 2", n)
	}
	close(in.there)
	for tk.lost() > 1 {
		soon(t, tk.news, "one device") // levels arrive as soon as it delivers frames
	}
	if p := tk.d.State().Phase(); p != csm.PhaseSuspended {
		t.Errorf("with one device the conversation is in %v", p)
	}
	close(out.there)
	tk.want(protocol.StateListening)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.errors) != 1 || tk.errors[0].Code != protocol.CodeDeviceLost || tk.errors[0].Remediation == "" {
		t.Errorf("the user is told %+v", tk.errors)
	}
}

// lost returns how many devices are lost.
func (tk *talk) lost() int {
	d := tk.w.devices
	d.gone.Lock()
	defer d.gone.Unlock()
	return d.gone.n
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
