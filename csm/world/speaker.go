package world

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Clock is what a Speaker plays by.
type Clock interface {
	Now() time.Duration
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Speaker is the loudspeaker of a driver on a clock: it plays each segment for its
// length, and knows to the sample what was heard.
type Speaker struct {
	Clock  Clock
	Post   func(csm.Event)
	Length func(csm.Speak) time.Duration // of a segment, as it is asked for
	Sounds func(bool)                    // reports that the output falls silent or sounds; may be nil
	All    bool                          // every segment is reported as buffered, not just what a silent player waits for
	ByHand bool                          // it plays nothing by itself

	gen     uint32
	queue   []*segment    // not heard to the end, oldest first
	playing bool          // it was let play, and did not drain since
	paused  bool          // until it is resumed or flushed
	since   time.Duration // when the first of queue began to sound, or was resumed
	stop    func()        // the end of the first segment; nil when it does not sound
	sounds  bool          // as Sounds was told
}

type segment struct {
	csm.Speak
	buffered bool
	length   time.Duration
	played   time.Duration // when it was paused
}

// Take does what an effect asks of the loudspeaker, but for Flush.
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
		if !v.All && !v.playing && !v.ByHand && len(v.queue) > 0 && v.queue[0].buffered { // while it was paused
			v.report(v.queue[0])
		}
		v.sound()
	default:
	}
}

// Buffer has a segment synthesised. While something is heard or paused, a player
// does not report that.
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

// sound plays the first segment to its end.
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

// Played reports the first segment as heard to its end. It returns false if there is no
// segment.
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

// Drop takes the first segment away, if there is one.
func (v *Speaker) Drop() (f csm.Speak, ok bool) {
	if len(v.queue) == 0 {
		return f, false
	}
	v.halt()
	f, v.queue = v.queue[0].Speak, v.queue[1:]
	return f, true
}

// Drain takes every segment away, and is the last one.
func (v *Speaker) Drain() (last csm.Speak, ok bool) {
	for f, more := v.Drop(); more; f, more = v.Drop() {
		last, ok = f, true
	}
	v.playing = false
	return last, ok
}

// Unbuffered is the first segment that is not synthesised.
func (v *Speaker) Unbuffered() (f csm.Speak, ok bool) {
	for _, s := range v.queue {
		if !s.buffered {
			return s.Speak, true
		}
	}
	return f, false
}

// Generation is the latest generation of speech.
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

// halt stops the sound where it is.
func (v *Speaker) halt() {
	if v.stop != nil {
		v.stop()
		v.stop = nil
		v.queue[0].played += v.Clock.Now() - v.since
		v.tell(false)
	}
}

// heard is how far the first segment was heard, if it is there.
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

// Flush silences every generation before that of f, and returns how much was heard.
// ok is false where that is no news.
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

// samples are those of a time at 48 kHz.
func samples(d time.Duration) int64 { return int64(d * 48000 / time.Second) }
