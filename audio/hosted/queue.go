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

// lead is how far the audio that is handed over may run ahead of real time. The player
// holds two minutes, so a pause of the user has room behind it.
const lead = 20 * time.Second

// Speaker makes the audio of a segment. emit takes consecutive pieces of mono audio at
// rate Hz, which are valid during the call. It returns emit's error when emit failed.
type Speaker func(ctx context.Context, s realtime.Segment, emit func(pcm []int16, rate int) error) error

// Listener gets the audio: one call at a time, on a goroutine of the Queue. The methods
// are those of realtime.Handler. They return at once and may call any method of the
// Queue but Close.
type Listener interface {
	SpeechAudio(seg audio.SegmentID, pcm []int16)
	SpeechEnded(seg audio.SegmentID)
	SpeechFailed(seg audio.SegmentID, code string)
}

// Queue is a voice: it speaks segments one after the other.
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
	canceled int64 // highest generation that is not to be heard, -1 for none
	current  uint32
	cancel   context.CancelFunc // of the segment that is spoken; nil without one
	wake     chan struct{}
}

// QueueConfig says what the speaker can do. The zero value is one speed, in real time.
type QueueConfig struct {
	Slowest, Fastest float64 // speeds of the voice
	Speed            float64 // of the conversation's clock, for recordings
}

// NewQueue starts a voice. Close ends it.
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

// Speeds is how slowly and how fast the voice speaks at most.
func (q *Queue) Speeds() (slowest, fastest float64) { return q.slowest, q.fastest }

// Speak queues a segment behind those queued before. A segment of a cancelled
// generation is ignored.
func (q *Queue) Speak(s realtime.Segment) {
	q.mu.Lock()
	if int64(s.ID.Gen) > q.canceled {
		q.waiting = append(q.waiting, s)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// CancelSpeech drops all segments of the generation gen and older ones, queued or
// running, at once: a request that is under way is closed. A call of the listener that
// is running when CancelSpeech is called may still be about one of them.
func (q *Queue) CancelSpeech(gen uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.canceled = max(q.canceled, int64(gen))
	q.waiting = slices.DeleteFunc(q.waiting, func(s realtime.Segment) bool { return s.ID.Gen <= gen })
	if q.cancel != nil && q.current <= gen {
		q.cancel()
	}
}

// Close ends the voice. No call of the listener runs or comes after it. It is safe to
// call twice.
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

// next takes the next segment, if there is one.
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

// say speaks a segment and reports how that ended, unless it was cancelled.
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

// output hands the audio of a segment over.
type output struct {
	q         *Queue
	ctx       context.Context
	seg       audio.SegmentID
	rate      int
	resampler *audio.Resampler
	pcm       []int16
	sent      int64
	played    time.Time // when what was handed over will have been heard
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

// flush hands the rest over.
func (o *output) flush() error {
	if o.resampler == nil {
		return nil
	}
	return o.deliver(o.resampler.Flush(o.pcm[:0]))
}

// deliver waits until the audio is wanted, and hands it over.
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
