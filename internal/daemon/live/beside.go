package live

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/heap"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// beside is the local engine that speaks beside a session with a service. It is loaded for the first
// segment, or before, if that is certain to come. If it cannot be loaded, the next segment tries again. In a
// suspended conversation it is freed after a time, like the engines of the embedded server.
type beside struct {
	s       *service
	set     protocol.Settings
	certain bool

	using sync.Mutex // held while the engine speaks, and while it is freed
	mu    sync.Mutex
	// Guarded by mu.
	engine voice.Synthesizer // nil if it is not loaded
	rest   *time.Timer       // frees it; nil unless the conversation is suspended
	closed bool
}

func newBeside(s *service, set protocol.Settings, certain bool) *beside {
	b := &beside{s: s, set: set, certain: certain}
	b.prepare()
	return b
}

// prepare loads the engine if it is certain to speak.
func (b *beside) prepare() {
	if b.certain {
		go func() { _, _ = b.load() }() // the next segment gets the error
	}
}

func (b *beside) load() (voice.Synthesizer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.engine != nil:
		return b.engine, nil
	case b.closed:
		return nil, context.Canceled
	case b.s.w.cfg.Engines == nil:
		return nil, errors.New("this build has no local engines")
	}
	cfg, err := b.s.w.cfg.Engines(b.s.choice(b.set))
	if err != nil {
		return nil, err
	}
	b.engine, err = b.s.w.voice.speakers.of(cfg.Synthesizer)()
	return b.engine, err
}

// speak is a hosted.Speaker.
func (b *beside) speak(ctx context.Context, seg realtime.Segment, emit func([]int16, int) error) error {
	b.using.Lock()
	defer b.using.Unlock()
	engine, err := b.load()
	if err != nil {
		return err
	}
	name := b.s.w.speaker(b.set.Voice.Name)
	engine.SetRate(cmp.Or(seg.Speed, 1))
	return voice.SpeakPromptly(ctx, engine, name, seg.Text, emit)
}

// suspend frees the engine after a time, or has it ready again.
func (b *beside) suspend(suspended bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case suspended && b.rest == nil:
		b.rest = time.AfterFunc(cmp.Or(b.s.w.cfg.KeepModels, localrealtime.DefaultKeepEngines), func() {
			if b.free() == nil {
				heap.Return()
			}
		})
	case !suspended && b.rest != nil:
		b.rest.Stop()
		b.rest = nil
		b.prepare()
	}
}

// free closes the engine, if it is loaded and the conversation is still suspended.
func (b *beside) free() error {
	b.using.Lock()
	defer b.using.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine == nil || b.rest == nil {
		return nil
	}
	engine := b.engine
	b.engine = nil
	return engine.Close()
}

func (b *beside) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.rest != nil {
		b.rest.Stop()
		b.rest = nil
	}
	if b.engine == nil {
		return nil
	}
	engine := b.engine
	b.engine = nil
	return engine.Close()
}
