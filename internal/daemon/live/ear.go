package live

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// loud is what counts as sound of the loudspeaker, about -60 dBFS.
	loud = 32
	// echoMemory is for how long it is remembered when the loudspeaker sounded.
	echoMemory = 2 * time.Minute
)

// ear processes what the microphone captures, and finds the user's voice in it.
// Everything but heardLoudspeaker is the capturing goroutine's.
type ear struct {
	w       *World
	proc    *dsp.Processor // nil: nothing is processed
	tracker *vad.Tracker   // nil: the service finds the voice
	out     dsp.Output
	tail    time.Duration       // see dsp.EchoTail
	hold    func(time.Duration) // holds the player; see audio.Player.Hold
	last    int64               // where the next frame begins; -1 before the first
	aligned int64               // Realigned of proc, as the tracker knows it
	broken  bool                // a failure was told

	quiet atomic.Int64 // frames since the loudspeaker sounded

	mu     sync.Mutex
	sounds []span // captured positions between which the loudspeaker sounded, oldest first
}

type span struct{ from, to int64 }

// newEar makes the ear of a conversation. Without a detector the service's onsets
// count; that it is missing was said by doctor, and is said in the log.
func newEar(w *World, set protocol.Settings) (*ear, error) {
	e := &ear{w: w, tail: dsp.EchoTail(0), hold: w.voice.player.Hold, last: -1}
	e.quiet.Store(math.MaxInt32)
	if w.cfg.Processing != nil {
		var err error
		if e.proc, err = dsp.New(w.cfg.Processing(set)); err != nil {
			return nil, &audio.DeviceError{Code: "audioFailed", Device: "processing", Err: err, Remedy: "see agentvoice-daemon doctor"}
		}
	}
	if w.cfg.Detector == nil || set.TurnDetection.Mode == protocol.TurnPushToTalk {
		return e, nil
	}
	cfg := vad.ProfileConfig(vad.Profile(set.Interruption.Profile))
	switch set.TurnDetection.Mode {
	case protocol.TurnServer, protocol.TurnPhrase: // where the service counts the same
		cfg.Silence = set.TurnDetection.Silence
	}
	tracker, err := vad.NewTracker(w.cfg.Detector, cfg)
	if err != nil {
		w.cfg.Log.Warn().Err(err).Msg("the voice detector cannot be used; the service's onsets count, and interruptions are slower")
		return e, nil
	}
	e.tracker = tracker
	return e, nil
}

// finds says whether the ear finds the user's voice by itself.
func (e *ear) finds() bool { return e != nil && e.tracker != nil }

// heardLoudspeaker takes a frame on its way to the loudspeaker. It runs on the
// rendering goroutine, takes no lock and allocates nothing.
func (e *ear) heardLoudspeaker(f *audio.Frame) {
	if e.proc != nil {
		e.proc.Reference(f)
	}
	for _, s := range f {
		if s > loud || s < -loud {
			e.quiet.Store(0)
			return
		}
	}
	e.quiet.Add(1)
}

// delays tells the ear what the devices report, before it hears.
func (e *ear) delays(source audio.Source, sink audio.Sink) {
	var in time.Duration
	if t, ok := source.(audio.Timed); ok {
		in = t.Timing().Reported
	}
	e.tail = dsp.EchoTail(sink.Latency() + in)
	if e.proc != nil {
		e.proc.SetDelay(sink.Latency(), in)
	}
}

// correct begins with what was learnt about the delay of the same devices; and
// correction is what is known of it at the end.
func (e *ear) correct(late int64) {
	if e.proc != nil {
		e.proc.Correct(late)
	}
}

func (e *ear) correction() (late int64, known bool) {
	if e == nil || e.proc == nil {
		return 0, false
	}
	return e.proc.Correction(), e.proc.Found()
}

// hear processes a captured frame, and returns what is to be sent of it: audio
// that ends latency samples before the end of f.
func (e *ear) hear(pos int64, f *audio.Frame, c *call) (send *audio.Frame, latency int64) {
	e.note(pos)
	trigger := f
	send = f
	if e.proc != nil {
		if gap := pos - e.last; e.last >= 0 && gap > 0 {
			e.proc.Gap(gap)
		}
		if err := e.proc.Process(f, &e.out); err != nil {
			e.fail(err)
		}
		trigger, send, latency = &e.out.Trigger, &e.out.Uplink, e.proc.Latency()
	}
	e.last = pos + audio.FrameSamples
	if e.tracker == nil {
		return send, latency
	}
	if e.proc != nil {
		if n := e.proc.Realigned(); n != e.aligned {
			e.aligned = n
			e.tracker.Unsettled()
		}
		e.tracker.SetFound(e.proc.Found())
		e.tracker.SetCut(e.proc.Cut())
	}
	e.tracker.SetAudible(e.audible())
	marks, err := e.tracker.Push(pos, trigger)
	if err != nil {
		e.fail(err)
	}
	for _, m := range marks {
		e.reflex(m.Kind)
		if c != nil && m.Kind != vad.Suspected && m.Kind != vad.Dismissed {
			c.hearer.voice(m, latency)
		}
	}
	return send, latency
}

// bridge is for how long the assistant is held from an onset on: until the core has
// decided what becomes of it.
const bridge = 50 * time.Millisecond

// reflex holds the assistant from a suspicion until it is a voice or nothing: a
// voice is heard sooner in silence, and the user is spared a tenth of a second.
func (e *ear) reflex(k vad.MarkKind) {
	switch k {
	case vad.Suspected:
		e.hold(2 * vad.SuspicionLasts) // or until it is dismissed
	case vad.Dismissed:
		e.hold(0)
	case vad.Onset:
		e.hold(bridge)
	case vad.Paused, vad.Resumed, vad.Ended:
	}
}

func (e *ear) audible() bool { return e.quiet.Load() < int64(e.tail/audio.FrameTime) }

// note remembers when the loudspeaker sounded.
func (e *ear) note(pos int64) {
	if !e.audible() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.sounds)
	if n > 0 && pos-e.sounds[n-1].to < audio.Samples(e.tail) {
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

// reopened says that the microphone was opened anew.
func (e *ear) reopened() {
	if e.proc != nil {
		if err := e.proc.Reset(); err != nil {
			e.fail(err)
		}
	}
	if e.tracker != nil {
		e.tracker.Reset()
	}
	e.last = -1
}

// fail tells the first failure of the processing; the audio goes on without.
func (e *ear) fail(err error) {
	if !e.broken {
		e.broken = true
		e.w.cfg.Log.Error().Err(err).Msg("processing of the microphone failed; it goes on, maybe worse")
	}
}

func (e *ear) close() error {
	if e == nil {
		return nil
	}
	if e.proc != nil {
		e.proc.Close()
	}
	if e.tracker != nil {
		return e.tracker.Close()
	}
	return nil
}
