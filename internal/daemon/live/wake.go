package live

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// waits is appended to the name of a window that holds the microphone only to listen
// for its wake phrase. A conversation in another window preempts it without asking.
const waits = " (waits for its wake phrase)"

// Delays before the microphone is tried again. If another window holds it, the delay is
// constant; if it cannot be opened, it grows, since an attempt costs more.
const (
	wakeRetry    = time.Second
	wakeRetryMax = 30 * time.Second
)

// Spotter listens for a phrase. *wake.Spotter is one.
type Spotter interface {
	Push(pos int64, f *audio.Frame) bool
	Stats() wake.Stats
	Close() error
}

// waker listens for the phrase that begins a conversation, outside of conversations and
// if the settings enable it. Its audio goes to the spotter only. Meanwhile it holds the
// microphone's lease and is marked as a waker there.
//
// Its methods run on the devices' queue, so that it never holds the microphone during a
// conversation.
type waker struct {
	w      *World
	busy   bool // a conversation is in progress
	muted  bool
	set    protocol.Settings
	cancel context.CancelFunc // nil while it is not listening
	done   chan struct{}      // closed when the last goroutine has ended

	mic sync.Mutex // held while the microphone is open or being opened
	hot atomic.Bool

	// Used by the goroutine, or by the queue while there is none.
	spotter Spotter
	phrase  string // that the spotter listens for
}

func newWaker(w *World) *waker {
	done := make(chan struct{})
	close(done)
	return &waker{w: w, done: done}
}

// configure applies changed settings.
func (k *waker) configure(set protocol.Settings) {
	same := k.set.Wake == set.Wake && k.set.Audio.InputDevice == set.Audio.InputDevice
	k.set = set
	if same && k.cancel != nil {
		return
	}
	k.halt()
	if !set.Wake.Enabled && k.w.cfg.Spotter != nil {
		k.unload()
	}
	k.listen()
}

// conversation handles the beginning of a conversation, and returns when the microphone
// is free.
func (k *waker) conversation() {
	k.busy = true
	k.halt()
}

// mute closes the microphone while it is muted, since nothing could be heard.
func (k *waker) mute(muted bool) {
	k.muted = muted
	if muted {
		k.halt()
	}
	k.listen()
}

// over handles the end of a conversation.
func (k *waker) over() {
	k.busy = false
	k.listen()
}

// listen starts listening if that is enabled and possible.
func (k *waker) listen() {
	if k.busy || k.muted || !k.set.Wake.Enabled || k.w.cfg.Spotter == nil || k.cancel != nil {
		return
	}
	var ctx context.Context
	ctx, k.cancel = context.WithCancel(context.Background())
	before, done, set := k.done, make(chan struct{}), k.set
	k.done = done
	go func() {
		defer close(done)
		<-before
		k.run(ctx, set)
	}()
}

// halt stops listening and returns when the microphone is free. It does not wait for a
// model that is being loaded.
func (k *waker) halt() {
	if k.cancel == nil {
		return
	}
	k.cancel()
	k.cancel = nil
	k.mic.Lock()
	k.mic.Unlock() //nolint:staticcheck // whoever had it is done
}

// unload frees the engine.
func (k *waker) unload() {
	<-k.done
	if k.spotter != nil {
		_ = k.spotter.Close()
		k.spotter = nil
	}
}

func (k *waker) shut() {
	k.busy = true
	k.halt()
	k.unload()
}

// run listens until ctx is done or a recording has ended.
func (k *waker) run(ctx context.Context, set protocol.Settings) {
	if err := k.load(set.Wake.Phrase); err != nil {
		k.tell(err)
		return
	}
	for wait := wakeRetry; ctx.Err() == nil; {
		begin := time.Now()
		err := k.hear(ctx, set)
		var held *miclock.HeldError
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case errors.Is(err, errSpotter):
			k.tell(k.spotter.Stats().Err)
			return
		case errors.As(err, &held) || time.Since(begin) > wakeRetryMax: // or it worked until now
			wait = wakeRetry
		case wait == wakeRetry:
			k.w.cfg.Log.Warn().Err(err).Msg("microphone unavailable for the wake phrase; retrying")
			fallthrough
		default:
			wait = min(2*wait, wakeRetryMax)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// load creates the spotter of a phrase, which takes a fraction of a second.
func (k *waker) load(phrase string) error {
	if k.spotter != nil && k.phrase == phrase && k.spotter.Stats().Err == nil {
		return nil
	}
	if k.spotter != nil {
		_ = k.spotter.Close()
	}
	s, err := k.w.cfg.Spotter(phrase, k.heard)
	if err != nil {
		k.spotter = nil
		return err
	}
	k.spotter, k.phrase = s, phrase
	return nil
}

// heard begins a conversation. It runs on the spotter's goroutine, which may lag: a
// phrase from before a conversation is ignored.
func (k *waker) heard() {
	if k.hot.CompareAndSwap(true, false) {
		k.w.cfg.Log.Info().Msg("the wake phrase was heard")
		k.w.port.Post(csm.UserStart{})
	}
}

// errSpotter reports a failure of the spotter's engine.
var errSpotter = errors.New("the engine of the wake phrase failed")

// hear uses the microphone until ctx is done, another user needs it, or it is lost.
func (k *waker) hear(ctx context.Context, set protocol.Settings) error {
	k.mic.Lock()
	defer k.mic.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if ctx.Err() != nil {
		return nil
	}
	release, err := k.claim(ctx, stop)
	if err != nil {
		return err
	}
	defer release()
	source, err := k.w.cfg.Source(set)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // also closes a partially opened device
	if err := source.Open(ctx); err != nil {
		return err
	}
	k.hot.Store(true)
	defer k.hot.Store(false)
	defer k.w.port.Waking(false) // before the device is closed and available to others
	frames := 0
	err = source.Run(ctx, func(pos int64, f *audio.Frame) {
		if frames == 0 {
			k.w.port.Waking(true)
		}
		if !k.w.devices.muted.Load() { // halt follows
			k.spotter.Push(pos, f)
		}
		if frames++; frames%100 == 0 && k.spotter.Stats().Err != nil {
			stop(errSpotter)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// claim acquires the microphone's lease if it is free, and arranges for stop to be
// called when another window takes it.
func (k *waker) claim(ctx context.Context, stop context.CancelCauseFunc) (release func(), err error) {
	if k.w.cfg.Holder == "" {
		return func() {}, nil
	}
	l, err := miclock.Acquire(ctx, miclock.Holder{Name: k.w.cfg.Holder + waits})
	var held *miclock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, err
	case err != nil: // no folder for the lease, as in a conversation
		return func() {}, nil
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-l.Lost():
			stop(&miclock.HeldError{})
		case <-ended:
		}
	}()
	return func() { close(ended); <-watched; l.Release() }, nil
}

// yields reports whether the holder of the microphone only waits for its wake phrase.
func yields(h miclock.Holder) bool { return strings.HasSuffix(h.Name, waits) }

// tell tells the user why the phrase is not being listened for.
func (k *waker) tell(err error) {
	code := protocol.CodeEngineMissing
	var phrase *wake.PhraseError
	if errors.As(err, &phrase) {
		code = protocol.CodeInvalidParams
	}
	k.w.cfg.Log.Error().Err(err).Msg("the wake phrase is not listened for")
	k.w.port.Warn(code, err.Error())
}
