//go:build cgo

package portaudio

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// endpoint is the common part of Source and Sink: a device name, and a stream while
// it is open.
type endpoint struct {
	dir   direction
	tune  tuning
	moved chan struct{} // another device was selected since Open; capacity 1
	s     atomic.Pointer[stream]

	mu       sync.Mutex // also held to use the stream beside Run
	id       string
	atServer bool // the last opened device belonged to the sound server
}

func newEndpoint(id string, dir direction) endpoint {
	return endpoint{dir: dir, id: id, tune: defaultTuning, moved: make(chan struct{}, 1)}
}

// Open implements audio.Source and audio.Sink. It returns within a quarter of a
// second if the sound server of the last device is dead or hangs, and within five
// seconds in any case.
func (e *endpoint) Open(ctx context.Context) error {
	if err := errors.Join(ctx.Err(), e.Close()); err != nil {
		return err
	}
	e.mu.Lock()
	id, atServer := e.id, e.atServer
	select {
	case <-e.moved: // selected before this Open
	default:
	}
	e.mu.Unlock()
	s, err := openStream(ctx, id, e.dir, e.tune, atServer)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if e.id == id {
		e.atServer = s.server != nil
	}
	e.mu.Unlock()
	e.s.Store(s)
	return nil
}

// Close implements audio.Source and audio.Sink.
func (e *endpoint) Close() error {
	e.mu.Lock()
	s := e.s.Swap(nil)
	e.mu.Unlock()
	if s != nil {
		s.close()
	}
	return nil
}

// Select implements audio.Selector.
func (e *endpoint) Select(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id == e.id {
		return
	}
	e.id, e.atServer = id, false
	select {
	case e.moved <- struct{}{}:
	default:
	}
}

// Timing implements audio.Timed.
func (e *endpoint) Timing() audio.Timing {
	s := e.s.Load()
	if s == nil {
		return audio.Timing{}
	}
	return s.timing.timing(s.ring.lost.Load())
}

func (e *endpoint) run(ctx context.Context, prepare func(*stream), each func(*stream) error) error {
	s := e.s.Load()
	if s == nil {
		return unavailable(Default, errors.New("device is not open"), "open it first")
	}
	if s.ran {
		// Restarting a stream creates it again at the server, which crashes PortAudio
		// if the device has disappeared (see stream.start).
		pos := s.ring.pos
		if err := e.Open(ctx); err != nil {
			return err
		}
		s = e.s.Load()
		s.ring.pos = pos
	}
	s.ran = true
	prepare(s)
	return s.run(ctx, e.moved, func() error { return each(s) })
}

// Source is a microphone. Open, Run and Close must not run concurrently.
type Source struct {
	endpoint
	zerosRefuse bool // only zeros mean that access is denied
}

// NewSource returns the microphone with an id, a name, or Default. It does not open it.
func NewSource(id string) *Source {
	return &Source{endpoint: newEndpoint(id, capture), zerosRefuse: runtime.GOOS == "darwin"}
}

// Run implements audio.Source. A gap in the positions means lost audio.
func (s *Source) Run(ctx context.Context, deliver func(pos int64, f *audio.Frame)) error {
	gate := gate{open: !s.zerosRefuse}
	refused := false
	pass := func(pos int64, f *audio.Frame) {
		ok, no := gate.pass(f)
		refused = refused || no
		if ok {
			deliver(pos, f)
		}
	}
	return s.run(ctx, func(*stream) {}, func(st *stream) error {
		st.ring.drain(pass)
		if refused {
			return microphoneDenied(runtime.GOOS, st.id, errOnlyZeros)
		}
		return nil
	})
}

// Muted implements audio.Microphone. Only a sound server tells.
func (s *Source) Muted() bool {
	st := s.s.Load()
	return st != nil && st.muted.Load()
}

// Latency returns the delay from the microphone to deliver, as reported at opening.
// The delay that a sound server reports with each callback is less accurate until the
// server has estimated its clock; see Timing.
func (s *Source) Latency() time.Duration { return s.Timing().Reported }

// Sink is a speaker. Open, Run and Close must not run concurrently.
type Sink struct{ endpoint }

// NewSink returns the speaker with an id, a name, or Default. It does not open it.
func NewSink(id string) *Sink { return &Sink{newEndpoint(id, playback)} }

// Run implements audio.Sink. render runs on the library's thread.
func (s *Sink) Run(ctx context.Context, render func(f *audio.Frame)) error {
	return s.run(ctx, func(st *stream) { st.render.Store(&render) }, func(*stream) error { return nil })
}

// Rest implements audio.Rester.
func (s *Sink) Rest() { s.with((*stream).rest) }

// Wake implements audio.Rester.
func (s *Sink) Wake() { s.with((*stream).wake) }

// Rested implements audio.Rester.
func (s *Sink) Rested() (frames int) {
	s.with(func(s *stream) { frames = s.rested() })
	return frames
}

// with calls do with the open stream, which is not closed meanwhile.
func (s *Sink) with(do func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.s.Load(); st != nil {
		do(st)
	}
}

// Latency implements audio.Sink: as reported by the callbacks, or before the first
// one as reported at opening.
func (s *Sink) Latency() time.Duration {
	t := s.Timing()
	if t.Measured > 0 {
		return t.Measured
	}
	return t.Reported
}

var (
	_ audio.Microphone = (*Source)(nil)
	_ audio.Sink       = (*Sink)(nil)
	_ audio.Selector   = (*Source)(nil)
	_ audio.Selector   = (*Sink)(nil)
	_ audio.Rester     = (*Sink)(nil)
	_ audio.Timed      = (*Source)(nil)
	_ audio.Timed      = (*Sink)(nil)
)
