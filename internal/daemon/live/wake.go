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
	"github.com/agentvoice/agentvoice-daemon/internal/lease"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// waits is what follows the name of a window that has the microphone only to listen
// for its wake phrase. A conversation of another window goes before it, unasked.
const waits = " (waits for its wake phrase)"

// How long it is until the microphone is tried again that another window has. One
// that cannot be opened is tried less often each time, since that costs more.
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

// waker listens for the phrase that begins a conversation, while there is none and
// the settings want it. What it hears goes to the spotter and nowhere else; it
// holds the microphone's lease meanwhile, as that what it is.
//
// Its methods run on the devices' queue, so that it never has the microphone while
// a conversation does.
type waker struct {
	w      *World
	busy   bool // a conversation is under way
	muted  bool
	set    protocol.Settings
	cancel context.CancelFunc // nil while nothing listens
	done   chan struct{}      // closed when the last goroutine has ended

	mic sync.Mutex // held while the microphone is open, or is being opened
	hot atomic.Bool

	// Of the goroutine; of the queue while there is none.
	spotter Spotter
	phrase  string // of spotter
}

func newWaker(w *World) *waker {
	done := make(chan struct{})
	close(done)
	return &waker{w: w, done: done}
}

// configure takes other settings.
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

// conversation says that one begins, and returns when the microphone is free.
func (k *waker) conversation() {
	k.busy = true
	k.halt()
}

// mute closes the microphone while it is muted: nothing could be heard.
func (k *waker) mute(muted bool) {
	k.muted = muted
	if muted {
		k.halt()
	}
	k.listen()
}

// over says that there is none any more.
func (k *waker) over() {
	k.busy = false
	k.listen()
}

// listen begins to, where that is wanted and possible.
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

// halt stops listening, and returns when the microphone is free. A model that is
// being loaded is not waited for.
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
		var held *lease.HeldError
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case errors.Is(err, errSpotter):
			k.tell(k.spotter.Stats().Err)
			return
		case errors.As(err, &held) || time.Since(begin) > wakeRetryMax: // or it was had until now
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

// load makes the spotter of a phrase, which takes a fraction of a second.
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

// heard begins a conversation. It runs on the spotter's goroutine, which may be
// behind: what it hears of the time before a conversation counts no more.
func (k *waker) heard() {
	if k.hot.CompareAndSwap(true, false) {
		k.w.cfg.Log.Info().Msg("the wake phrase was heard")
		k.w.port.Post(csm.UserStart{})
	}
}

// errSpotter says that the spotter's engine failed.
var errSpotter = errors.New("the engine of the wake phrase failed")

// hear has the microphone until ctx is done, somebody else needs it, or it is lost.
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
	defer func() { _ = source.Close() }() // also one that is half open
	if err := source.Open(ctx); err != nil {
		return err
	}
	k.hot.Store(true)
	defer k.hot.Store(false)
	defer k.w.port.Waking(false) // before the device is closed and free for others
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

// claim gets the microphone's lease, if nobody has it, and has stop called when
// somebody takes it.
func (k *waker) claim(ctx context.Context, stop context.CancelCauseFunc) (release func(), err error) {
	if k.w.cfg.Holder == "" {
		return func() {}, nil
	}
	l, err := lease.Acquire(ctx, lease.Holder{Name: k.w.cfg.Holder + waits})
	var held *lease.HeldError
	switch {
	case errors.As(err, &held):
		return nil, err
	case err != nil: // no folder for it, as for a conversation
		return func() {}, nil
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-l.Lost():
			stop(&lease.HeldError{})
		case <-ended:
		}
	}()
	return func() { close(ended); <-watched; l.Release() }, nil
}

// yields says whether who has the microphone only waits for its wake phrase.
func yields(h lease.Holder) bool { return strings.HasSuffix(h.Name, waits) }

// tell tells the user why the phrase is not listened for.
func (k *waker) tell(err error) {
	code := protocol.CodeEngineMissing
	var phrase *wake.PhraseError
	if errors.As(err, &phrase) {
		code = protocol.CodeInvalidParams
	}
	k.w.cfg.Log.Error().Err(err).Msg("the wake phrase is not listened for")
	k.w.port.Warn(code, err.Error())
}
