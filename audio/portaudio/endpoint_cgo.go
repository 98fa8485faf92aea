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

// endpoint is what a Source and a Sink have in common: a device that is named,
// and a stream while it is open.
type endpoint struct {
	dir   direction
	tune  tuning
	moved chan struct{} // another device was chosen since Open; capacity 1
	s     atomic.Pointer[stream]

	mu       sync.Mutex
	id       string
	atServer bool // it was a device of the sound server when it was opened last
}

func newEndpoint(id string, dir direction) endpoint {
	return endpoint{dir: dir, id: id, tune: defaultTuning, moved: make(chan struct{}, 1)}
}

// Open implements audio.Source and audio.Sink. It returns within a quarter of a
// second where the sound server that had the device before is dead or hangs, and
// within five seconds in any case.
func (e *endpoint) Open(ctx context.Context) error {
	if err := errors.Join(ctx.Err(), e.Close()); err != nil {
		return err
	}
	e.mu.Lock()
	id, atServer := e.id, e.atServer
	select {
	case <-e.moved: // to what is opened now
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
	if s := e.s.Swap(nil); s != nil {
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
		// Started again, a stream is created again at the server, which PortAudio does
		// not survive when its device has gone away (see stream.start).
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

// Source is a microphone. Open, Run and Close are called one after the other.
type Source struct {
	endpoint
	zerosRefuse bool // a microphone that gives zeros is refused to us
}

// NewSource returns the microphone of an id, a name, or Default. Nothing is
// opened yet.
func NewSource(id string) *Source {
	return &Source{endpoint: newEndpoint(id, capture), zerosRefuse: runtime.GOOS == "darwin"}
}

// Run implements audio.Source. A gap in the positions is audio that was lost.
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

// Latency is the time between the microphone and deliver as it was reported when
// the device was opened. What a sound server tells with each callback is off by
// more than that while it guesses at its own clock; see Timing.
func (s *Source) Latency() time.Duration { return s.Timing().Reported }

// Sink is a loudspeaker. Open, Run and Close are called one after the other.
type Sink struct{ endpoint }

// NewSink returns the loudspeaker of an id, a name, or Default. Nothing is opened
// yet.
func NewSink(id string) *Sink { return &Sink{newEndpoint(id, playback)} }

// Run implements audio.Sink. render runs on the library's thread.
func (s *Sink) Run(ctx context.Context, render func(f *audio.Frame)) error {
	return s.run(ctx, func(st *stream) { st.render.Store(&render) }, func(*stream) error { return nil })
}

// Latency implements audio.Sink: as the device tells with each callback, and until
// it does as it was reported when it was opened.
func (s *Sink) Latency() time.Duration {
	t := s.Timing()
	if t.Measured > 0 {
		return t.Measured
	}
	return t.Reported
}

var (
	_ audio.Source   = (*Source)(nil)
	_ audio.Sink     = (*Sink)(nil)
	_ audio.Selector = (*Source)(nil)
	_ audio.Selector = (*Sink)(nil)
	_ audio.Timed    = (*Source)(nil)
	_ audio.Timed    = (*Sink)(nil)
)
