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
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// echoMemory is how long the times of speaker output are kept.
const echoMemory = 2 * time.Minute

// ear is the front end of a conversation plus the daemon's part: detectors that load in
// the background, and the times at which the speaker was audible.
type ear struct {
	w       *World
	front   *front.Front
	loaded  chan struct{} // closed when the front has its tracker, or loading failed
	gone    chan struct{} // closed when the ear is closed and waiting ends
	making  sync.Mutex    // guards loaded and gone, so that exactly one side closes the tracker
	broken  bool          // a failure was reported
	deaf    atomic.Bool   // interrupting by voice is impossible; see front.Front.HalfDuplex
	shown   bool          // the user was notified of deaf
	said    atomic.Bool   // and told aloud
	cut     bool          // the microphone was reopened while the user spoke, which no mark has ended
	untold  atomic.Bool   // words dropped in a gap have not been reported aloud yet
	backlog backlog
	levels  levels
	pause   pauseLimit
	usual   time.Duration // the pause if nothing is known about what was said
	clock   captureClock
	faults  heardFaults // of the microphone

	listens atomic.Bool                // the conversation has begun to listen
	phrase  atomic.Pointer[wake.Heard] // that began the conversation, or nil

	mu     sync.Mutex
	sounds []span // captured positions between which the speaker was audible, oldest first
}

type span struct{ from, to int64 }

// newEar creates the ear of a conversation. Its detectors load in the background while
// the connection is dialled; capture waits for them, the devices do not. Without a
// detector the service's onsets count; doctor and the log report that.
func newEar(w *World, set protocol.Settings) (*ear, error) {
	e := &ear{w: w, loaded: make(chan struct{}), gone: make(chan struct{}), faults: heardFaults{said: map[protocol.ErrorCode]bool{}}}
	var processing dsp.Config // changes nothing, but compares both directions
	if w.cfg.Processing != nil {
		processing = w.cfg.Processing(set)
	}
	var err error
	open := func(c dsp.Config) (*front.Front, error) { return front.New(c, w.voice.player.Hold) }
	missing := func(err error) {
		w.cfg.Log.Warn().Err(err).Msg("microphone processing is incomplete; continuing without the part that is unavailable")
	}
	if e.front, err = openFront(processing, open, missing); err != nil {
		return nil, &audio.DeviceError{Code: "audioFailed", Device: "processing", Err: err, Remedy: "see agentvoice-daemon doctor"}
	}
	if w.cfg.Detector == nil || set.TurnDetection.Mode == protocol.TurnPushToTalk {
		close(e.loaded)
		return e, nil
	}
	cfg := vad.ProfileConfig(vad.Profile(set.Interruption.Profile))
	e.usual = pauses(set.TurnDetection).Unclear
	switch set.TurnDetection.Mode {
	case protocol.TurnServer, protocol.TurnPhrase: // where the service measures the same silence
		cfg.Silence = set.TurnDetection.Silence
	}
	go e.load(cfg)
	return e, nil
}

// openFront opens the front end with as much of the processing as there is, and reports
// why the rest is missing. Without echo cancellation, half duplex limits the damage, and
// the user is notified.
func openFront(processing dsp.Config, open func(dsp.Config) (*front.Front, error), missing func(error)) (f *front.Front, err error) {
	for _, c := range slices.Compact([]dsp.Config{processing, processing.Essential(), {}}) {
		if f, err = open(c); err == nil {
			return f, nil
		}
		missing(err)
	}
	return nil, err
}

// load creates the tracker. If the ear was closed meanwhile, load closes the tracker.
func (e *ear) load(cfg vad.TrackerConfig) {
	tracker, err := vad.NewTracker(e.w.cfg.Detector, cfg)
	e.making.Lock()
	defer e.making.Unlock()
	select {
	case <-e.gone:
		if err == nil {
			_ = tracker.Close() // it was not used yet
		}
		return
	default:
	}
	if err != nil {
		e.w.cfg.Log.Warn().Err(err).Msg("the voice detector cannot be used; the service's onsets count, and interruptions are slower")
	} else {
		e.front.Track(tracker)
	}
	e.w.link.detects(err == nil)
	close(e.loaded)
}

// ready waits until the detectors are loaded. It returns false if ctx is done first.
func (e *ear) ready(ctx context.Context) bool {
	select {
	case <-e.loaded:
		return true
	case <-ctx.Done():
		return false
	}
}

// finds reports whether the ear detects the user's voice by itself. It waits until the
// detectors are loaded or the ear is closed.
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

// correction returns the final correction of the devices' delay.
func (e *ear) correction() (late int64, known bool) {
	if e == nil {
		return 0, false
	}
	return e.front.Correction()
}

// hear processes a captured frame and passes the result to the call: audio that ends
// some samples before the end of f.
func (e *ear) hear(pos int64, f *audio.Frame) {
	if silence, faint, known := e.pause.get(); known {
		if e.backlog.n-e.backlog.sent > 1 { // the judge hears something older
			silence, faint = e.usual, e.usual
		}
		e.front.SetSilence(silence, faint)
	}
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
	if e.cut {
		e.cut = false
		marks = append([]vad.Mark{{Kind: vad.Paused, Pos: pos, Decided: pos}, {Kind: vad.Ended, Pos: pos, Decided: pos}}, marks...)
	}
	marks = slices.DeleteFunc(marks, func(m vad.Mark) bool { return m.Kind == vad.Suspected || m.Kind == vad.Dismissed })
	e.levels.push(pos-e.front.Latency(), e.front.Level())
	e.pass(pos-e.front.Latency(), e.front.Uplink(), e.front.MaybeVoice(), e.front.Beginning(), marks)
}

// retracted handles an interruption that the core retracted.
func (d *devices) retracted() {
	if e := d.ear.Load(); e != nil {
		e.front.Retracted()
	}
}

// answered says aloud, once in a conversation, that the answer that just finished could
// not be interrupted by voice. During the answer, the notice would be drowned out.
func (d *devices) answered() {
	if e := d.ear.Load(); e != nil && e.deaf.Load() && e.said.CompareAndSwap(false, true) {
		d.w.aside.say(d.w.port.Spoken(protocol.CodeHearsItself))
	}
}

// note records when the speaker was audible.
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

// echo reports whether the speaker was audible during most of the time between two
// captured positions.
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
	e.cut = e.cut || e.front.Speaking()
	if err := e.front.Reopened(); err != nil {
		e.fail(err)
	}
}

// fail logs the first processing failure. Audio continues unprocessed.
func (e *ear) fail(err error) {
	if !e.broken {
		e.broken = true
		e.w.cfg.Log.Error().Err(err).Msg("microphone processing failed; continuing without processing")
	}
}

// close does not wait for detectors that are loading; they are closed when they are
// ready.
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
