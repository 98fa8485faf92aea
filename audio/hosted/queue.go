package hosted

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// lead is how far delivered audio may run ahead of real time. The player buffers two
// minutes, which leaves room for a pause by the user.
const lead = 20 * time.Second

// Speaker synthesises a segment. emit receives consecutive pieces of mono audio at rate
// Hz, which are valid only during the call. If emit fails, Speaker returns its error.
type Speaker func(ctx context.Context, s realtime.Segment, emit func(pcm []int16, rate int) error) error

// Listener receives the audio: one call at a time, on a goroutine of the Queue. The
// methods are those of realtime.Handler. They must return immediately and may call any
// method of the Queue except Close.
type Listener interface {
	SpeechAudio(seg audio.SegmentID, pcm []int16)
	SpeechEnded(seg audio.SegmentID)
	SpeechFailed(seg audio.SegmentID, code string)
}

// Queue is a voice that speaks segments one after the other.
type Queue struct {
	speak    Speaker
	listener Listener
	slowest  float64
	fastest  float64
	speed    float64

	ctx  context.Context
	end  context.CancelFunc
	done chan struct{}

	mu       sync.Mutex
	waiting  []realtime.Segment
	canceled int64 // highest cancelled generation, or -1
	current  uint32
	cancel   context.CancelFunc // cancels the current segment; nil without one
	wake     chan struct{}
}

// QueueConfig describes the speaker. The zero value is a single speed, in real time.
type QueueConfig struct {
	Slowest, Fastest float64 // speed range of the voice
	Speed            float64 // of the conversation's clock, for recordings
}

// NewQueue starts a voice. Close stops it.
func NewQueue(speak Speaker, l Listener, cfg QueueConfig) *Queue {
	q := &Queue{speak: speak, listener: l, slowest: 1, fastest: 1, speed: 1, canceled: -1, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	if cfg.Fastest > 0 {
		q.slowest, q.fastest = cfg.Slowest, cfg.Fastest
	}
	if cfg.Speed > 0 {
		q.speed = cfg.Speed
	}
	q.ctx, q.end = context.WithCancel(context.Background())
	go q.run()
	return q
}

// Speeds returns the voice's minimum and maximum speed.
func (q *Queue) Speeds() (slowest, fastest float64) { return q.slowest, q.fastest }

// Speak queues a segment, behind the others unless it is Next. Segments of a cancelled generation are ignored.
func (q *Queue) Speak(s realtime.Segment) {
	q.mu.Lock()
	if int64(s.ID.Gen) > q.canceled {
		at := len(q.waiting)
		if s.Next {
			at = 0
		}
		q.waiting = slices.Insert(q.waiting, at, s)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// CancelSpeech immediately drops all segments of generation gen and older, queued or
// running, and closes a pending request. A listener call that is already running when
// CancelSpeech is called may still concern one of them.
func (q *Queue) CancelSpeech(gen uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.canceled = max(q.canceled, int64(gen))
	q.waiting = slices.DeleteFunc(q.waiting, func(s realtime.Segment) bool { return s.ID.Gen <= gen })
	if q.cancel != nil && q.current <= gen {
		q.cancel()
	}
}

// Close stops the voice. No listener call runs or starts after it returns. It is safe
// to call twice.
func (q *Queue) Close() error {
	q.end()
	<-q.done
	return nil
}

func (q *Queue) run() {
	defer close(q.done)
	for {
		s, ctx, cancel, ok := q.next()
		switch {
		case ok:
			q.say(ctx, s)
			q.over()
			cancel()
			continue
		case q.ctx.Err() != nil:
			return
		}
		select {
		case <-q.wake:
		case <-q.ctx.Done():
		}
	}
}

// next returns the next segment, if there is one.
func (q *Queue) next() (s realtime.Segment, ctx context.Context, cancel context.CancelFunc, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || q.ctx.Err() != nil {
		return s, nil, nil, false
	}
	s, q.waiting = q.waiting[0], q.waiting[1:]
	ctx, cancel = context.WithCancel(q.ctx)
	q.current, q.cancel = s.ID.Gen, cancel
	return s, ctx, cancel, true
}

func (q *Queue) over() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancel = nil
}

// say speaks a segment and reports the outcome, unless it was cancelled.
func (q *Queue) say(ctx context.Context, s realtime.Segment) {
	out := output{q: q, ctx: ctx, seg: s.ID}
	err := q.speak(ctx, s, out.emit)
	if err == nil {
		err = out.flush()
	}
	var known *realtime.Error
	switch {
	case ctx.Err() != nil:
	case err == nil && out.sent == 0:
		q.listener.SpeechFailed(s.ID, realtime.CodeSpeechNoAudio)
	case err == nil:
		q.listener.SpeechEnded(s.ID)
	case errors.As(err, &known):
		q.listener.SpeechFailed(s.ID, known.Code)
	default:
		q.listener.SpeechFailed(s.ID, realtime.CodeSpeechCutShort)
	}
}

// output delivers the audio of a segment.
type output struct {
	q         *Queue
	ctx       context.Context
	seg       audio.SegmentID
	rate      int
	resampler *audio.Resampler
	pcm       []int16
	sent      int64
	played    time.Time // when the delivered audio will have been played
}

func (o *output) emit(pcm []int16, rate int) (err error) {
	if o.resampler == nil || rate != o.rate {
		if err := o.flush(); err != nil {
			return err
		}
		if o.resampler, err = audio.NewResampler(rate, audio.SampleRate); err != nil {
			return err
		}
		o.rate = rate
	}
	return o.deliver(o.resampler.Process(o.pcm[:0], pcm))
}

// flush delivers the rest.
func (o *output) flush() error {
	if o.resampler == nil {
		return nil
	}
	return o.deliver(o.resampler.Flush(o.pcm[:0]))
}

// deliver waits until there is room for the audio, and delivers it.
func (o *output) deliver(pcm []int16) error {
	o.pcm = pcm
	if len(pcm) == 0 {
		return o.ctx.Err()
	}
	now := time.Now()
	if o.played.Before(now) {
		o.played = now
	}
	o.played = o.played.Add(time.Duration(float64(audio.Duration(int64(len(pcm)))) / o.q.speed))
	if wait := o.played.Sub(now) - time.Duration(float64(lead)/o.q.speed); wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-o.ctx.Done():
		}
	}
	if err := o.ctx.Err(); err != nil {
		return err
	}
	o.sent += int64(len(pcm))
	o.q.listener.SpeechAudio(o.seg, pcm)
	return nil
}
