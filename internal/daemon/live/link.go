package live

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Retry policy of a dial.
const (
	dialAttempts   = 6 // for a first call and for a successor
	dialBackoff    = 200 * time.Millisecond
	maxDialBackoff = 5 * time.Second
)

// link is the connection to the realtime service and, while it is being replaced, its
// successor.
type link struct {
	w *World
	q *daemon.Queue

	// live is the call that frames and segments go to, or nil. The source's goroutine
	// writes frames and takes no lock.
	live atomic.Pointer[call]

	// Used by the queue only: the last failure; until when the service asked not to be
	// dialled again, which also applies to other epochs; and the instance that had a
	// call.
	refused struct {
		by    error
		until time.Time
	}
	stood uint32

	// deaf: the last voice detector could not be loaded, so the services end the turns.
	deaf atomic.Bool

	recent  preroll        // used by the source's goroutine only
	renewal sync.WaitGroup // one per established call
	// told: the user knows that audio goes over a WebSocket.
	told atomic.Bool

	mu       sync.Mutex
	next     *call              // established successor; replaces live when that is hung up
	cancel   context.CancelFunc // cancels the dial in progress
	dialling uint32             // epoch of the dial in progress, or 0
	forced   bool               // the service ended the session, and no call has been established since
	ended    map[string]int64   // counters of finished calls
}

// call is one open connection.
type call struct {
	link     *link
	instance uint32
	epoch    atomic.Uint32
	lost     bool // guarded by the link's mu
	client   Hearing
	voice    *reader
	hearer   *hearer
	settled  context.CancelFunc // ends its renewal
	// base is the captured position of the client's position 0. It changes when frames
	// were withheld.
	base atomic.Int64
	gate *gate // used by the source's goroutine only
}

func newLink(w *World) *link { return &link{w: w, q: w.queue("the connection")} }

// open dials under an epoch. It ends an existing call, unless it dials that call's
// successor. A successor that is already connected is used instead of a new call.
func (l *link) open(instance, epoch uint32, successor bool) {
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
			if l.promote(instance, epoch) {
				l.ready(instance, epoch)
				return
			}
			l.drop()
		}
		l.dial(ctx, instance, epoch, successor)
	})
}

// detects says whether the voice detector works. If it does not, a call whose turns only it could end is
// replaced by one in which the service ends them.
func (l *link) detects(works bool) {
	l.deaf.Store(!works)
	if works {
		return
	}
	l.q.Do(func() { // after a dial that does not know it
		if c := l.live.Load(); c != nil && c.hearer.judge != nil && !c.hearer.judge.settles {
			c.hearer.Lost(realtime.CodeConnectionLost, errors.New("the voice detector cannot be used"))
		}
	})
}

// promote makes the successor the live call under a new epoch and hangs up the previous
// call. It reports whether there was a working successor. It runs on the link's queue.
func (l *link) promote(instance, epoch uint32) bool {
	l.mu.Lock()
	c := l.next
	if c == nil || c.lost || c.instance != instance {
		l.mu.Unlock()
		return false
	}
	c.epoch.Store(epoch)
	old := l.live.Swap(c)
	l.next, l.dialling = nil, 0
	l.mu.Unlock()
	l.hangUp(old)
	return true
}

// ready reports that the call of an epoch is live.
func (l *link) ready(instance, epoch uint32) {
	l.stood = instance
	l.w.port.Post(csm.ConnReady{Epoch: epoch})
	l.renewed(instance)
}

// dial retries until a call is established, the failure is final, or stop is done.
func (l *link) dial(stop context.Context, instance, epoch uint32, successor bool) {
	ctx := stop
	if successor {
		timed, cancel := context.WithTimeout(stop, successorTimeout)
		defer cancel()
		ctx = timed
	}
	defer l.dialled(epoch)
	deadline := time.Now().Add(l.patience(instance, successor))
	err := l.refused.by
	attempts := dialAttempts
	if l.stood == instance && !successor { // a lost network may come back
		attempts = math.MaxInt
	}
	for attempt := range attempts {
		wait := time.Until(l.refused.until)
		if attempt > 0 {
			wait = max(wait, min(dialBackoff<<min(attempt-1, 10), maxDialBackoff))
		}
		if wait > 0 && time.Now().Add(wait).After(deadline) {
			break // another attempt would be too late
		}
		if !pause(ctx, wait) {
			break
		}
		if err = l.try(ctx, instance, epoch); err == nil {
			if successor {
				l.w.port.Post(csm.ConnReady{Epoch: epoch})
			} else {
				l.ready(instance, epoch)
			}
			return
		}
		var e *realtime.Error
		if errors.As(err, &e) {
			l.refused.by, l.refused.until = e, time.Now().Add(e.RetryAfter)
		}
		if e != nil && !e.Retryable || ctx.Err() != nil {
			break
		}
		l.w.cfg.Log.Warn().Uint32("epoch", epoch).Int("attempt", attempt+1).Err(err).Msg("the realtime service cannot be reached yet")
	}
	if stop.Err() != nil {
		return // told to stop: whoever did so does not wait for this epoch
	}
	code := csm.CodeConnectionFailed
	var e *realtime.Error
	if errors.As(err, &e) {
		code = csm.Code(e.Code)
	}
	if code == csm.CodeCallRejected && l.stood == instance {
		code = csm.CodeConnectionFailed // the address worked before: the service may come back
	}
	l.w.cfg.Log.Error().Uint32("epoch", epoch).Str("code", string(code)).Err(err).Msg("the realtime service cannot be reached")
	l.w.port.Fail(csm.ConnFailed{Epoch: epoch, Code: code}, err.Error())
}

// suspend lets the voice of this machine beside a session free its model while the conversation is
// suspended.
func (l *link) suspend(suspended bool) {
	if c := l.live.Load(); c != nil && c.voice != nil {
		c.voice.beside.suspend(suspended)
	}
}

// patience returns how long the core waits for a call: to start the conversation, to
// resume it, or to replace a working call.
func (l *link) patience(instance uint32, successor bool) time.Duration {
	set := l.w.port.Settings()
	switch {
	case successor:
		return successorTimeout
	case l.stood == instance:
		return set.Suspend.Max
	default:
		return set.Conversation.StartTimeout
	}
}

// dialled records the end of an epoch's dial.
func (l *link) dialled(epoch uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialling == epoch {
		l.dialling = 0
	}
}

func (l *link) try(ctx context.Context, instance, epoch uint32) error {
	set := l.w.port.Settings()
	c := &call{link: l, instance: instance, gate: newGate(set)}
	c.epoch.Store(epoch)
	c.hearer = newHearer(l.w, c, set)
	cfg, err := l.w.service.dialConfig(set, c.hearer.judge)
	if err != nil {
		return &realtime.Error{Code: realtime.CodeConnectionFailed, Message: err.Error()}
	}
	session, err := realtime.Dial(ctx, cfg, c.hearer)
	if err != nil {
		return err
	}
	if c.voice, err = l.w.service.newReader(set, session, cfg.Listens, c.hearer); err != nil {
		_ = session.Close() // it was not used
		return err
	}
	c.client = session
	if stats := session.Stats(); stats.Fallback && l.told.CompareAndSwap(false, true) {
		l.w.cfg.Log.Warn().Str("path", stats.Path).Msg("no media passes this network; the voice goes over a WebSocket")
		l.w.port.Warn(protocol.CodeVoiceOverWebSocket, "")
	}
	live, settled := context.WithCancel(context.Background())
	c.settled = settled
	l.renewal.Go(func() { l.renew(live, c) })
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

// close hangs up the call of an epoch, and its successor takes over at once. Epoch 0
// hangs up everything.
func (l *link) close(instance, epoch uint32) {
	l.stopDial(epoch)
	old := l.take(epoch)
	l.q.Do(func() {
		l.hangUp(old)
		l.hangUp(l.take(epoch)) // a call established meanwhile
		if epoch == 0 {
			l.drop()
		}
		l.w.port.Post(csm.ConnClosed{Instance: instance, Epoch: epoch})
	})
}

// stopDial cancels the dial in progress if it has that epoch; 0 matches any.
func (l *link) stopDial(epoch uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil && (epoch == 0 || epoch == l.dialling) {
		l.cancel()
	}
}

// take removes the call of an epoch from use and returns it, or nil. Later frames and
// segments go to its successor.
func (l *link) take(epoch uint32) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.live.Load()
	switch {
	case epoch == 0:
		return nil
	case c != nil && c.epoch.Load() == epoch:
		l.live.Store(l.next)
		l.next = nil
	case l.next != nil && l.next.epoch.Load() == epoch:
		c, l.next = l.next, nil
	default:
		c = nil
	}
	return c
}

// drop ends all calls. It runs on the link's queue.
func (l *link) drop() {
	l.mu.Lock()
	live, next := l.live.Swap(nil), l.next
	l.next = nil
	l.mu.Unlock()
	l.hangUp(live)
	l.hangUp(next)
}

// hangUp ends a call; nil is allowed. It runs on the link's queue.
func (l *link) hangUp(c *call) {
	if c == nil {
		return
	}
	c.settled()
	c.hearer.close()
	l.w.service.quit(c)
	defer l.count(c)
	if err := errors.Join(c.voice.Close(), c.client.Close()); err != nil {
		l.w.cfg.Log.Debug().Uint32("epoch", c.epoch.Load()).Err(err).Msg("the call did not end in order")
	}
}

// frame handles a frame whose first sample was captured at pos. possible says whether
// it may contain a voice. It runs on the source's goroutine.
func (c *call) frame(pos int64, f *audio.Frame, possible bool) {
	c.link.recent.replay(c, pos, c.client.WriteFrame)
	c.base.Store(c.gate.pass(pos, f, possible, c.client))
	c.link.recent.push(c, pos, f)
}

// commit asks the service to end the current utterance, unless it already has and the
// core does not know yet.
func (l *link) commit(epoch uint32) {
	if c := l.live.Load(); c != nil && c.epoch.Load() == epoch {
		c.hearer.commit()
	}
}

// clear asks the service to drop what was said since the last turn.
func (l *link) clear(epoch uint32) {
	if c := l.live.Load(); c != nil && c.epoch.Load() == epoch {
		c.hearer.clear()
	}
}

// count adds the counters of a finished call.
func (l *link) count(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = map[string]int64{}
	}
	addCounters(l.ended, c.client.Stats())
}

// counters returns the counters of all calls so far.
func (l *link) counters() map[string]int64 {
	all := map[string]int64{}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(all, l.ended)
	all["speech.underruns"] = l.w.voice.underruns.Load()
	all["wake.rejected"] = l.w.waker.rejected.Load()
	if c := l.live.Load(); c != nil {
		s := c.client.Stats()
		addCounters(all, s)
		all["realtime.jitterMs"], all["realtime.jitterTargetMs"] = s.Jitter.Milliseconds(), s.JitterTarget.Milliseconds()
	}
	return all
}

// addCounters adds a call's counters for a bug report.
func addCounters(to map[string]int64, s realtime.Stats) {
	for name, n := range map[string]uint64{
		"realtime.unsolicited": s.Unsolicited, "realtime.mismatches": s.Mismatches, "realtime.malformed": s.Malformed,
		"realtime.errors": s.ServiceErrors, "realtime.packetsLost": s.PacketsLost, "realtime.packetsDropped": s.PacketsDropped,
		"realtime.packetsReceived": s.PacketsReceived, "realtime.packetsConcealed": s.PacketsConcealed,
		"realtime.packetsLate": s.PacketsLate, "realtime.packetsResent": s.PacketsResent,
	} {
		to[name] += int64(n)
	}
	if s.Path != "" {
		to["realtime.calls."+s.Path]++
	}
}

func (l *link) shut() {
	l.stopDial(0)
	l.q.Close(l.drop)
	l.renewal.Wait()
}
