package csmtest

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// playback is the world's loudspeaker: it plays each segment for a fixed time,
// and knows to the sample what was heard. With no time it plays nothing by itself,
// and the scenario says what was heard.
type playback struct {
	each    time.Duration // how long a segment takes
	line    []csm.Speak   // not heard to their end
	ready   int           // how many of them are buffered
	started bool          // it was let play, and did not drain since
	paused  bool          // until it is resumed or flushed
	playing bool
	since   time.Duration // when the first of them began, or went on
	done    time.Duration // how much of it was heard before that
	stop    func()
	cut     csm.SpeechFlushed // how far it was when it was flushed
}

const samplesPerMillisecond = 48

// follow has the loudspeaker do what an effect asks of it.
func (b *playback) follow(p *player, f csm.Effect) {
	if b.each == 0 {
		return
	}
	switch f := f.(type) {
	case csm.Speak:
		b.line = append(b.line, f)
	case csm.StartPlayback:
		b.started = true
		b.start(p)
	case csm.ResumePlayback:
		b.paused = false
		b.start(p)
	case csm.PausePlayback:
		b.paused = true
		b.pause(p)
	case csm.Flush:
		b.pause(p)
		*b = playback{each: b.each, cut: b.cursor()}
	default:
	}
}

// cursor is how much was heard of the first segment that is not heard to its end.
func (b *playback) cursor() (at csm.SpeechFlushed) {
	if len(b.line) > 0 {
		at.Seq = b.line[0].Segment.Seq
		at.Played, at.Of = b.done.Milliseconds()*samplesPerMillisecond, b.each.Milliseconds()*samplesPerMillisecond
	}
	return at
}

func (b *playback) start(p *player) {
	if b.playing || b.paused || !b.started || b.ready == 0 {
		return
	}
	b.playing, b.since = true, p.clock.Now()
	b.stop = p.clock.AfterFunc(b.each-b.done, func() { b.heard(p) })
}

func (b *playback) pause(p *player) {
	if b.playing {
		b.stop()
		b.playing, b.done = false, b.done+p.clock.Now()-b.since
	}
}

// heard ends a segment.
func (b *playback) heard(p *player) {
	f := b.line[0]
	b.line, b.ready, b.playing, b.done = b.line[1:], b.ready-1, false, 0
	p.post(csm.SpeechPlayed{Gen: f.Gen, Seq: f.Segment.Seq})
	if b.ready == 0 {
		b.started = false
		p.post(csm.SpeechDrained{Gen: f.Gen, Seq: f.Segment.Seq})
		return
	}
	b.start(p)
}

// measure completes an answer of the world: it counts what is buffered, and says
// with a flush how much was heard.
func (b *playback) measure(e csm.Event) csm.Event {
	switch e := e.(type) {
	case csm.SpeechBuffered:
		for _, f := range b.line {
			if f.Gen == e.Gen && f.Segment.Seq == e.Seq {
				b.ready++
			}
		}
	case csm.SpeechFlushed:
		e.Seq, e.Played, e.Of = b.cut.Seq, b.cut.Played, b.cut.Of
		return e
	default:
	}
	return e
}
