//go:build cgo

package live

import (
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// loudness is a detector that takes all loud sound for a voice.
type loudness struct{}

func (loudness) Process(window []int16) (float32, error) {
	if slices.Max(window) > 1000 {
		return 0.95, nil
	}
	return 0.01, nil
}
func (loudness) Reset()       {}
func (loudness) Close() error { return nil }

// listening is a world with an ear and a live call of a provider. The core's events go to a channel.
func listening(t *testing.T, of protocol.Provider) (*World, *ear, <-chan csm.Event) {
	t.Helper()
	events := make(chan csm.Event, 100)
	set := protocol.DefaultSettings()
	set.Provider = of
	w := New(Config{Detector: func() (vad.Detector, error) { return loudness{}, nil }, Log: zerolog.Nop()})(daemon.Port{
		Post: func(e csm.Event) { events <- e }, NewUtterance: ids(), Output: func(daemon.Output) {},
		Settings: func() protocol.Settings { return set }, Language: func() string { return "en" },
		Expected: func() [][]string { return nil },
		Warn:     func(protocol.ErrorCode, string) {},
	}).(*World)
	e, err := newEar(w, set)
	if err != nil {
		t.Fatal(err)
	}
	if !e.ready(t.Context()) || !e.finds() {
		t.Fatal("the ear has no detector")
	}
	e.front.Attach(&mouth{}, loudspeaker{})
	w.devices.ear.Store(e)
	c := &call{link: w.link, client: &noting{}, gate: &gate{}}
	c.hearer = newHearer(w, c, set)
	w.link.live.Store(c)
	t.Cleanup(func() {
		w.link.live.Store(nil)
		w.devices.ear.Store(nil)
		if err := e.close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, e, events
}

// next waits for an event.
func nextEvent(t *testing.T, events <-chan csm.Event) csm.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(patience):
		t.Fatal("the core gets nothing")
		return nil
	}
}

// A microphone that is reopened while the user speaks ends the utterance: the tracker starts again, and no
// other mark would.
func TestAReopenedMicrophoneEndsTheUtterance(t *testing.T) {
	_, e, events := listening(t, protocol.ProviderLocal)
	pos := int64(0)
	hear := func(d time.Duration, amplitude int16) {
		for range d / audio.FrameTime {
			var f audio.Frame
			for i := range f {
				f[i] = amplitude * int16(1-i/24%2*2) // 1 kHz
			}
			e.hear(pos, &f)
			pos += audio.FrameSamples
		}
	}
	hear(2*time.Second, 0)
	hear(time.Second, 8000)
	if started, ok := nextEvent(t, events).(csm.SpeechStarted); !ok || started.Utterance != 1 {
		t.Fatalf("%+v begins", started)
	}
	e.reopened()
	hear(audio.FrameTime, 0)
	if paused, ok := nextEvent(t, events).(csm.SpeechPaused); !ok || paused.Utterance != 1 {
		t.Errorf("%+v pauses", paused)
	}
	if stopped, ok := nextEvent(t, events).(csm.SpeechStopped); !ok || stopped.Utterance != 1 {
		t.Errorf("%+v stops", stopped)
	}
	e.reopened()
	hear(time.Second, 0)
	if len(events) > 0 {
		t.Errorf("in silence, %+v", <-events)
	}
}

// If the detector cannot be used, a service that was told not to look for voices is told otherwise.
func TestAServiceHearsWithoutADetector(t *testing.T) {
	for of, want := range map[protocol.Provider]bool{protocol.ProviderOpenAI: true, protocol.ProviderLocal: false} {
		w, _, events := listening(t, of)
		w.link.detects(true)
		w.link.detects(false)
		done := make(chan struct{})
		w.link.q.Do(func() { close(done) })
		<-done
		if lost := len(events) > 0; lost != want {
			t.Errorf("%s: the call is replaced: %v", of, lost)
		} else if lost {
			if e, ok := (<-events).(csm.ConnLost); !ok {
				t.Errorf("%s: %+v", of, e)
			}
		}
		if j := newJudge(w, w.port.Settings()); (j == nil) != want {
			t.Errorf("%s: the next call has the judge %+v", of, j)
		}
	}
}
