//go:build cgo

package live

import (
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// nobody is a detector that never detects a voice.
type nobody struct{ fakeDetector }

func (n *nobody) Process([]int16) (float32, error) { return 0, nil }

// TestTheUserIsToldThatTheAssistantHearsItself: the user is told once per conversation,
// and aloud when the answer is over. What the core retracts reaches the ear of a world
// whose microphone picks up its speaker.
func TestTheUserIsToldThatTheAssistantHearsItself(t *testing.T) {
	var shown, said []protocol.ErrorCode
	w := &World{cfg: Config{Log: zerolog.Nop(), Detector: func() (vad.Detector, error) { return &nobody{}, nil }}, port: daemon.Port{
		Warn:   func(code protocol.ErrorCode, _ string) { shown = append(shown, code) },
		Spoken: func(code protocol.ErrorCode) string { said = append(said, code); return "" },
		Post:   func(csm.Event) {}, Output: func(daemon.Output) {},
	}}
	w.voice = newVoice(w)
	w.aside = newAside(w, w.voice.player.Render)
	w.cues = newCues(w.aside.render, func() {})
	w.grace = newGrace(w)
	w.link = newLink(w)
	w.devices = newDevices(w)
	e, err := newEar(w, protocol.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	e.front.Attach(nil, wavio.Null{})
	w.devices.ear.Store(e)
	defer func() {
		w.devices.q.Close(w.devices.release)
		w.link.shut()
		w.cues.shut()
		if err := w.voice.shut(); err != nil {
			t.Error(err)
		}
	}()
	if !e.ready(t.Context()) {
		t.Fatal("the detectors are not loaded")
	}
	pos := int64(0)
	play := func(d time.Duration, amplitude int16) {
		var f audio.Frame
		for i := range f {
			f[i] = amplitude * int16(1-i/10%2*2)
		}
		for range d / audio.FrameTime {
			echo := f
			e.front.Rendered(&f)
			e.hear(pos, &echo)
			pos += audio.FrameSamples
		}
	}
	answered := csm.PublishState{To: csm.PhaseListening, Cause: csm.CauseTTSComplete}
	w.Execute(answered)
	for range 4 {
		play(time.Second, 3000)
		w.Execute(csm.PublishState{To: csm.PhaseSpeaking, Cause: csm.CauseInterruptRetract})
	}
	play(time.Second, 3000)
	for range 2 {
		w.Execute(answered)
	}
	if want := []protocol.ErrorCode{protocol.CodeHearsItself}; !slices.Equal(shown, want) || !slices.Equal(said, want) {
		t.Errorf("the user is told %q, and %q aloud", shown, said)
	}
}
