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
// if the settings enable it. Its audio goes to the spotter only, until the phrase was said;
// see overheard. Meanwhile it holds the microphone's lease and is marked as a waker there.
//
// Its methods run on the devices' queue, so that it never holds the microphone during a
// conversation.
type waker struct {
	w      *World
	busy   bool // a conversation is in progress
	muted  bool
	set    protocol.Settings
	checks bool               // the local model can confirm what the spotter is not sure of
	cancel context.CancelFunc // nil while it is not listening
	done   chan struct{}      // closed when the last goroutine has ended

	rejected atomic.Int64 // detections that did not count, since the daemon began

	mic     sync.Mutex                // held while the waker has the microphone or opens it
	current atomic.Pointer[overheard] // the open microphone, or nil

	// Used by the goroutine, or by the queue while there is none.
	spotter Spotter
	phrase  string // that the spotter listens for
	doubts  bool   // it also reports what it is not sure of
}

func newWaker(w *World) *waker {
	done := make(chan struct{})
	close(done)
	return &waker{w: w, done: done}
}

// configure applies changed settings.
func (k *waker) configure(set protocol.Settings) {
	same := k.set.Wake == set.Wake && k.set.Audio.InputDevice == set.Audio.InputDevice &&
		k.checks == k.w.comparer.available()
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

// conversation handles the beginning of a conversation. If the wake phrase began it, it
// takes over the returned microphone; else it returns when the microphone is free. One that
// begins with typed text does not ask to be heard.
func (k *waker) conversation(typed bool) *overheard {
	k.busy = true
	if o := k.current.Load(); o != nil && !typed && !k.muted {
		if _, said := o.phrase(); said && o.take() {
			k.cancel = nil // the conversation stops it
			return o
		}
	}
	k.halt()
	return nil
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
	k.checks = k.w.comparer.available()
	before, done, set, checks := k.done, make(chan struct{}), k.set, k.checks
	k.done = done
	go func() {
		defer close(done)
		<-before
		k.run(ctx, set, checks)
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
func (k *waker) run(ctx context.Context, set protocol.Settings, checks bool) {
	if err := k.load(set.Wake.Phrase, checks); err != nil {
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
func (k *waker) load(phrase string, doubts bool) error {
	if k.spotter != nil && k.phrase == phrase && k.doubts == doubts && k.spotter.Stats().Err == nil {
		return nil
	}
	if k.spotter != nil {
		_ = k.spotter.Close()
	}
	s, err := k.w.cfg.Spotter(phrase, doubts, k.heard)
	if err != nil {
		k.spotter = nil
		return err
	}
	k.spotter, k.phrase, k.doubts = s, phrase, doubts
	return nil
}

// heard handles a detection. It runs on the spotter's goroutine, which may lag: a
// phrase from before a conversation is ignored.
func (k *waker) heard(h wake.Heard) {
	switch o := k.current.Load(); {
	case o == nil:
	case h.Sure:
		k.begin(o, h)
	default:
		o.doubts.add(h)
	}
}

// begin begins a conversation, because the phrase was said.
func (k *waker) begin(o *overheard, h wake.Heard) {
	if o.heard(h) {
		k.w.cfg.Log.Info().Msg("the wake phrase was heard")
		k.w.port.Post(csm.UserStart{})
	}
}

// errSpotter reports a failure of the spotter's engine.
var errSpotter = errors.New("the engine of the wake phrase failed")

// hear uses the microphone until ctx is done, another user needs it, it is lost, or a
// conversation takes it over, which is no error.
func (k *waker) hear(ctx context.Context, set protocol.Settings) error {
	k.mic.Lock()
	defer k.mic.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	var o *overheard
	o = newOverheard(k.w, k.phrase, func(h wake.Heard) { k.begin(o, h) }, stop)
	if err := k.open(ctx, o, set); err != nil {
		cause := context.Cause(ctx) // another window may need the microphone already
		k.close(o)
		if cause != nil {
			return cause
		}
		return err
	}
	k.current.Store(o)
	go o.run(ctx, k.frames(o))
	select {
	case <-o.taken:
	case <-o.ended:
	}
	k.current.Store(nil)
	if !o.owner.CompareAndSwap(0, ownerNobody) {
		return nil // a conversation has it
	}
	cause := context.Cause(ctx)
	k.w.port.Waking(false) // before the device is closed and available to others
	k.close(o)
	if cause != nil {
		return cause
	}
	return o.err
}

// open opens the microphone, with its lease.
func (k *waker) open(ctx context.Context, o *overheard, set protocol.Settings) (err error) {
	if err = k.claim(ctx, o); err != nil {
		return err
	}
	if o.source, err = k.w.cfg.Source(set); err != nil {
		return err
	}
	return o.source.Open(ctx)
}

// close frees what open got, possibly only a part.
func (k *waker) close(o *overheard) {
	o.stop(nil)
	if o.source != nil {
		_ = o.source.Close() // also closes a partially opened device
	}
	o.kept.wipe()
	o.watch()
	o.lease.Release()
}

// frames returns the function that passes frames to the spotter.
func (k *waker) frames(o *overheard) func(int64, *audio.Frame) {
	spotter, frames := k.spotter, 0
	return func(pos int64, f *audio.Frame) {
		if frames == 0 {
			k.w.port.Waking(true)
		}
		if !o.muted.Load() { // halt follows
			spotter.Push(pos, f)
		}
		if frames++; frames%100 == 0 && spotter.Stats().Err != nil {
			o.stop(errSpotter)
		}
	}
}

// claim acquires the microphone's lease if it is free, and arranges for o to stop when
// another window takes it.
func (k *waker) claim(ctx context.Context, o *overheard) error {
	if k.w.cfg.Holder == "" {
		return nil
	}
	l, err := miclock.Acquire(ctx, miclock.Holder{Name: k.w.cfg.Holder + waits})
	var held *miclock.HeldError
	switch {
	case errors.As(err, &held):
		return err
	case err != nil: // no folder for the lease, as in a conversation
		return nil
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-l.Lost():
			o.stop(&miclock.HeldError{})
		case <-ended:
		}
	}()
	o.lease, o.watch = l, func() { close(ended); <-watched }
	return nil
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
