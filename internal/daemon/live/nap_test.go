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
	cfg.Source = func(protocol.Settings) (audio.Source, error) { return source, nil }
	cfg.Sink = func(protocol.Settings) (audio.Sink, error) { return sink, nil }
	cfg.Log = zerolog.Nop()
	w := New(cfg)(daemon.Port{
		Settings: protocol.DefaultSettings, Post: func(csm.Event) {}, Notify: func(string, any) {},
		Fail:  func(e csm.Event, reason string) { t.Errorf("%v: %s", e, reason) },
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
