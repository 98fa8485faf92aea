package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// How often and how fast a dial is tried again before it is given up.
const (
	dialAttempts = 6
	dialBackoff  = 200 * time.Millisecond
)

// link is the connection to the realtime service, and while it is replaced also
// its successor.
type link struct {
	w *World
	q *daemon.Queue

	// live is the call that frames and segments go to; nil without one. Frames
	// are written by the source's goroutine, which takes no lock.
	live atomic.Pointer[call]

	mu       sync.Mutex
	next     *call              // stands beside live, and takes its place when that is hung up on
	cancel   context.CancelFunc // of the dial that is under way
	dialling uint32             // its epoch
}

// call is one open connection.
type call struct {
	epoch  uint32
	client *realtime.Client
	hearer *hearer
	// base is the captured position of the client's position 0. It changes when
	// frames were held back.
	base atomic.Int64
}

func newLink(w *World) *link { return &link{w: w, q: daemon.NewQueue()} }

// open dials under an epoch. Whatever call there was is over, unless it is its
// successor that is dialled.
func (l *link) open(epoch uint32, successor bool) {
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	if l.cancel != nil {
		l.cancel()
	}
	l.cancel, l.dialling = cancel, epoch
	l.mu.Unlock()
	l.q.Do(func() {
		defer cancel()
		if !successor {
			l.drop()
		}
		l.dial(ctx, epoch)
	})
}

// dial tries until a call stands, the failure is final, or it is told to stop.
func (l *link) dial(ctx context.Context, epoch uint32) {
	var err error
	for attempt := range dialAttempts {
		if attempt > 0 && !pause(ctx, dialBackoff<<(attempt-1)) {
			break
		}
		if err = l.try(ctx, epoch); err == nil {
			l.w.port.Post(csm.ConnReady{Epoch: epoch})
			return
		}
		var e *realtime.Error
		if errors.As(err, &e) && !e.Retryable || ctx.Err() != nil {
			break
		}
		l.w.cfg.Log.Warn().Uint32("epoch", epoch).Int("attempt", attempt+1).Err(err).Msg("the realtime service cannot be reached yet")
	}
	if ctx.Err() != nil {
		return // told to stop: whoever did so does not wait for this epoch
	}
	code := csm.CodeConnectionFailed
	var e *realtime.Error
	if errors.As(err, &e) {
		code = csm.Code(e.Code)
	}
	l.w.cfg.Log.Error().Uint32("epoch", epoch).Str("code", string(code)).Err(err).Msg("the realtime service cannot be reached")
	l.w.port.Detail(code, err.Error())
	l.w.port.Post(csm.ConnFailed{Epoch: epoch, Code: code})
}

func (l *link) try(ctx context.Context, epoch uint32) error {
	cfg, err := l.w.service.dialConfig(l.w.port.Settings())
	if err != nil {
		return &realtime.Error{Code: realtime.CodeConnectionFailed, Message: err.Error()}
	}
	c := &call{epoch: epoch}
	c.hearer = newHearer(l.w, c)
	c.client, err = realtime.Dial(ctx, cfg, c.hearer)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live.Load() == nil {
		l.live.Store(c)
	} else {
		l.next = c
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// close hangs up: on the call of an epoch, whose successor takes over at once, or
// with epoch 0 for good.
func (l *link) close(instance, epoch uint32) {
	l.stopDial(epoch)
	old := l.take(epoch)
	l.q.Do(func() {
		l.hangUp(old)
		if epoch == 0 {
			l.drop()
		}
		l.w.port.Post(csm.ConnClosed{Instance: instance, Epoch: epoch})
	})
}

// stopDial ends the dial that is under way, if it is of that epoch; 0 is any.
func (l *link) stopDial(epoch uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil && (epoch == 0 || epoch == l.dialling) {
		l.cancel()
	}
}

// take takes the call of an epoch out of use; nil where there is none. What comes
// after it, such as a frame, goes to its successor.
func (l *link) take(epoch uint32) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.live.Load()
	switch {
	case epoch == 0:
		return nil
	case c != nil && c.epoch == epoch:
		l.live.Store(l.next)
		l.next = nil
	case l.next != nil && l.next.epoch == epoch:
		c, l.next = l.next, nil
	default:
		c = nil
	}
	return c
}

// drop ends the calls there are. It runs on the link's queue.
func (l *link) drop() {
	l.mu.Lock()
	live, next := l.live.Swap(nil), l.next
	l.next = nil
	l.mu.Unlock()
	l.hangUp(live)
	l.hangUp(next)
}

// hangUp ends a call, if it is one. It runs on the link's queue.
func (l *link) hangUp(c *call) {
	if c == nil {
		return
	}
	if err := c.client.Close(); err != nil {
		l.w.cfg.Log.Debug().Uint32("epoch", c.epoch).Err(err).Msg("the call did not end in order")
	}
}

// with calls f with the client of an epoch, if that is the live one.
func (l *link) with(epoch uint32, f func(*realtime.Client)) {
	if c := l.live.Load(); c != nil && c.epoch == epoch {
		f(c.client)
	}
}

// frame sends a frame whose first sample was captured at pos. It runs on the
// source's goroutine.
func (c *call) frame(pos int64, f *audio.Frame) {
	c.base.Store(pos - c.client.Position())
	c.client.WriteFrame(f)
}

// committed says that the core ended the utterance that was being spoken.
func (l *link) committed(epoch uint32) {
	if c := l.live.Load(); c != nil && c.epoch == epoch {
		c.hearer.committed()
	}
}

func (l *link) stats() realtime.Stats {
	if c := l.live.Load(); c != nil {
		return c.client.Stats()
	}
	return realtime.Stats{}
}

func (l *link) shut() {
	l.stopDial(0)
	l.q.Do(l.drop)
	l.q.Close()
}

// hearer turns what the service and the local detector say into events.
type hearer struct {
	w    *World
	call *call

	mu    sync.Mutex // of both
	match *matcher
}

func newHearer(w *World, c *call) *hearer {
	ear := w.devices.ear.Load()
	echo := func(from, to int64) bool { return ear != nil && ear.echo(from, to) }
	return &hearer{w: w, call: c, match: newMatcher(w.port, c.epoch, ear.finds(), echo)}
}

// with has the matcher take a fact, and tells the core what comes of it: in one
// order, though two goroutines bring facts.
func (h *hearer) with(fact func(*matcher) []csm.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range fact(h.match) {
		h.w.port.Post(e)
		h.w.cues.heard(e)
	}
}

// press begins an utterance by hand; the service gives it an item when it ends.
func (h *hearer) press(pos int64) {
	h.with(func(m *matcher) []csm.Event { return some(m.begin(pos, 0, true)) })
}

// voice is what the local detector noticed; its positions are of what was
// processed, latency samples late.
func (h *hearer) voice(m vad.Mark, latency int64) {
	pos := m.Pos - latency
	h.with(func(match *matcher) []csm.Event {
		switch m.Kind {
		case vad.Onset, vad.Resumed:
			return some(match.voice(pos, audio.Duration(m.Decided-pos)))
		case vad.Paused:
			return some(match.silence(pos))
		default:
			return match.gone()
		}
	})
}

// committed says that the core ended the utterance that was being spoken.
func (h *hearer) committed() {
	h.with(func(m *matcher) []csm.Event { m.committed(); return nil })
}

// some is a list of an event, or of none.
func some(e csm.Event) []csm.Event {
	if e == nil {
		return nil
	}
	return []csm.Event{e}
}

// SpeechStarted implements realtime.Handler.
func (h *hearer) SpeechStarted(item string, pos int64) {
	h.with(func(m *matcher) []csm.Event { return some(m.started(item, h.call.base.Load()+pos)) })
}

// SpeechStopped implements realtime.Handler.
func (h *hearer) SpeechStopped(item string, pos int64) {
	h.with(func(m *matcher) []csm.Event { return some(m.stopped(item, h.call.base.Load()+pos)) })
}

// PartialTranscript implements realtime.Handler.
func (h *hearer) PartialTranscript(item, text string) {
	h.with(func(m *matcher) []csm.Event { return some(m.partial(item, text)) })
}

// FinalTranscript implements realtime.Handler.
func (h *hearer) FinalTranscript(item, text string, confidence float64) {
	h.with(func(m *matcher) []csm.Event { return m.final(item, text, confidence) })
}

// TranscriptFailed implements realtime.Handler.
func (h *hearer) TranscriptFailed(item, _ string) {
	h.with(func(m *matcher) []csm.Event { return some(m.failed(item)) })
}

// SpeechAudio implements realtime.Handler.
func (h *hearer) SpeechAudio(seg audio.SegmentID, pcm []int16) { h.w.voice.audio(seg, pcm) }

// SpeechEnded implements realtime.Handler.
func (h *hearer) SpeechEnded(seg audio.SegmentID) { h.w.voice.ended(seg) }

// SpeechFailed implements realtime.Handler.
func (h *hearer) SpeechFailed(seg audio.SegmentID, code string) { h.w.voice.failed(seg, code) }

// Lost implements realtime.Handler.
func (h *hearer) Lost(code string, err error) {
	h.w.cfg.Log.Warn().Uint32("epoch", h.call.epoch).Str("code", code).Err(err).Msg("the connection is lost")
	h.w.port.Post(csm.ConnLost{Epoch: h.call.epoch, Code: csm.Code(code)})
}
