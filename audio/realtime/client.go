package realtime

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// hangUpTimeout limits how long Close waits for the hang-up request.
const hangUpTimeout = 500 * time.Millisecond

// Client is one call to a realtime service.
type Client struct {
	cfg    Config
	signal *signaller
	link   transport
	up     *uplink
	count  counters
	expiry expiry

	ctx    context.Context // of the call; done after Close or Lost
	cancel context.CancelFunc
	loops  sync.WaitGroup
	closed sync.Once

	canceled atomic.Int64 // highest cancelled generation, or -1
	mu       sync.Mutex
	pending  []command
	wake     chan struct{}
	path     string // written by Dial only
	fallback bool   // the same
}

// Dial connects: credential, signalling, network path, data channel and session. If the
// network blocks media and the service supports it, Dial connects over WebSocket. It
// returns when the session is established, or an *Error within cfg.ConnectTimeout or
// when ctx is done. A failed Dial releases all resources.
func Dial(ctx context.Context, cfg Config, h Handler) (*Client, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	var left sync.WaitGroup // goroutines of transports that did not connect
	defer left.Wait()
	row, _ := provider.Of(string(cfg.Dialect)) // the name was validated
	network, begun := cfg.Networks.here(), time.Now()
	var failure *Error
	blocked := true // unless the service itself refuses the first transport
	kinds := cfg.Networks.order(network, row.Session.Transports)
	for i, kind := range kinds {
		c := newClient(cfg, newSignaller(cfg, begun, i+1 < len(kinds)))
		step, err := c.dial(timed, kind, h)
		if err == nil {
			c.fallback = blocked && kind != row.Session.Transports[0]
			cfg.Networks.connected(network, c.fallback)
			return c, nil
		}
		failure = worse(failure, dialError(ctx, step, err))
		c.stop()
		left.Go(func() { _ = c.Close() })
		blocked = blocked && step != stepCalls
		if timed.Err() != nil || !otherMayConnect(step, failure) {
			break
		}
	}
	return nil, failure
}

func newClient(cfg Config, s *signaller) *Client {
	c := &Client{cfg: cfg, signal: s, up: newUplink(), wake: make(chan struct{}, 1)}
	s.expiry = &c.expiry
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.canceled.Store(-1)
	return c
}

// dial performs the steps of the connection and returns the name of a failed step.
func (c *Client) dial(ctx context.Context, kind provider.Transport, h Handler) (step string, err error) {
	result := make(chan error, 1)
	if err := c.start(kind, h, result); err != nil {
		return stepMedia, &Error{Code: CodeConnectionFailed, Err: err, Message: "media: the connection cannot be set up on this machine"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)() // the loop gave up
	step, err = c.link.connect(ctx, c.signal)
	if err == nil {
		step = stepSession
		select {
		case err := <-result:
			c.path = c.link.path()
			c.signal.lap(&c.signal.took.Session)
			return step, err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	select {
	case known := <-result: // the loop gave up, and says why
		return step, cmp.Or(known, err)
	default:
		return step, err
	}
}

// start creates the transport and the goroutines of the call.
func (c *Client) start(kind provider.Transport, h Handler, result chan<- error) error {
	inbox := make(chan message, inboxSize)
	link, err := newTransport(kind, c.cfg, c.up, func(m message) {
		select {
		case inbox <- m:
		case <-c.ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	c.link = link
	l := &loop{
		cfg: c.cfg, log: c.cfg.Log, handler: h, link: link, voice: link.voice(), result: result, stop: c.cancel,
		outage:   func(p pathChange) { c.up.outage(c.ctx, p) },
		canceled: &c.canceled, count: &c.count, expiry: &c.expiry, metered: &c.signal.metered, partial: map[string]string{},
		unnamed: c.signal.row.Session.Unnamed,
		speech:  speech{markers: speaks(c.cfg.Dialect).HeardPositions, proves: !speaks(c.cfg.Dialect).Verbatim, named: link.voice().names()},
	}
	if isLive(c.cfg.Dialect) {
		l.live, l.speech.free = &live{}, true
	}
	c.loops.Go(func() { l.run(c.ctx, inbox, c.wake, c.commands) })
	c.loops.Go(func() { link.carry(c.ctx, c.up) })
	return nil
}

// WriteFrame sends the next 10 ms of microphone audio; two frames make a packet. It
// copies the frame, never blocks and does not allocate. Only one goroutine may call it.
func (c *Client) WriteFrame(f *audio.Frame) { c.up.write(f) }

// SkipFrame replaces WriteFrame for a frame that need not be sent: the position
// advances, and the service receives nothing for it. A frame that completes a packet is
// still sent.
func (c *Client) SkipFrame(f *audio.Frame) { c.up.skip(f) }

// Expires returns when the service ends the session, by the local clock; ok is false if
// unknown. The value is final when Dial returns.
func (c *Client) Expires() (at time.Time, ok bool) {
	n := c.expiry.at.Load()
	return time.Unix(0, n), n != 0
}

// Speeds returns the speed range of the service's dialect.
func (c *Client) Speeds() (slowest, fastest float64) { return Speeds(c.cfg.Dialect) }

// Position returns the number of samples written so far, which is the position of the
// next one.
func (c *Client) Position() int64 { return c.up.pos.Load() }

// Speak appends a segment to the queue. Segments of a cancelled generation are ignored.
func (c *Client) Speak(s Segment) {
	c.do(func(l *loop, now time.Time) {
		if l.wanted(s.ID) {
			l.speech.speak(s, now)
		}
	})
}

// CancelSpeech immediately drops all segments of generation gen and older, queued or
// running, also at the service. A Handler call that is already running when
// CancelSpeech is called may still concern one of them.
func (c *Client) CancelSpeech(gen uint32) {
	for {
		old := c.canceled.Load()
		if int64(gen) <= old || c.canceled.CompareAndSwap(old, int64(gen)) {
			break
		}
	}
	c.do(func(l *loop, now time.Time) { l.speech.cancel(gen, now) })
}

// CommitInput ends the user's turn: the audio so far becomes an item and is transcribed. The
// caller chooses the id, which Handler.InputCommitted and InputEmpty return. A commit overtakes audio
// that is late, for example after an outage; the embedded server waits for the audio before the
// position end. With found, it commits only what its turn detection has found before that.
func (c *Client) CommitInput(utterance uint64, end int64, found bool) {
	c.do(func(l *loop, _ time.Time) { l.commit(utterance, end, found) })
}

// HoldInput says that CommitInput ends the utterance of an item, and no pause. Only the embedded server
// takes that.
func (c *Client) HoldInput(item string) {
	c.do(func(l *loop, _ time.Time) { l.post(inputHold(item)) })
}

// ForgetInput is ClearInput for audio in which nobody spoke. It does nothing while the network is down:
// it would take what is said until it arrives.
func (c *Client) ForgetInput() {
	c.do(func(l *loop, _ time.Time) {
		if !l.path.underWay() && len(l.late) == 0 {
			l.post(inputClear)
		}
	})
}

// ClearInput makes the service discard the audio received since the last turn.
func (c *Client) ClearInput() {
	c.do(func(l *loop, _ time.Time) { l.input(inputClear) })
}

// do passes a command to the loop. It never blocks, because commands are rare.
func (c *Client) do(f command) {
	c.mu.Lock()
	c.pending = append(c.pending, f)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Client) commands() []command {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending
	c.pending = nil
	return p
}

// JitterTarget returns how much audio playback must buffer so that this network's
// delays do not interrupt it.
func (c *Client) JitterTarget() time.Duration { return time.Duration(c.count.target.Load()) }

// Stats returns the current figures. It also works after Close.
func (c *Client) Stats() Stats {
	return Stats{
		PacketsSent:      c.up.sent.Load(),
		PacketsDropped:   c.up.dropped.Load(),
		PacketsResent:    c.up.resent.Load(),
		PacketsReceived:  c.count.received.Load(),
		PacketsLost:      c.count.lost.Load(),
		PacketsConcealed: c.count.concealed.Load(),
		PacketsLate:      c.count.late.Load(),
		PacketsBroken:    c.count.broken.Load(),
		Jitter:           time.Duration(c.count.jitter.Load()),
		JitterTarget:     time.Duration(c.count.target.Load()),
		Unsolicited:      c.count.unsolicited.Load(),
		Mismatches:       c.count.mismatches.Load(),
		Malformed:        c.count.malformed.Load(),
		ServiceErrors:    c.count.serviceErrors.Load(),
		Path:             c.path,
		Fallback:         c.fallback,
		Connect:          c.signal.took,
	}
}

// stop ends the goroutines of the call. No Handler call runs or starts after it
// returns.
func (c *Client) stop() {
	c.cancel()
	c.loops.Wait()
}

// Close hangs up and waits for all goroutines of the call. No Handler call runs or
// starts after it returns. It is safe to call more than once, but not from the Handler.
func (c *Client) Close() (err error) {
	c.closed.Do(func() {
		c.stop()
		ctx, cancel := context.WithTimeout(context.Background(), hangUpTimeout)
		defer cancel()
		c.signal.hangUp(ctx)
		if c.link != nil {
			err = c.link.close()
		}
		c.signal.metered.close()
	})
	return err
}
