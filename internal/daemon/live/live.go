// Package live is the real world of a daemon: audio devices, the connection to a
// realtime service, and the assistant's voice.
//
// # Model
//
// Parts, most with a queue of their own, so that the effects on one of them keep
// their order and none holds up another:
//
//	service  credentials, and the embedded server where that is the provider
//	devices  source and sink, held or released, and both voices' levels
//	link     the connection, dialled again under a new epoch; a successor stands
//	         beside it until it is hung up on
//	voice    segments on their way to the player
//	ear      what the microphone hears: processed, searched for the user's voice,
//	         and matched with what the service makes of it
//	cues     short tones beside the voice
//	waker    the phrase that begins a conversation, while there is none
//
// A captured frame goes from the source to the link in the source's goroutine; a
// rendered one from the player to the sink in the sink's. Neither passes through
// a queue, the loop or a lock of theirs. How far playback is reaches the core as
// csm.SpeechCursor from a goroutine of its own, ten times a second while something
// is heard: the core needs it only where a flush or a question has no better
// answer, and is then at most a tenth of a second behind, on the safe side; and
// each is a step in the journal, of some 200 bytes.
package live

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/heap"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Tap hears both voices, as they are captured and as they are rendered, such as
// a recorder. Its methods are called from the devices' goroutines and do not
// block.
type Tap interface {
	User(pos int64, f *audio.Frame)
	Assistant(f *audio.Frame)
}

// Config says what the world is made of. Source and Sink are needed.
type Config struct {
	// Source and Sink make the devices of a conversation, from the settings.
	Source func(protocol.Settings) (audio.Source, error)
	Sink   func(protocol.Settings) (audio.Sink, error)
	// Holder is how other windows name this one while it holds the microphone. ""
	// is for what is no microphone, such as a recording.
	Holder string
	// Names says which devices the settings name, for those that can be pointed at
	// another one while they run; nil where none can.
	Names func(protocol.Settings) (in, out string)
	// Ended, if set, is called when the source came to its end, as a recording
	// does, and once more for each recovery after that. Silence follows, so that the
	// last utterance ends too.
	Ended func()
	Tap   Tap
	// Naps: Source and Sink can be closed and opened again while the conversation is
	// suspended. A recording has one time line, and cannot.
	Naps bool
	// Speed is how fast a recording is played, 1 for real time.
	Speed float64
	// Credentials finds the secret for a provider other than the local one.
	Credentials func(ctx context.Context, p protocol.Provider) (realtime.Credential, error)
	// Processing says how the microphone is processed; nil leaves it as it is, as
	// a recording is.
	Processing func(protocol.Settings) dsp.Config
	// Detector makes a detector of the user's voice, which then opens the user's
	// turns; nil leaves that to the service.
	Detector func() (vad.Detector, error)
	// TURNPassword is that of the TURN servers that the settings name.
	TURNPassword string
	// Spotter makes what listens for a wake phrase, and has heard called when it was
	// said; nil where no phrase can be listened for.
	Spotter func(phrase string, heard func()) (Spotter, error)
	// Engines makes the embedded server's engines; its key and speed are set
	// here.
	Engines func() (localrealtime.Config, error)
	// KeepModels is for how long after a conversation the models of its detectors and
	// of the embedded server stay in memory. Zero stands for
	// localrealtime.DefaultKeepEngines.
	KeepModels time.Duration
	// Reports, if set, is told by the engines when one replaced another.
	Reports *Reports
	// Instrument, if set, may change how a dial is made: fault injection.
	Instrument func(*realtime.Config)
	Log        zerolog.Logger
}

// World is the real world. It implements daemon.World.
type World struct {
	cfg  Config
	port daemon.Port

	service *service
	devices *devices
	link    *link
	voice   *voice
	aside   *aside
	volume  *volume
	silence *silencer
	cues    *cues
	waker   *waker // of the devices' queue

	detectors *detectors // nil without a local detector

	closing sync.Once
	closed  error
}

// New returns the maker of a world for daemon.Config. What the embedded server and
// the ear need is loaded when a conversation begins, in the background, and freed
// KeepModels after it has ended.
func New(cfg Config) func(daemon.Port) daemon.World {
	return func(port daemon.Port) daemon.World {
		if cfg.Speed <= 0 {
			cfg.Speed = 1
		}
		w := &World{cfg: cfg, port: port}
		if cfg.Detector != nil {
			w.detectors = newDetectors(cfg.Detector, cmp.Or(cfg.KeepModels, localrealtime.DefaultKeepEngines), heap.Return)
			w.cfg.Detector = w.detectors.take
		}
		w.service = newService(w)
		w.voice = newVoice(w)
		w.volume = &volume{inner: w.voice.player.Render}
		w.aside = newAside(w, w.volume.render)
		w.devices = newDevices(w)
		w.aside.wake = w.devices.playNap.wake
		w.silence = &silencer{inner: w.aside.render}
		w.cues = newCues(w.silence.render, w.devices.playNap.wake)
		w.link = newLink(w)
		w.waker = newWaker(w)
		if cfg.Reports != nil {
			cfg.Reports.world.Store(w)
		}
		return w
	}
}

// queue makes the queue of a part. A part that hangs for so long that its queue is full
// ends the conversation.
func (w *World) queue(part string) *daemon.Queue {
	return daemon.NewQueue(func() { w.port.Overload(part + " does not respond") })
}

// Execute implements daemon.World.
func (w *World) Execute(e csm.Effect) {
	w.cues.executed(e)
	switch e := e.(type) {
	case csm.ActivateSession:
		w.voice.warned.Store(false)
		if w.detectors != nil {
			w.detectors.preload()
		}
		w.voice.replaced.Store(false)
		w.service.replaced.Store(false)
		w.service.turnEndLost.Store(false)
		w.service.activate(e.Instance)
	case csm.DeactivateSession:
		w.service.deactivate(e.Instance)
	case csm.OpenAudio:
		w.devices.open(e.Instance, e.TakeOver)
	case csm.StartCapture:
		w.devices.startCapture(e.Instance)
	case csm.HoldCapture:
		w.devices.hold(true)
	case csm.ReleaseCapture:
		w.devices.hold(false)
	case csm.CloseAudio:
		w.devices.close(e.Instance)
	case csm.PublishState:
		switch e.Cause {
		case csm.CauseInterruptRetract:
			w.devices.retracted()
		case csm.CauseTTSComplete:
			w.devices.answered()
		default:
		}
		switch e.To {
		case csm.PhaseIdle:
			w.voice.rate.forget()
			w.volume.forget()
			w.devices.q.Do(w.waker.over)
		case csm.PhaseListening:
			w.devices.listening()
		default:
		}
	case csm.OpenConnection:
		w.link.open(e.Instance, e.Epoch, e.Successor)
	case csm.CloseConnection:
		w.link.close(e.Instance, e.Epoch)
	case csm.CommitInput:
		w.link.commit(e.Epoch)
	case csm.ClearInput:
		w.link.clear(e.Epoch)
	case csm.Speak:
		w.aside.stop(e.Gen)
		w.voice.speak(e)
	case csm.StartPlayback:
		w.voice.player.Start(e.Gen)
	case csm.PausePlayback:
		w.voice.player.Pause(e.Gen)
	case csm.ResumePlayback:
		w.voice.player.Resume(e.Gen)
	case csm.Flush:
		w.aside.stop(e.Gen)
		w.voice.flush(e.Gen)
	default: // the assistant's, and the publisher's
	}
}

var _ daemon.Sayer = (*World)(nil)

// Say implements daemon.Sayer.
func (w *World) Say(text string) { w.aside.say(text) }

var _ daemon.Holder = (*World)(nil)

// Held implements daemon.Holder: while only the connection is missing, what the user
// says is kept for a while.
func (w *World) Held(why csm.SuspendReason) {
	w.devices.paused.Store(why&^(csm.SuspendConnection|csm.SuspendRenewal) != 0)
}

// Configure implements daemon.World. Devices, tones and silence change at once; all other
// settings are read when something begins.
func (w *World) Configure(s protocol.Settings) {
	w.devices.configure(s)
	w.cues.configure(s.Cues)
	w.silence.on.Store(s.Voice.Silent)
}

// Mute implements daemon.World: no sound that is captured from now on is used. The
// device stays open for a conversation, but not for the wake phrase.
func (w *World) Mute(muted bool) {
	w.devices.muted.Store(muted)
	w.devices.q.Latest("mute", func() { w.waker.mute(muted) })
}

// PressToTalk begins an utterance by hand: what is said from now on belongs to it,
// until the turn is committed. It needs turn detection to be off.
func (w *World) PressToTalk() error {
	c := w.link.live.Load()
	if c == nil {
		return errors.New("there is no connection yet; start a conversation and wait for listening")
	}
	c.client.ClearInput()
	c.hearer.press(c.base.Load() + c.client.Position())
	return nil
}

var _ daemon.Caller = (*World)(nil)

// SessionExpires implements daemon.Caller.
func (w *World) SessionExpires() (at time.Time, known bool) {
	c := w.link.live.Load()
	if c == nil {
		return at, false
	}
	return c.client.Expires()
}

// SessionPath implements daemon.Caller.
func (w *World) SessionPath() string {
	c := w.link.live.Load()
	if c == nil {
		return ""
	}
	return c.client.Stats().Path
}

// Counters are those of the connections so far, for diagnostics/report.
func (w *World) Counters() map[string]int64 { return w.link.counters() }

// Close implements daemon.World.
func (w *World) Close() error {
	w.closing.Do(func() {
		if w.detectors != nil { // first: others wait for them
			w.closed = w.detectors.shut()
		}
		w.cues.shut()
		w.link.shut()
		w.devices.shut()
		w.closed = errors.Join(w.closed, w.voice.shut(), w.service.shut())
	})
	return w.closed
}
