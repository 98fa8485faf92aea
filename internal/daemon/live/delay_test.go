//go:build cgo

package live

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// selectable is a device slot with named devices of different latencies.
type selectable struct {
	moved chan struct{}

	mu       sync.Mutex
	id       string
	opened   string
	measured time.Duration // 0 while the device measures nothing
	latency  map[string]time.Duration
}

func newSelectable(latency map[string]time.Duration) *selectable {
	return &selectable{moved: make(chan struct{}, 1), id: "built-in", latency: latency}
}

func (s *selectable) Open(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened, s.measured = s.id, 0
	return nil
}

func (s *selectable) Select(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == s.id {
		return
	}
	s.id = id
	s.moved <- struct{}{}
}

func (s *selectable) measure(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.measured = d
}

func (s *selectable) Timing() audio.Timing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return audio.Timing{Reported: s.latency[s.opened], Measured: s.measured}
}

// run runs a device until another one is selected.
func (s *selectable) run(ctx context.Context, device func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var watch sync.WaitGroup
	ended := make(chan struct{})
	watch.Go(func() {
		select {
		case <-s.moved:
			stop(audio.ErrReselected)
		case <-ended:
		}
	})
	err := device(ctx)
	close(ended)
	watch.Wait()
	if context.Cause(ctx) == audio.ErrReselected {
		return audio.ErrReselected
	}
	return err
}

type selectableMouth struct {
	mouth
	*selectable
}

func (m *selectableMouth) Open(ctx context.Context) error { return m.selectable.Open(ctx) }
func (m *selectableMouth) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	return m.run(ctx, func(ctx context.Context) error { return m.mouth.Run(ctx, deliver) })
}

type selectableSpeaker struct {
	loudspeaker
	*selectable
}

func (m *selectableSpeaker) Open(ctx context.Context) error { return m.selectable.Open(ctx) }
func (m *selectableSpeaker) Run(ctx context.Context, render func(*audio.Frame)) error {
	return m.run(ctx, func(ctx context.Context) error { return m.loudspeaker.Run(ctx, render) })
}

func (m *selectableSpeaker) Latency() time.Duration {
	if t := m.Timing(); t.Measured > 0 {
		return t.Measured
	} else {
		return t.Reported
	}
}

// TestEchoDelayFollowsTheDevices: the delays that the devices report during a
// conversation reach the echo canceller, over the production path.
func TestEchoDelayFollowsTheDevices(t *testing.T) {
	const ms = time.Millisecond
	in := &selectableMouth{selectable: newSelectable(map[string]time.Duration{"built-in": 10 * ms, "headset": 70 * ms})}
	out := &selectableSpeaker{loudspeaker{}, newSelectable(map[string]time.Duration{"built-in": 20 * ms, "headset": 130 * ms})}
	tk := newTalkOver(t, nil, Config{
		Source:     func(protocol.Settings) (audio.Source, error) { return in, nil },
		Sink:       func(protocol.Settings) (audio.Sink, error) { return out, nil },
		Names:      func(s protocol.Settings) (string, string) { return s.Audio.InputDevice, s.Audio.OutputDevice },
		Processing: func(protocol.Settings) dsp.Config { return dsp.Default() },
		Speed:      speed,
	})
	reports := func(what string, want time.Duration) {
		t.Helper()
		limit := time.After(patience)
		for {
			got := tk.w.devices.ear.Load().front.Stats().Reported
			if got == want {
				return
			}
			select {
			case <-tk.news: // levels arrive twenty times a second
			case <-limit:
				t.Fatalf("%s: the canceller is told %v, want %v", what, got, want)
			}
		}
	}
	use := func(input, output string) {
		set := protocol.DefaultSettings()
		set.Audio.InputDevice, set.Audio.OutputDevice = input, output
		tk.w.Configure(set)
	}
	use("built-in", "built-in")
	reports("the devices of the start", 30*ms)
	use("headset", "built-in")
	reports("another microphone", 90*ms)
	use("headset", "headset")
	reports("another loudspeaker", 200*ms)
	out.measure(250 * ms)
	reports("a loudspeaker that changed its profile", 320*ms)
	in.measure(190 * ms)
	reports("a microphone that changed its profile", 440*ms)
	use("built-in", "built-in")
	reports("the devices of the start again", 30*ms)
}
