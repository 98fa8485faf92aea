// Package live is the production world of a daemon: audio devices, the connection to a
// realtime service, and the assistant's voice.
//
// # Model
//
// Most parts have their own queue, so that the effects on one part stay in order and no
// part blocks another:
//
//	service  credentials, and the embedded server if that is the provider
//	devices  source and sink, suspended or active, and both voices' levels
//	link     the connection, redialled under a new epoch; a successor exists
//	         beside it until it is hung up
//	voice    segments on their way to the player
//	ear      the microphone's audio: processed, searched for the user's voice,
//	         and matched with the service's results
//	cues     short tones beside the voice
//	comparer short sounds compared with the expected answers, beside a recogniser
//	         that does not do that, and what may be the wake phrase with the phrase
//	waker    the phrase that begins a conversation, outside of conversations
//
// A captured frame goes from the source to the link on the source's goroutine, and a
// rendered one from the player to the sink on the sink's. Neither passes through a
// queue, the loop or one of their locks. The playback position reaches the core as
// csm.SpeechCursor from a separate goroutine, ten times a second during playback. The
// core needs it only if a flush or a question has no more precise answer. The position
// is then at most a tenth of a second behind, which errs on the safe side. Each cursor
// is a step in the journal, of about 200 bytes.
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
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/heap"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Tap receives both voices, as captured and as rendered; an example is a recorder. Its
// methods are called on the devices' goroutines and must not block.
type Tap interface {
	User(pos int64, f *audio.Frame)
	Assistant(f *audio.Frame)
}

// Config configures the world. Source and Sink are required.
type Config struct {
	// Source and Sink create the devices of a conversation from the settings.
	Source func(protocol.Settings) (audio.Source, error)
	Sink   func(protocol.Settings) (audio.Sink, error)
	// Holder is the name shown in other windows while this one holds the microphone. ""
	// is for a source that is not a microphone, such as a recording.
	Holder string
	// Names returns the devices that the settings name, if they can be switched while
	// they run; nil if none can.
	Names func(protocol.Settings) (in, out string)
	// Ended, if set, is called when the source ends, as a recording does, and again for
	// each recovery after that. Silence follows, so that the last utterance also ends.
	Ended func()
	Tap   Tap
	// Naps: Source and Sink can be closed and reopened while the conversation is
	// suspended. A recording has a single timeline and cannot.
	Naps bool
	// Speed is the playback speed of a recording; 1 is real time.
	Speed float64
	// Credentials returns the secret for a provider other than the local one.
	Credentials func(ctx context.Context, p protocol.Provider) (realtime.Credential, error)
	// Processing returns how the microphone is processed; nil leaves it unprocessed, as
	// for a recording.
	Processing func(protocol.Settings) dsp.Config
	// Detector creates a detector of the user's voice, which then opens the user's
	// turns; nil leaves that to the service.
	Detector func() (vad.Detector, error)
	// TURNPassword is the password of the TURN servers that the settings name.
	TURNPassword string
	// Spotter creates the detector of a wake phrase, which calls heard when the phrase
	// was said, and with candidates also when it is not sure; nil if wake phrases are
	// unsupported.
	Spotter func(phrase string, candidates bool, heard func(wake.Heard)) (Spotter, error)
	// Engines returns the configuration of the embedded server's engines for a voice; its
	// key and speed are set here.
	Engines func(SpeechChoice) (localrealtime.Config, error)
	// Comparer returns a factory of recognisers of this machine that compare short sounds with
	// the expected answers (hearing.AnswerTaker), beside a recogniser that does not: that of a
	// service, or the local engines if local is true. It returns nil if no installed model does,
	// or if the local engines do. If Comparer is nil, no sound is compared.
	Comparer func(set SpeechChoice, local bool) hearing.Factory
	// KeepModels is how long the models of the detectors and of the embedded server
	// stay in memory after a conversation; those of the server also while one is
	// suspended. Zero means localrealtime.DefaultKeepEngines.
	KeepModels time.Duration
	// Reports, if set, receives the engines' reports when one replaced another.
	Reports *Reports
	// Instrument, if set, may change the dial configuration, for fault injection.
	Instrument func(*realtime.Config)
	Log        zerolog.Logger
}

// World is the production world. It implements daemon.World.
type World struct {
	cfg  Config
	port daemon.Port

	service *service
	devices *devices
	link    *link
	voice   *assistant
	aside   *aside
	volume  *volume
	silence *silencer
	cues    *cues
	grace   *grace
	waker   *waker // used by the devices' queue only

	detectors *detectors // nil without a local detector
	comparer  *comparer  // nil without Config.Comparer
	began     time.Time

	closing sync.Once
	closed  error
}

// New returns the World constructor for daemon.Config. The models for the embedded
// server and the ear are loaded in the background when a conversation begins, and freed
// KeepModels after it has ended. Those of the server are also freed KeepModels after the
// conversation was suspended, and loaded when it resumes.
func New(cfg Config) func(daemon.Port) daemon.World {
	return func(port daemon.Port) daemon.World {
		if cfg.Speed <= 0 {
			cfg.Speed = 1
		}
		w := &World{cfg: cfg, port: port, began: time.Now()}
		if cfg.Detector != nil {
			w.detectors = newDetectors(cfg.Detector, cmp.Or(cfg.KeepModels, localrealtime.DefaultKeepEngines), heap.Return)
			w.cfg.Detector = w.detectors.take
		}
		if cfg.Comparer != nil {
			w.comparer = newComparer(w, cmp.Or(cfg.KeepModels, localrealtime.DefaultKeepEngines))
		}
		w.grace = newGrace(w)
		w.service = newService(w)
		w.voice = newVoice(w)
		w.volume = &volume{inner: w.voice.player.Render}
		w.aside = newAside(w, w.volume.render)
		w.devices = newDevices(w)
		w.voice.wake, w.aside.wake = w.devices.speakerNeeded, w.devices.speakerNeeded
		w.aside.voiceless = w.devices.voiceless
		w.silence = &silencer{inner: w.aside.render}
		w.cues = newCues(w.silence.render, w.devices.speakerNeeded)
		w.link = newLink(w)
		w.waker = newWaker(w)
		if cfg.Reports != nil {
			cfg.Reports.world.Store(w)
		}
		return w
	}
}

// queue returns the queue of a part. A part that hangs until its queue is full ends the
// conversation.
func (w *World) queue(part string) *daemon.Queue {
	return daemon.NewQueue(func() { w.port.Overload(part + " does not respond") })
}

// now returns the time since the World was created, by the conversation's clock.
func (w *World) now() time.Duration {
	return time.Duration(float64(time.Since(w.began)) * w.cfg.Speed)
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
		w.voice.late.Store(false)
		w.service.replaced.Store(false)
		w.service.turnEndLost.Store(false)
		w.service.activate(e.Instance)
	case csm.DeactivateSession:
		w.service.deactivate(e.Instance)
	case csm.OpenAudio:
		w.devices.open(e.Instance, e.TakeOver, e.Typed)
	case csm.StartCapture:
		w.devices.startCapture(e.Instance)
	case csm.HoldCapture:
		w.devices.hold(true)
	case csm.ReleaseCapture:
		w.devices.hold(false)
		w.rest(false)
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
			w.voice.speakers.forget()
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
		w.comparer.prepare()
		w.aside.segment(e.Gen)
		w.voice.speak(e)
	case csm.StartPlayback:
		w.voice.player.Start(e.Gen)
	case csm.PausePlayback:
		w.voice.player.Pause(e.Gen)
		w.aside.pause()
	case csm.ResumePlayback:
		w.aside.stop(e.Gen)
		w.voice.player.Resume(e.Gen)
	case csm.Flush:
		w.aside.stop(e.Gen)
		w.voice.flush(e.Gen)
	default: // handled by the assistant and the publisher
	}
}

var _ daemon.Sayer = (*World)(nil)

// Say implements daemon.Sayer.
func (w *World) Say(text string) { w.aside.say(text) }

var _ daemon.Holder = (*World)(nil)

// Held implements daemon.Holder. While the connection is missing and the microphone is
// not, the user's speech is kept for a limited time. The models of this machine rest while nothing is
// heard and nothing is spoken.
func (w *World) Held(why csm.SuspendReason) {
	w.devices.because(why)
	if why != 0 { // else capture is released, or the conversation ends
		w.rest(why != csm.SuspendMicrophone && why != csm.SuspendSpeaker)
	}
}

// rest lets the models of this machine leave the memory after a time, or has them ready again.
func (w *World) rest(suspended bool) {
	w.service.suspend(suspended)
	w.link.suspend(suspended)
}

// Configure implements daemon.World. Devices, cues and silence change at once; all
// other settings are read when the part next starts.
func (w *World) Configure(s protocol.Settings) {
	w.devices.configure(s)
	w.cues.configure(s.Cues)
	w.silence.on.Store(s.Voice.Silent)
}

// Mute implements daemon.World. Audio captured from now on is not used. The device
// stays open for a conversation, but not for the wake phrase.
func (w *World) Mute(muted bool) {
	w.devices.muted.Store(muted)
	w.devices.q.Latest("mute", func() { w.waker.mute(muted) })
}

// PressToTalk begins an utterance manually: speech from now on belongs to it, until the
// turn is committed. Turn detection must be off.
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

// Counters returns the counters of all connections so far, for diagnostics/report.
func (w *World) Counters() map[string]int64 { return w.link.counters() }

// Close implements daemon.World.
func (w *World) Close() error {
	w.closing.Do(func() {
		if w.detectors != nil { // first, because others wait for them
			w.closed = w.detectors.shut()
		}
		w.cues.shut()
		w.grace.shut()
		w.link.shut()
		w.devices.shut()
		w.comparer.shut()
		w.closed = errors.Join(w.closed, w.voice.shut(), w.service.shut())
	})
	return w.closed
}
