package live

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// nappingDevice is a microphone and a speaker that counts frames.
type nappingDevice struct {
	open, frames atomic.Int64
}

func (d *nappingDevice) Open(context.Context) error { d.open.Add(1); return nil }
func (d *nappingDevice) Close() error               { d.open.Store(0); return nil }
func (*nappingDevice) Latency() time.Duration       { return 0 }

func (d *nappingDevice) run(ctx context.Context, each func(pos int64)) error {
	if d.open.Load() != 1 {
		return errors.New("the device runs and is not open")
	}
	for pos := int64(0); ; pos += audio.FrameSamples {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(audio.FrameTime):
			d.frames.Add(1)
			each(pos)
		}
	}
}

type nappingSource struct{ nappingDevice }

func (d *nappingSource) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	return d.run(ctx, func(pos int64) { deliver(pos, &audio.Frame{}) })
}

type nappingSink struct{ nappingDevice }

func (d *nappingSink) Run(ctx context.Context, render func(*audio.Frame)) error {
	return d.run(ctx, func(int64) { render(&audio.Frame{}) })
}

// capturing returns a world whose devices run and that has no service.
func capturing(t *testing.T, cfg Config, source audio.Source, sink audio.Sink) *World {
	return capturingTo(cfg, source, sink, func(csm.Event) {}, func(e csm.Event, reason string) { t.Errorf("%v: %s", e, reason) })
}

// capturingTo is the same with receivers of its events and failures.
func capturingTo(cfg Config, source audio.Source, sink audio.Sink, post func(csm.Event), fail func(csm.Event, string)) *World {
	cfg.Source = func(protocol.Settings) (audio.Source, error) { return source, nil }
	cfg.Sink = func(protocol.Settings) (audio.Sink, error) { return sink, nil }
	cfg.Log = zerolog.Nop()
	w := New(cfg)(daemon.Port{
		Settings: protocol.DefaultSettings, Post: post, Notify: func(string, any) {}, Fail: fail,
		Level: func(float64, float64) {}, Capturing: func(bool) {}, Output: func(daemon.Output) {},
	}).(*World)
	w.Execute(csm.OpenAudio{Instance: 1})
	w.Execute(csm.StartCapture{Instance: 1})
	return w
}

// TestSuspendedDevicesNap: two seconds into a suspension, no frames flow and nothing
// wakes the process. A tone wakes only the speaker; the microphone reopens when the
// conversation resumes.
func TestSuspendedDevicesNap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, sink := &nappingSource{}, &nappingSink{}
		w := capturing(t, Config{Naps: true}, source, sink)
		passed := func(d time.Duration) (heard, played int64) {
			h, p := source.frames.Load(), sink.frames.Load()
			time.Sleep(d)
			synctest.Wait()
			return source.frames.Load() - h, sink.frames.Load() - p
		}
		passed(time.Second)
		expect := func(when string, d time.Duration, wantHeard, wantPlayed bool) {
			t.Helper()
			heard, played := passed(d)
			all := int64(d / audio.FrameTime)
			if heard > 0 != wantHeard || played > 0 != wantPlayed || wantHeard && heard < all-2 || wantPlayed && played < all-2 {
				t.Errorf("%s: %d frames captured and %d rendered in %v", when, heard, played, d)
			}
		}
		expect("listening", time.Second, true, true)
		w.Execute(csm.HoldCapture{})
		expect("just suspended", time.Second, true, true)
		passed(2 * time.Second)
		expect("suspended", time.Hour, false, false)
		if source.open.Load() != 0 || sink.open.Load() != 0 {
			t.Errorf("open: %d microphones, %d loudspeakers", source.open.Load(), sink.open.Load())
		}
		w.devices.playNap.wake()
		expect("a tone", time.Second, false, true)
		passed(2 * time.Second)
		expect("after the tone", time.Hour, false, false)
		w.Execute(csm.ReleaseCapture{})
		expect("resumed", time.Second, true, true)
		w.Execute(csm.HoldCapture{})
		passed(time.Second)
		w.Execute(csm.ReleaseCapture{})
		expect("suspended for a moment", 10*time.Second, true, true)
		w.Execute(csm.HoldCapture{})
		passed(time.Minute)
		w.Execute(csm.CloseAudio{Instance: 1})
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// breakable is a microphone that can be unplugged.
type breakable struct {
	nappingSource
	pulled chan struct{}
	absent atomic.Bool
}

func (d *breakable) Open(ctx context.Context) error {
	if d.absent.Load() {
		return errors.New("unplugged")
	}
	return d.nappingSource.Open(ctx)
}

func (d *breakable) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	gone := errors.New("unplugged")
	go func() {
		select {
		case <-d.pulled:
			stop(gone)
		case <-ctx.Done():
		}
	}()
	if err := d.nappingSource.Run(ctx, deliver); context.Cause(ctx) != gone {
		return err
	}
	return gone
}

// TestLostMicrophoneReturnsFromANap: without the microphone, the speaker does not nap, as
// the answer is spoken; and a microphone that returns after the nap began is reported.
func TestLostMicrophoneReturnsFromANap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, sink := &breakable{pulled: make(chan struct{})}, &nappingSink{}
		events := make(chan csm.Event, 100)
		w := capturingTo(Config{Naps: true}, source, sink, func(e csm.Event) { events <- e }, func(e csm.Event, _ string) { events <- e })
		next := func(want csm.Event) {
			t.Helper()
			select {
			case got := <-events:
				if got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			case <-time.After(time.Hour):
				t.Errorf("nothing is reported, want %+v", want)
			}
		}
		next(csm.AudioPrimed{Instance: 1})
		next(csm.AudioReady{Instance: 1})
		time.Sleep(time.Second)
		w.Held(csm.SuspendMicrophone)
		w.Execute(csm.HoldCapture{})
		time.Sleep(time.Hour)
		synctest.Wait()
		if sink.open.Load() != 1 || source.open.Load() != 0 {
			t.Errorf("open: %d microphones, %d loudspeakers", source.open.Load(), sink.open.Load())
		}
		w.Held(csm.SuspendUser | csm.SuspendMicrophone)
		time.Sleep(time.Hour)
		synctest.Wait()
		if sink.open.Load() != 0 {
			t.Error("the speaker does not nap although nothing is spoken")
		}
		w.Held(0)
		w.Execute(csm.ReleaseCapture{})
		time.Sleep(time.Second)
		source.absent.Store(true)
		source.pulled <- struct{}{}
		w.Held(csm.SuspendMicrophone)
		w.Execute(csm.HoldCapture{})
		next(csm.AudioLost{Instance: 1, Device: csm.Microphone})
		time.Sleep(time.Minute)
		source.absent.Store(false)
		next(csm.AudioRestored{Instance: 1, Device: csm.Microphone})
		w.Execute(csm.CloseAudio{Instance: 1})
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// missing is a speaker that cannot be opened while it is absent.
type missing struct {
	nappingSink
	absent atomic.Bool
}

func (d *missing) Open(ctx context.Context) error {
	if d.absent.Load() {
		return errors.New("unplugged")
	}
	return d.nappingSink.Open(ctx)
}

// TestDevicesUnpluggedInANap are reported as lost when the conversation resumes, and as restored when
// they are back.
func TestDevicesUnpluggedInANap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, sink := &breakable{pulled: make(chan struct{})}, &missing{}
		events := make(chan csm.Event, 100)
		w := capturingTo(Config{Naps: true}, source, sink, func(e csm.Event) { events <- e }, func(e csm.Event, _ string) { events <- e })
		time.Sleep(time.Second)
		w.Held(csm.SuspendUser)
		w.Execute(csm.HoldCapture{})
		time.Sleep(time.Minute)
		source.absent.Store(true)
		sink.absent.Store(true)
		w.Held(0)
		w.Execute(csm.ReleaseCapture{})
		time.Sleep(time.Second)
		synctest.Wait()
		got := map[csm.Event]int{}
		drain := func() {
			for len(events) > 0 {
				got[<-events]++
			}
		}
		if drain(); got[csm.AudioLost{Instance: 1, Device: csm.Microphone}] != 1 || got[csm.AudioLost{Instance: 1, Device: csm.Speaker}] != 1 {
			t.Errorf("reported: %v", got)
		}
		source.absent.Store(false)
		sink.absent.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if drain(); got[csm.AudioRestored{Instance: 1, Device: csm.Microphone}] != 1 || got[csm.AudioRestored{Instance: 1, Device: csm.Speaker}] != 1 {
			t.Errorf("reported: %v", got)
		}
		w.Execute(csm.CloseAudio{Instance: 1})
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}
