//go:build cgo

package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// gatedMouth is a microphone that records whether it ran while a gate was closed.
type gatedMouth struct {
	mouth
	open  *atomic.Bool
	early atomic.Bool
}

func (m *gatedMouth) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	if !m.open.Load() {
		m.early.Store(true)
	}
	return m.mouth.Run(ctx, deliver)
}

// recordedMouth is a recording that records the state of the conversation when it
// begins.
type recordedMouth struct {
	mouth
	phase func() csm.Phase
	began chan csm.Phase
}

func (*recordedMouth) Recorded() {}

func (m *recordedMouth) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	m.began <- m.phase()
	return m.mouth.Run(ctx, deliver)
}

// TestARecordingBeginsAtListening: what it says while the conversation is being
// prepared would be lost. The service answers late, when the microphone has long been
// ready.
func TestARecordingBeginsAtListening(t *testing.T) {
	gate := make(chan struct{})
	unlock := sync.OnceFunc(func() { close(gate) })
	in := &recordedMouth{began: make(chan csm.Phase, 1)}
	tk := idleTalk(t, nil, Config{
		Source:     func(protocol.Settings) (audio.Source, error) { return in, nil },
		Sink:       func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:      speed,
		Instrument: func(*realtime.Config) { <-gate },
	})
	t.Cleanup(unlock)
	in.phase = func() csm.Phase { return tk.d.State().Phase() }
	tk.d.Post(csm.UserStart{})
	limit := time.After(patience)
	for ready := false; !ready; {
		select {
		case e := <-tk.events:
			_, ready = e.(csm.AudioReady)
		case <-limit:
			t.Fatalf("the microphone is not ready; the core is in %v", tk.d.State().Phase())
		}
	}
	tk.eventually("microphone that captures", func() bool { return tk.d.State().Resources.Capturing })
	tk.want(protocol.StatePreparing)
	if now := tk.now(); now != protocol.StatePreparing { // REQ-003: "only when STT is ready to accept audio"
		t.Errorf("%v without recognition", now)
	}
	unlock()
	tk.want(protocol.StateListening)
	select {
	case p := <-in.began:
		if p != csm.PhaseListening {
			t.Errorf("the recording began in %v", p)
		}
	case <-time.After(patience):
		t.Error("the recording did not begin")
	}
}

// TestTheConnectionIsDialledWhileDetectorsLoad: a start opens the devices and dials
// without waiting for the detectors, and hears nothing before they are loaded.
func TestTheConnectionIsDialledWhileDetectorsLoad(t *testing.T) {
	gate := make(chan struct{})
	var open atomic.Bool
	unlock := sync.OnceFunc(func() { open.Store(true); close(gate) })
	in := &gatedMouth{open: &open}
	tk := idleTalk(t, nil, Config{
		Source:   func(protocol.Settings) (audio.Source, error) { return in, nil },
		Sink:     func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:    speed,
		Detector: func() (vad.Detector, error) { <-gate; return detector() },
	})
	t.Cleanup(unlock) // before the daemon is closed, which waits for loading detectors
	tk.d.Post(csm.UserStart{})
	limit := time.After(patience)
	for ready := false; !ready; {
		select {
		case e := <-tk.events:
			_, ready = e.(csm.ConnReady)
		case <-limit:
			t.Fatalf("no connection while the detectors load; the core is in %v", tk.d.State().Phase())
		}
	}
	unlock()
	tk.want(protocol.StatePreparing, protocol.StateListening)
	if in.early.Load() {
		t.Error("the microphone ran before the detectors were there")
	}
	if !tk.w.devices.ear.Load().finds() {
		t.Error("the conversation has no local detector")
	}
}

// TestEndingDoesNotWaitForWhatLoads: ending a conversation does not wait for engines
// and detectors that are loading; they are closed once they are loaded.
//
//test:realtime
func TestEndingDoesNotWaitForWhatLoads(t *testing.T) {
	gate := make(chan struct{})
	unlock := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(unlock)
	loading := make(chan struct{}, 64)
	hold := func() {
		loading <- struct{}{}
		<-gate
	}
	tk := idleTalk(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed,
		Engines: func(SpeechChoice) (localrealtime.Config, error) {
			cfg, err := engines(SpeechChoice{})
			cfg.Recognizer = func() (hearing.Recognizer, error) { hold(); return nil, errors.New("it came too late") }
			return cfg, err
		},
		Detector: func() (vad.Detector, error) { hold(); return detector() },
	})
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing)
	for range 2 { // the recogniser and the first detector
		select {
		case <-loading:
		case <-time.After(patience):
			t.Fatal("nothing loads")
		}
	}
	const soon = 700 * time.Millisecond // the daemon's share of two seconds in total
	begin := time.Now()
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	if took := time.Since(begin); took > soon {
		t.Errorf("the conversation ended after %v", took)
	}
	left.Lock()
	before := len(left.servers)
	left.Unlock()
	begin = time.Now()
	if err := tk.w.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if took := time.Since(begin); took > soon {
		t.Errorf("the daemon was closed after %v", took)
	}
	// Unloading their libraries while the process exits would crash it.
	if left.Lock(); len(left.servers) == before {
		t.Error("the engines that load will be closed, perhaps while the process exits")
	}
	left.Unlock()
	unlock()
}
