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

// loud is the sample value above which the speaker is active, about -60 dBFS.
const loud = 32

// bridge is how long playback is held after an onset, until the core has decided
// whether to interrupt the assistant.
const bridge = 50 * time.Millisecond

// Front is the front end of one conversation. Rendered and ReopenedSink belong to the
// rendering goroutine; Stats, Quiet and Retracted are safe for concurrent use;
// everything else belongs to the capturing goroutine, or to any goroutine while that
// does not run.
type Front struct {
	proc    *dsp.Processor
	tracker *vad.Tracker // nil if the service detects the voice
	delay   *dsp.DelayReporter
	hold    func(time.Duration)

	out     dsp.Output
	next    int64 // position of the next frame; -1 before the first
	aligned int64 // last seen Realigned of proc
	found   bool  // last seen Found of proc

	duplex    duplex
	retracted atomic.Bool // since the last frame

	quiet atomic.Int64 // frames since the speaker was active
	other atomic.Bool  // the speaker was replaced by another device
}

// New returns a Front without a tracker, which must be closed. hold has the semantics
// of audio.Player.Hold. The errors are those of dsp.New.
func New(processing dsp.Config, hold func(time.Duration)) (*Front, error) {
	proc, err := dsp.New(processing)
	if err != nil {
		return nil, err
	}
	f := &Front{proc: proc, hold: hold, next: -1, duplex: newDuplex()}
	f.quiet.Store(math.MaxInt32)
	return f, nil
}

// Attach makes the Front follow the delay of the open devices. Call it before the first
// frame.
func (f *Front) Attach(source audio.Source, sink audio.Sink) {
	f.delay = dsp.NewDelayReporter(f.proc, source, sink)
}

// Track adds a tracker for the user's voice, which the Front closes. Call it before the
// first frame.
func (f *Front) Track(t *vad.Tracker) {
	t.SetForeign(f.proc.Foreign)
	t.SetEchoMayHaveMoved(f.proc.EchoMayHaveMoved)
	f.tracker = t
}

// Correct sets the correction of the devices' delay that an earlier conversation
// found; see dsp.Processor.Correct.
func (f *Front) Correct(samples int64) { f.proc.Correct(samples) }

// Correction returns by how many samples the echo's delay exceeds the reported one, and
// whether the echo was found.
func (f *Front) Correction() (samples int64, known bool) {
	return f.proc.Correction(), f.proc.Found()
}

// SetSilence sets how much silence ends an utterance; see vad.Tracker.SetSilence.
func (f *Front) SetSilence(silence, faint time.Duration) {
	if f.tracker != nil {
		f.tracker.SetSilence(silence, faint)
	}
}

// Rendered takes a frame on its way to the speaker.
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

// Quiet returns how long rendered audio has been silent.
func (f *Front) Quiet() time.Duration { return time.Duration(f.quiet.Load()) * audio.FrameTime }

// Tail returns how long after rendered audio stopped its echo may still be captured.
func (f *Front) Tail() time.Duration { return f.delay.Tail() }

// Audible reports whether the captured audio may contain the assistant.
func (f *Front) Audible() bool { return f.Quiet() < f.Tail() }

// ReopenedSink reports that the speaker was opened again. other reports whether it is a
// different device, whose echo path the canceller must learn from scratch.
func (f *Front) ReopenedSink(other bool) {
	if other {
		f.other.Store(true)
	}
	f.delay.Opened()
}

// Reopened reports that the microphone was opened again.
func (f *Front) Reopened() error {
	if f.tracker != nil {
		f.tracker.Reset()
	}
	f.next = -1
	f.duplex = newDuplex()
	f.delay.Opened()
	return f.proc.Reset()
}

// Late reports that the next frame was captured before now. Its far end is unknown: it is
// processed as if the speaker were silent.
func (f *Front) Late() { f.proc.Late() }

// Captured processes the next captured frame, whose first sample has position pos,
// and returns the tracker's marks, with positions in the microphone's stream. The
// slice is valid until the next call. On an error the frame was used nevertheless,
// possibly unprocessed.
func (f *Front) Captured(pos int64, frame *audio.Frame) ([]vad.Mark, error) {
	failed := f.follow()
	if gap := pos - f.next; f.next >= 0 && gap > 0 {
		f.proc.Gap(gap)
	}
	f.next = pos + audio.FrameSamples
	if err := f.proc.Process(frame, &f.out); err != nil {
		failed = errors.Join(failed, err)
	}
	if f.suspendsDetection(pos, frame) {
		f.out.Trigger = audio.Frame{}
		if f.tracker == nil { // the service detects the voice
			f.out.Uplink = audio.Frame{}
		}
	}
	if f.tracker == nil {
		return nil, failed
	}
	f.tracker.SetFound(f.found)
	f.tracker.SetEchoReduction(f.proc.EchoReduction())
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

// follow passes device changes to the echo canceller.
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

// suspendsDetection updates the half-duplex state. It reports whether the frame must
// not reach a detector, because its voice would be the assistant's.
func (f *Front) suspendsDetection(pos int64, frame *audio.Frame) bool {
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
	return d.suspended(pos) && f.Audible()
}

// Retracted reports that the core retracted an interruption because the user had not
// spoken or had said nothing relevant. It is safe for concurrent use.
func (f *Front) Retracted() { f.retracted.Store(true) }

// HalfDuplex reports whether voice interruptions are suspended because the assistant
// hears itself.
func (f *Front) HalfDuplex() bool { return f.duplex.half }

// reflex holds or releases playback.
func (f *Front) reflex(k vad.MarkKind) {
	switch k {
	case vad.Suspected:
		f.hold(2 * vad.SuspicionLasts) // unless dismissed earlier
	case vad.Dismissed:
		f.hold(0)
	case vad.Onset:
		f.hold(bridge)
	case vad.Paused, vad.Resumed, vad.Ended:
	}
}

// Uplink returns the last captured frame, processed for recognition. It is delayed by
// Latency samples.
func (f *Front) Uplink() *audio.Frame { return &f.out.Uplink }

// Level returns the RMS level of the last captured frame as the detector gets it: without the echo,
// and before noise suppression and gain control. It is in dBFS.
func (f *Front) Level() float64 { return audio.LevelOf(f.out.Trigger[:]).RMS }

// Latency returns the delay of the processing in samples.
func (f *Front) Latency() int64 { return f.proc.Latency() }

// Speaking reports whether an utterance is open.
func (f *Front) Speaking() bool { return f.tracker != nil && f.tracker.Speaking() }

// MaybeVoice reports whether the last captured frame may contain a voice, even a weak
// one. Without a tracker it always returns true.
func (f *Front) MaybeVoice() bool { return f.tracker == nil || f.tracker.MaybeVoice() }

// Beginning reports whether the last captured frame may contain the beginning of the user's voice, or
// is part of it. Without a tracker it always returns true.
func (f *Front) Beginning() bool { return f.tracker == nil || f.tracker.Beginning() }

// Finds reports whether the Front detects the voice itself.
func (f *Front) Finds() bool { return f.tracker != nil }

// Realigned returns how many times the streams were realigned.
func (f *Front) Realigned() int64 { return f.proc.Realigned() }

// Stats returns the figures of the processing.
func (f *Front) Stats() dsp.Stats { return f.proc.Stats() }

// Close releases the processor and the tracker. Only Rendered may run concurrently or afterwards.
func (f *Front) Close() error {
	f.proc.Close()
	if f.tracker != nil {
		return f.tracker.Close()
	}
	return nil
}
