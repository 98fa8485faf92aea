package world

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Clock is the clock of a Speaker.
type Clock interface {
	Now() time.Duration
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Speaker is the loudspeaker of a driver with a clock: it plays each segment for its
// length, and knows to the sample what was heard.
type Speaker struct {
	Clock  Clock
	Post   func(csm.Event)
	Length func(csm.Speak) time.Duration // length of a segment
	Sounds func(bool)                    // called when the output falls silent or resumes; may be nil
	All    bool                          // report every segment as buffered, not only the one that a silent player waits for
	ByHand bool                          // play nothing automatically

	gen     uint32
	queue   []*segment    // unfinished segments, oldest first
	playing bool          // started, and not drained since
	paused  bool          // until resumed or flushed
	since   time.Duration // when queue[0] started or resumed
	stop    func()        // cancels the end of queue[0]; nil while silent
	sounds  bool          // last value passed to Sounds
}

type segment struct {
	csm.Speak
	buffered bool
	length   time.Duration
	played   time.Duration // duration played before the pause
}

// Take applies an effect to the loudspeaker, except Flush.
func (v *Speaker) Take(f csm.Effect) {
	switch f := f.(type) {
	case csm.Speak:
		v.gen = max(v.gen, f.Gen)
		v.queue = append(v.queue, &segment{Speak: f, length: v.Length(f)})
	case csm.StartPlayback:
		if f.Gen == v.gen {
			v.playing = true
			v.sound()
		}
	case csm.PausePlayback:
		v.pause(f.Gen)
	case csm.ResumePlayback:
		if f.Gen != v.gen {
			return
		}
		v.paused = false
		if !v.All && !v.playing && !v.ByHand && len(v.queue) > 0 && v.queue[0].buffered { // during the pause
			v.report(v.queue[0])
		}
		v.sound()
	default:
	}
}

// Buffer synthesises a segment. A player does not report that while playing or paused.
func (v *Speaker) Buffer(f csm.Speak) {
	for _, s := range v.queue {
		if s.Gen == f.Gen && s.Segment.Seq == f.Segment.Seq {
			s.buffered = true
			if v.All || v.ByHand || !v.playing && !v.paused {
				v.report(s)
			}
			v.sound()
			return
		}
	}
}

func (v *Speaker) report(s *segment) { v.Post(csm.SpeechBuffered{Gen: s.Gen, Seq: s.Segment.Seq}) }

// sound plays queue[0] to its end.
func (v *Speaker) sound() {
	if !v.playing || v.paused || v.ByHand || v.stop != nil || len(v.queue) == 0 || !v.queue[0].buffered {
		return
	}
	v.since = v.Clock.Now()
	v.tell(true)
	v.stop = v.Clock.AfterFunc(v.queue[0].length-v.queue[0].played, func() {
		v.stop = nil
		v.Played()
		v.sound()
		v.tell(v.stop != nil)
	})
}

// Played reports queue[0] as played. It returns false if there is none.
func (v *Speaker) Played() bool {
	s, ok := v.Drop()
	if !ok {
		return false
	}
	v.Post(csm.SpeechPlayed{Gen: s.Gen, Seq: s.Segment.Seq})
	if !v.ByHand && (len(v.queue) == 0 || !v.queue[0].buffered) {
		v.playing = false
		v.Post(csm.SpeechDrained{Gen: s.Gen, Seq: s.Segment.Seq})
	}
	return true
}

// Drop removes queue[0], if any.
func (v *Speaker) Drop() (f csm.Speak, ok bool) {
	if len(v.queue) == 0 {
		return f, false
	}
	v.halt()
	f, v.queue = v.queue[0].Speak, v.queue[1:]
	return f, true
}

// Drain removes all segments and returns the last.
func (v *Speaker) Drain() (last csm.Speak, ok bool) {
	for f, more := v.Drop(); more; f, more = v.Drop() {
		last, ok = f, true
	}
	v.playing = false
	return last, ok
}

// Unbuffered returns the first segment that is not synthesised.
func (v *Speaker) Unbuffered() (f csm.Speak, ok bool) {
	for _, s := range v.queue {
		if !s.buffered {
			return s.Speak, true
		}
	}
	return f, false
}

// Generation returns the latest generation of speech.
func (v *Speaker) Generation() uint32 { return v.gen }

func (v *Speaker) pause(gen uint32) {
	if gen != v.gen || v.paused {
		return
	}
	v.paused = true
	v.halt()
	if at := v.heard(); v.playing && at.Of > 0 {
		v.Post(csm.SpeechCursor{Gen: gen, Seq: at.Seq, Played: at.Played, Of: at.Of})
	}
}

// halt stops playback.
func (v *Speaker) halt() {
	if v.stop != nil {
		v.stop()
		v.stop = nil
		v.queue[0].played += v.Clock.Now() - v.since
		v.tell(false)
	}
}

// heard returns how much of queue[0] was heard, if any.
func (v *Speaker) heard() (at csm.SpeechFlushed) {
	if len(v.queue) > 0 && v.queue[0].buffered {
		s := v.queue[0]
		at.Seq, at.Played, at.Of = s.Segment.Seq, samples(s.played), samples(s.length)
	}
	return at
}

func (v *Speaker) tell(sounds bool) {
	if sounds != v.sounds {
		v.sounds = sounds
		if v.Sounds != nil {
			v.Sounds(sounds)
		}
	}
}

// Flush silences all generations before that of f and returns how much was heard. ok is
// false if nothing changed.
func (v *Speaker) Flush(f csm.Flush) (e csm.SpeechFlushed, ok bool) {
	if f.Gen <= v.gen {
		return e, false
	}
	v.halt()
	e = v.heard()
	e.Gen = f.Gen - 1
	v.gen, v.queue, v.playing, v.paused = f.Gen, nil, false, false
	return e, true
}

// samples returns d in samples at 48 kHz.
func samples(d time.Duration) int64 { return int64(d * 48000 / time.Second) }
