package front

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// loud is the sample value from which the loudspeaker sounds, about -60 dBFS.
const loud = 32

// bridge is for how long the assistant is held from an onset on: until the core has
// decided what becomes of it.
const bridge = 50 * time.Millisecond

// Front is the front end of one conversation. Rendered and ReopenedSink belong to
// the rendering goroutine, Stats and Quiet to anybody, everything else to the
// capturing goroutine, or to whoever knows that it does not run.
type Front struct {
	proc    *dsp.Processor
	tracker *vad.Tracker // nil where nobody's voice is looked for
	delay   *dsp.DelayReporter
	hold    func(time.Duration)

	out     dsp.Output
	next    int64 // where the next frame begins; -1 before the first
	aligned int64 // Realigned of proc, as was seen last
	found   bool  // Found of proc, likewise

	duplex    duplex
	retracted atomic.Bool // since the last frame

	quiet atomic.Int64 // frames since the loudspeaker sounded
	other atomic.Bool  // the loudspeaker is another one
}

// New makes a Front without a tracker. hold holds the player, as audio.Player.Hold
// does. It fails as dsp.New does. The Front must be closed.
func New(processing dsp.Config, hold func(time.Duration)) (*Front, error) {
	proc, err := dsp.New(processing)
	if err != nil {
		return nil, err
	}
	f := &Front{proc: proc, hold: hold, next: -1, duplex: newDuplex()}
	f.quiet.Store(math.MaxInt32)
	return f, nil
}

// Attach has the Front follow the delay of devices that are open. It is for before
// the first frame.
func (f *Front) Attach(source audio.Source, sink audio.Sink) {
	f.delay = dsp.NewDelayReporter(f.proc, source, sink)
}

// Track has the Front look for a voice with a tracker, which it closes in the end.
// It is for before the first frame.
func (f *Front) Track(t *vad.Tracker) {
	t.SetForeign(f.proc.Foreign)
	t.SetElsewhere(f.proc.Elsewhere)
	f.tracker = t
}

// Correct begins with the correction of the devices' delay that was learnt before; see
// dsp.Processor.Correct.
func (f *Front) Correct(samples int64) { f.proc.Correct(samples) }

// Correction is by how many samples the echo comes later than the devices report,
// and whether that was found.
func (f *Front) Correction() (samples int64, known bool) {
	return f.proc.Correction(), f.proc.Found()
}

// Rendered takes a frame on its way to the loudspeaker.
func (f *Front) Rendered(frame *audio.Frame) {
	f.proc.Reference(frame)
	for _, s := range frame {
		if s > loud || s < -loud {
			f.quiet.Store(0)
			return
		}
	}
	f.quiet.Add(1)
}

// Quiet is for how long the loudspeaker has been silent, in what was rendered.
func (f *Front) Quiet() time.Duration { return time.Duration(f.quiet.Load()) * audio.FrameTime }

// Tail is for how long after the loudspeaker fell silent its echo may be captured.
func (f *Front) Tail() time.Duration { return f.delay.Tail() }

// Audible says whether the assistant may be heard in what is captured now.
func (f *Front) Audible() bool { return f.Quiet() < f.Tail() }

// ReopenedSink says that the loudspeaker was opened again, and whether it is another
// one, whose echo has to be learnt from the beginning.
func (f *Front) ReopenedSink(other bool) {
	if other {
		f.other.Store(true)
	}
	f.delay.Opened()
}

// Reopened says that the microphone was opened again.
func (f *Front) Reopened() error {
	if f.tracker != nil {
		f.tracker.Reset()
	}
	f.next = -1
	f.duplex = newDuplex()
	f.delay.Opened()
	return f.proc.Reset()
}

// Captured processes the next captured frame, whose first sample has the position
// pos, and returns what the tracker marked, with positions of the microphone. The
// slice is the Front's until the next call. After an error the frame was used
// nevertheless, maybe unprocessed.
func (f *Front) Captured(pos int64, frame *audio.Frame) ([]vad.Mark, error) {
	failed := f.follow()
	if gap := pos - f.next; f.next >= 0 && gap > 0 {
		f.proc.Gap(gap)
	}
	f.next = pos + audio.FrameSamples
	if err := f.proc.Process(frame, &f.out); err != nil {
		failed = errors.Join(failed, err)
	}
	if f.listensNot(pos, frame) {
		f.out.Trigger = audio.Frame{}
		if f.tracker == nil { // the service finds the voice
			f.out.Uplink = audio.Frame{}
		}
	}
	if f.tracker == nil {
		return nil, failed
	}
	f.tracker.SetFound(f.found)
	f.tracker.SetCut(f.proc.Cut())
	f.tracker.SetPredicted(f.proc.Predicted(), f.proc.Person())
	f.tracker.SetAudible(f.Audible())
	marks, err := f.tracker.Push(pos, &f.out.Trigger)
	if err != nil {
		failed = errors.Join(failed, err)
	}
	for i := range marks {
		f.reflex(marks[i].Kind)
		marks[i].Pos = max(0, marks[i].Pos-f.proc.Latency())
	}
	return marks, failed
}

// follow keeps the echo canceller up to date with the devices.
func (f *Front) follow() error {
	f.delay.Next()
	if !f.other.Swap(false) {
		return nil
	}
	if f.tracker != nil {
		f.tracker.CancellerRestarted()
	}
	f.duplex = newDuplex()
	return f.proc.Reset()
}

// listensNot follows whether the echo is cancelled. It says whether the frame is
// not for whoever looks for a voice, since it would be the assistant's.
func (f *Front) listensNot(pos int64, frame *audio.Frame) bool {
	d := &f.duplex
	was := d.half
	if f.retracted.Swap(false) {
		d.retracted(pos)
	}
	d.hear(pos, frame, &f.out.Trigger, f.Quiet() < pieceGap, f.Audible(), f.Speaking() || f.proc.Predicted())
	n := f.proc.Realigned()
	moved := n != f.aligned
	f.aligned = n
	if moved {
		d.moved(pos, f.found)
	}
	f.found = f.proc.Found()
	if f.tracker != nil && (moved || was && !d.half) {
		f.tracker.CancellerRestarted()
	}
	return d.deaf(pos) && f.Audible()
}

// Retracted says that the core took an interruption back: nobody had spoken, or said
// anything. It may be called from any goroutine.
func (f *Front) Retracted() { f.retracted.Store(true) }

// HalfDuplex says whether nobody can interrupt the assistant by voice at present, since
// it hears itself.
func (f *Front) HalfDuplex() bool { return f.duplex.half }

// reflex holds the assistant, or lets it go on.
func (f *Front) reflex(k vad.MarkKind) {
	switch k {
	case vad.Suspected:
		f.hold(2 * vad.SuspicionLasts) // or until it is dismissed
	case vad.Dismissed:
		f.hold(0)
	case vad.Onset:
		f.hold(bridge)
	case vad.Paused, vad.Resumed, vad.Ended:
	}
}

// Uplink is the frame that was captured last, as recognition is to hear it. It ends
// Latency samples before the end of that.
func (f *Front) Uplink() *audio.Frame { return &f.out.Uplink }

// Latency is by how many samples processing is late.
func (f *Front) Latency() int64 { return f.proc.Latency() }

// Speaking says whether an utterance is open.
func (f *Front) Speaking() bool { return f.tracker != nil && f.tracker.Speaking() }

// MaybeVoice says whether the frame that was captured last may hold a voice, however
// faint. Without a tracker each may.
func (f *Front) MaybeVoice() bool { return f.tracker == nil || f.tracker.MaybeVoice() }

// Finds says whether a voice is looked for here.
func (f *Front) Finds() bool { return f.tracker != nil }

// Realigned is how many times the streams were realigned.
func (f *Front) Realigned() int64 { return f.proc.Realigned() }

// Stats is how the processing fares.
func (f *Front) Stats() dsp.Stats { return f.proc.Stats() }

// Close frees what the Front holds. Only Rendered may run meanwhile, or follow.
func (f *Front) Close() error {
	f.proc.Close()
	if f.tracker != nil {
		return f.tracker.Close()
	}
	return nil
}
