package roomsim

import (
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// audibleLevel is what makes a rendered frame count as heard, as a sample value:
// -60 dBFS.
const audibleLevel = 33

// BridgeHold is for how long the player is held from an onset on, until the core has
// decided what becomes of the assistant.
const BridgeHold = 50 * time.Millisecond

// Media is the media path of one conversation: Render belongs to the sink's
// goroutine, Capture to the source's.
type Media struct {
	Player    *audio.Player
	Processor *dsp.Processor
	Tracker   *vad.Tracker

	tail     int64        // samples for which the assistant counts as heard after the last sound
	rendered atomic.Int64 // samples
	loud     atomic.Int64 // rendered samples when the last sound ended; 0 before the first
	out      dsp.Output

	held    func() // told when the player is held
	aligned int64  // Realigned of the Processor, as the tracker knows it
}

// MediaConfig says how the media path is set.
type MediaConfig struct {
	DSP             dsp.Config
	Tracker         vad.TrackerConfig
	Render, Capture time.Duration // as the devices report
	// Held is told when a suspicion holds the player.
	Held func()
}

// NewMedia makes a media path around a player. It must be closed.
func NewMedia(player *audio.Player, cfg MediaConfig) (*Media, error) {
	model, err := assets.Silero()
	if err != nil {
		return nil, err
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		return nil, err
	}
	tracker, err := vad.NewTracker(func() (vad.Detector, error) { return vad.NewSilero(model, lib) }, cfg.Tracker)
	if err != nil {
		return nil, err
	}
	proc, err := dsp.New(cfg.DSP)
	if err != nil {
		_ = tracker.Close() // the reason is the other one
		return nil, err
	}
	proc.SetDelay(cfg.Render, cfg.Capture)
	return &Media{
		Player: player, Processor: proc, Tracker: tracker,
		held: cfg.Held,
		tail: audio.Samples(dsp.EchoTail(cfg.Render + cfg.Capture)),
	}, nil
}

// Render makes the next frame for the loudspeaker.
func (m *Media) Render(f *audio.Frame) {
	m.Player.Render(f)
	m.Processor.Reference(f)
	n := m.rendered.Add(audio.FrameSamples)
	for _, s := range f {
		if s > audibleLevel || s < -audibleLevel {
			m.loud.Store(n)
			break
		}
	}
}

// Audible says whether the assistant may be heard in what is captured now.
func (m *Media) Audible() bool {
	loud := m.loud.Load()
	return loud > 0 && m.rendered.Load()-loud < m.tail
}

// Sounding says whether the frame that was rendered last had a sound in it, or the
// ones shortly before.
func (m *Media) Sounding() bool {
	return m.loud.Load() > 0 && m.rendered.Load()-m.loud.Load() < audio.Samples(Hold)
}

// Capture takes the next frame of the microphone, and returns what was noticed, at
// positions of the microphone.
func (m *Media) Capture(pos int64, f *audio.Frame) ([]vad.Mark, error) {
	if err := m.Processor.Process(f, &m.out); err != nil {
		return nil, err
	}
	if n := m.Processor.Realigned(); n != m.aligned {
		m.aligned = n
		m.Tracker.Unsettled()
	}
	m.Tracker.SetFound(m.Processor.Found())
	m.Tracker.SetCut(m.Processor.Cut())
	m.Tracker.SetAudible(m.Audible())
	marks, err := m.Tracker.Push(pos, &m.out.Trigger)
	kept := marks[:0]
	for _, mark := range marks {
		switch mark.Kind {
		case vad.Suspected:
			m.Player.Hold(2 * vad.SuspicionLasts)
			m.held()
			continue
		case vad.Dismissed:
			m.Player.Hold(0)
			continue
		case vad.Onset:
			m.Player.Hold(BridgeHold)
		default:
		}
		mark.Pos = max(0, mark.Pos-m.Processor.Latency())
		kept = append(kept, mark)
	}
	return kept, err
}

// Close frees what the path holds; the player is the caller's.
func (m *Media) Close() error {
	m.Processor.Close()
	return m.Tracker.Close()
}
