package headless

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// defaultSegment is how long a spoken segment is, unless the script says
// otherwise.
const defaultSegment = time.Second

// voice is the assistant's: segments that are synthesised after a delay, and a
// loudspeaker that plays each for a while.
type voice struct {
	clock  *dispatch.Virtual
	post   func(csm.Event)
	output func(daemon.Output)
	length time.Duration
	byHand bool // the script says when a segment was played

	gen     uint32
	queue   []*segment    // not heard to the end, oldest first
	playing bool          // it was let play, and did not drain since
	paused  bool          // until it goes on or is flushed
	since   time.Duration // when the first of queue began or went on to sound
	stop    func()        // the end of the first segment; nil when it does not sound
	sounds  bool          // as output was told
}

type segment struct {
	gen, seq uint32
	buffered bool
	length   time.Duration
	played   time.Duration // when it was paused
}

func (v *voice) speak(e csm.Speak, a auto) {
	v.gen = max(v.gen, e.Gen)
	s := &segment{gen: e.Gen, seq: e.Segment.Seq, length: v.length}
	v.queue = append(v.queue, s)
	switch {
	case a.off:
	case a.delay == 0:
		v.buffer(s)
	default:
		v.clock.AfterFunc(a.delay, func() { v.buffer(s) })
	}
}

// buffer says that a segment is synthesised. While something is heard that is no
// news, and a player that is paused says nothing, as with the real player.
func (v *voice) buffer(s *segment) {
	if s.gen < v.gen {
		return
	}
	s.buffered = true
	if !v.playing && !v.paused || v.byHand {
		v.post(csm.SpeechBuffered{Gen: s.gen, Seq: s.seq})
	}
	v.sound()
}

// start lets what is buffered play.
func (v *voice) start(gen uint32) {
	if gen == v.gen {
		v.playing = true
		v.sound()
	}
}

// resume plays on from where pause stopped.
func (v *voice) resume(gen uint32) {
	if gen == v.gen {
		v.paused = false
		if !v.playing && !v.byHand && len(v.queue) > 0 && v.queue[0].buffered { // while it was paused
			v.post(csm.SpeechBuffered{Gen: gen, Seq: v.queue[0].seq})
		}
		v.sound()
	}
}

// sound has the first segment be heard to its end.
func (v *voice) sound() {
	if !v.playing || v.paused || v.byHand || v.stop != nil || len(v.queue) == 0 || !v.queue[0].buffered {
		return
	}
	v.since = v.clock.Now()
	v.report(true)
	v.stop = v.clock.AfterFunc(v.queue[0].length-v.queue[0].played, func() {
		v.stop = nil
		v.played()
		v.sound()
		v.report(v.stop != nil)
	})
}

// played says that the first segment was heard to its end; ok is false when there
// is none.
func (v *voice) played() (ok bool) {
	if len(v.queue) == 0 {
		return false
	}
	s := v.queue[0]
	v.queue = v.queue[1:]
	v.post(csm.SpeechPlayed{Gen: s.gen, Seq: s.seq})
	if !v.byHand && (len(v.queue) == 0 || !v.queue[0].buffered) {
		v.playing = false
		v.post(csm.SpeechDrained{Gen: s.gen, Seq: s.seq})
	}
	return true
}

func (v *voice) pause(gen uint32) {
	if gen != v.gen || v.paused {
		return
	}
	v.paused = true
	v.halt()
	if len(v.queue) == 0 || !v.playing {
		return
	}
	if s := v.queue[0]; s.buffered {
		v.post(csm.SpeechCursor{Gen: gen, Seq: s.seq, Played: samples(s.played), Of: samples(s.length)})
	}
}

// halt stops the sound where it is.
func (v *voice) halt() {
	if v.stop != nil {
		v.stop()
		v.stop = nil
		v.queue[0].played += v.clock.Now() - v.since
		v.report(false)
	}
}

// report reports that the output fell silent, or sounds again.
func (v *voice) report(sounds bool) {
	if sounds != v.sounds {
		v.sounds = sounds
		v.output(daemon.Output{Silent: !sounds, Pos: samples(v.clock.Now())})
	}
}

// flush silences every generation before gen. What it says to answer with is how
// much was heard; there is nothing to answer when gen is no news.
func (v *voice) flush(gen uint32) (csm.SpeechFlushed, bool) {
	if gen <= v.gen {
		return csm.SpeechFlushed{}, false
	}
	v.halt()
	e := csm.SpeechFlushed{Gen: gen - 1}
	if len(v.queue) > 0 && v.queue[0].buffered {
		s := v.queue[0]
		e.Seq, e.Played, e.Of = s.seq, samples(s.played), samples(s.length)
	}
	v.gen, v.queue, v.playing, v.paused = gen, nil, false, false
	return e, true
}

func samples(d time.Duration) int64 { return int64(d * audio.SampleRate / time.Second) }
