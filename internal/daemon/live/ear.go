package live

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// echoMemory is for how long it is remembered when the loudspeaker sounded.
const echoMemory = 2 * time.Minute

// ear is the front end of a conversation, and what the daemon adds to it: detectors
// that load in the background, and the memory of when the loudspeaker sounded.
type ear struct {
	w       *World
	front   *front.Front
	loaded  chan struct{} // closed when the front has its tracker, or cannot have one
	gone    chan struct{} // closed when the wait is over
	making  sync.Mutex    // of loaded and gone, so that one of both sides closes the tracker
	broken  bool          // a failure was told
	deaf    atomic.Bool   // nobody can interrupt by voice; see front.Front.HalfDuplex
	shown   bool          // the user was told so
	said    atomic.Bool   // and aloud
	untold  atomic.Bool   // words were given up in a gap, which is not said aloud yet
	backlog backlog

	mu     sync.Mutex
	sounds []span // captured positions between which the loudspeaker sounded, oldest first
}

type span struct{ from, to int64 }

// newEar makes the ear of a conversation. Its detectors load in the background, while
// the connection is dialled: capture waits for them, the devices do not. Without a
// detector the service's onsets count; doctor and the log report that.
func newEar(w *World, set protocol.Settings) (*ear, error) {
	e := &ear{w: w, loaded: make(chan struct{}), gone: make(chan struct{})}
	var processing dsp.Config // changes nothing, but compares both directions
	if w.cfg.Processing != nil {
		processing = w.cfg.Processing(set)
	}
	var err error
	if e.front, err = front.New(processing, w.voice.player.Hold); err != nil {
		return nil, &audio.DeviceError{Code: "audioFailed", Device: "processing", Err: err, Remedy: "see agentvoice-daemon doctor"}
	}
	if w.cfg.Detector == nil || set.TurnDetection.Mode == protocol.TurnPushToTalk {
		close(e.loaded)
		return e, nil
	}
	cfg := vad.ProfileConfig(vad.Profile(set.Interruption.Profile))
	switch set.TurnDetection.Mode {
	case protocol.TurnServer, protocol.TurnPhrase: // where the service counts the same
		cfg.Silence = set.TurnDetection.Silence
	}
	go e.load(cfg)
	return e, nil
}

// load makes the tracker. The ear may be closed meanwhile: then it is closed here.
func (e *ear) load(cfg vad.TrackerConfig) {
	tracker, err := vad.NewTracker(e.w.cfg.Detector, cfg)
	e.making.Lock()
	defer e.making.Unlock()
	select {
	case <-e.gone:
		if err == nil {
			_ = tracker.Close() // nothing was heard with it
		}
		return
	default:
	}
	if err != nil {
		e.w.cfg.Log.Warn().Err(err).Msg("the voice detector cannot be used; the service's onsets count, and interruptions are slower")
	} else {
		e.front.Track(tracker)
	}
	close(e.loaded)
}

// ready waits until the detectors are loaded, and says whether ctx lasted so long.
func (e *ear) ready(ctx context.Context) bool {
	select {
	case <-e.loaded:
		return true
	case <-ctx.Done():
		return false
	}
}

// finds says whether the ear finds the user's voice by itself. It waits until the
// detectors are loaded, or the ear is closed.
func (e *ear) finds() bool {
	if e == nil {
		return false
	}
	select {
	case <-e.loaded:
		return e.front.Finds()
	case <-e.gone:
		return false
	}
}

// correction is what is known of the devices' delay at the end.
func (e *ear) correction() (late int64, known bool) {
	if e == nil {
		return 0, false
	}
	return e.front.Correction()
}

// hear processes a captured frame, and takes what is to be sent of it to the call:
// audio that ends some samples before the end of f.
func (e *ear) hear(pos int64, f *audio.Frame) {
	marks, err := e.front.Captured(pos, f)
	if err != nil {
		e.fail(err)
	}
	e.note(pos)
	e.deaf.Store(e.front.HalfDuplex())
	if e.deaf.Load() && !e.shown {
		e.shown = true
		e.w.cfg.Log.Warn().Msg("the echo is not cancelled, and the assistant interrupts itself; nobody can interrupt it by voice until the echo is found")
		e.w.port.Warn(protocol.CodeHearsItself, "")
	}
	marks = slices.DeleteFunc(marks, func(m vad.Mark) bool { return m.Kind == vad.Suspected || m.Kind == vad.Dismissed })
	e.pass(pos-e.front.Latency(), e.front.Uplink(), e.front.MaybeVoice(), marks)
}

// retracted says that the core took an interruption back.
func (d *devices) retracted() {
	if e := d.ear.Load(); e != nil {
		e.front.Retracted()
	}
}

// answered says aloud, once in a conversation, that the answer that was heard to its end
// could not be interrupted by voice. During the answer it would be lost in it.
func (d *devices) answered() {
	if e := d.ear.Load(); e != nil && e.deaf.Load() && e.said.CompareAndSwap(false, true) {
		d.w.aside.say(d.w.port.Spoken(protocol.CodeHearsItself))
	}
}

// note remembers when the loudspeaker sounded.
func (e *ear) note(pos int64) {
	if !e.front.Audible() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.sounds)
	if n > 0 && pos-e.sounds[n-1].to < audio.Samples(e.front.Tail()) {
		e.sounds[n-1].to = pos + audio.FrameSamples
		return
	}
	e.sounds = append(e.sounds, span{pos, pos + audio.FrameSamples})
	for len(e.sounds) > 1 && pos-e.sounds[0].to > audio.Samples(echoMemory) {
		e.sounds = e.sounds[1:]
	}
}

// echo says whether most of what was captured between two positions was captured
// while the loudspeaker sounded.
func (e *ear) echo(from, to int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	var heard int64
	for _, s := range e.sounds {
		heard += max(min(s.to, to)-max(s.from, from), 0)
	}
	return heard*2 > to-from && heard > 0
}

// reopened reports that the microphone was reopened.
func (e *ear) reopened() {
	if err := e.front.Reopened(); err != nil {
		e.fail(err)
	}
}

// fail logs the first failure of the processing; the audio continues without it.
func (e *ear) fail(err error) {
	if !e.broken {
		e.broken = true
		e.w.cfg.Log.Error().Err(err).Msg("microphone processing failed; continuing without processing")
	}
}

// close does not wait for detectors that load: they are closed when they are there.
func (e *ear) close() error {
	if e == nil {
		return nil
	}
	e.making.Lock()
	close(e.gone)
	e.making.Unlock()
	e.backlog.wipe()
	return e.front.Close()
}
