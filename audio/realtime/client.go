package realtime

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

// hangUpTimeout bounds the goodbye of Close.
const hangUpTimeout = 500 * time.Millisecond

// Client is one call to a realtime service.
type Client struct {
	cfg    Config
	signal *signaller
	peer   *peer
	up     *uplink
	count  counters
	expiry expiry

	ctx    context.Context // of the call: ends by Close or Lost
	cancel context.CancelFunc
	loops  sync.WaitGroup
	closed sync.Once

	canceled atomic.Int64 // highest generation that is not to be heard, -1 for none
	mu       sync.Mutex
	pending  []command
	wake     chan struct{}
	connect  ConnectTimes // written by Dial only
	path     string       // the same
}

// Dial connects: credential, signalling, network path, data channel and
// session. It returns when the session stands, or an *Error within
// cfg.ConnectTimeout or when ctx is done; nothing is left of a failed one.
func Dial(ctx context.Context, cfg Config, h Handler) (*Client, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	c := &Client{cfg: cfg, signal: newSignaller(cfg), up: newUplink(), wake: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.canceled.Store(-1)
	if step, err := c.dial(timed, h); err != nil {
		failure := dialError(ctx, step, err)
		_ = c.Close()
		return nil, failure
	}
	return c, nil
}

// dial takes the steps of the connection, and names the one that failed.
func (c *Client) dial(ctx context.Context, h Handler) (step string, err error) {
	begin := time.Now()
	last := begin
	lap := func(d *time.Duration) {
		now := time.Now()
		*d, last, c.connect.Total = now.Sub(last), now, now.Sub(begin)
	}

	if err := c.signal.authorise(ctx); err != nil {
		return "client_secrets", err
	}
	lap(&c.connect.Key)

	result := make(chan error, 1)
	if err := c.start(h, result); err != nil {
		return "media", &Error{Code: CodeConnectionFailed, Err: err, Message: "media: the connection cannot be set up on this machine"}
	}
	offer, err := c.peer.offer(ctx)
	if err != nil {
		return "offer", err
	}
	answer, err := c.signal.call(ctx, offer)
	if err != nil {
		return "calls", err
	}
	c.expiry.begin(time.Now(), c.signal.ahead, cmp.Or(c.signal.row.Session.Limit, c.cfg.SessionLimit))
	if err := c.peer.accept(answer); err != nil {
		return "calls", protocolError("calls: answer SDP does not match the offer")
	}
	lap(&c.connect.Signalling)

	for _, w := range []struct {
		step string
		up   <-chan struct{}
		time *time.Duration
	}{
		{"network path", c.peer.connected, &c.connect.ICE},
		{"data channel", c.peer.opened, &c.connect.Channel},
	} {
		select {
		case <-w.up:
			lap(w.time)
		case err := <-result:
			return w.step, err
		case <-ctx.Done():
			return w.step, ctx.Err()
		}
	}
	select {
	case err := <-result:
		c.path = c.peer.path()
		lap(&c.connect.Session)
		return "session.update", err
	case <-ctx.Done():
		return "session.update", ctx.Err()
	}
}

// start makes the peer connection and the goroutines of the call.
func (c *Client) start(h Handler, result chan<- error) error {
	enc, err := opus.NewEncoder(opus.Config{FEC: true})
	if err != nil {
		return err
	}
	down, err := newDownlink()
	if err != nil {
		return err
	}
	inbox := make(chan message, inboxSize)
	c.peer, err = newPeer(c.cfg, func(m message) {
		select {
		case inbox <- m:
		case <-c.ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	l := &loop{
		cfg: c.cfg, log: c.cfg.Log, handler: h, send: c.peer.channel.SendText, result: result, stop: c.cancel,
		outage:   func(p pathChange) { c.up.outage(c.ctx, p) },
		canceled: &c.canceled, count: &c.count, expiry: &c.expiry, down: down, partial: map[string]string{},
		speech: speech{markers: speaks(c.cfg.Dialect).HeardPositions},
	}
	c.loops.Go(func() { l.run(c.ctx, inbox, c.wake, c.commands) })
	c.loops.Go(func() { c.up.run(c.ctx, enc, c.peer.track.WriteRTP) })
	return nil
}

// WriteFrame takes the next 10 ms of microphone audio; two make a packet. It
// copies the frame, never blocks and allocates nothing. Only one goroutine may
// call it.
func (c *Client) WriteFrame(f *audio.Frame) { c.up.write(f) }

// SkipFrame takes the place of WriteFrame for a frame that need not be sent: the
// position advances, and the service hears nothing there. A frame that completes a
// packet is sent nevertheless.
func (c *Client) SkipFrame(f *audio.Frame) { c.up.skip(f) }

// Expires is when the service ends the session, by the local clock, and ok is
// false when that is not known. It is settled when Dial returns.
func (c *Client) Expires() (at time.Time, ok bool) {
	n := c.expiry.at.Load()
	return time.Unix(0, n), n != 0
}

// Speeds is Speeds of the service's dialect.
func (c *Client) Speeds() (slowest, fastest float64) { return Speeds(c.cfg.Dialect) }

// Position is how many samples were written so far: the position of the next.
func (c *Client) Position() int64 { return c.up.pos.Load() }

// Speak queues a segment behind those queued before. A segment of a cancelled
// generation is ignored.
func (c *Client) Speak(s Segment) {
	c.do(func(l *loop, now time.Time) {
		if l.wanted(s.ID) {
			l.speech.speak(s, now)
		}
	})
}

// CancelSpeech drops all segments of the generation gen and older ones, queued
// or running, at once and at the service. A call of the Handler that is
// running when CancelSpeech is called may still be about one of them.
func (c *Client) CancelSpeech(gen uint32) {
	for {
		old := c.canceled.Load()
		if int64(gen) <= old || c.canceled.CompareAndSwap(old, int64(gen)) {
			break
		}
	}
	c.do(func(l *loop, now time.Time) { l.speech.cancel(gen, now) })
}

// CommitInput ends the user's turn by hand: what was heard so far becomes an
// item and is transcribed. The id is the caller's own; Handler.InputEmpty gives
// it back.
func (c *Client) CommitInput(utterance uint64) {
	c.do(func(l *loop, _ time.Time) { l.post(inputCommit(utterance)) })
}

// ClearInput makes the service forget what it heard since the last turn.
func (c *Client) ClearInput() {
	c.do(func(l *loop, _ time.Time) { l.post(inputClear) })
}

// do hands a command to the loop. It never blocks: commands are few.
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

// JitterTarget is how much audio playback needs ahead so that the delays of this network
// do not interrupt it.
func (c *Client) JitterTarget() time.Duration { return time.Duration(c.count.target.Load()) }

// Stats returns the figures so far. It works after Close, too.
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
		Connect:          c.connect,
	}
}

// Close hangs up and waits for all goroutines of the call. No call of the
// Handler runs or comes after it. It is safe to call more than once, but not
// from the Handler.
func (c *Client) Close() (err error) {
	c.closed.Do(func() {
		c.cancel()
		c.loops.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), hangUpTimeout)
		defer cancel()
		c.signal.hangUp(ctx)
		if c.peer != nil {
			err = c.peer.close()
		}
	})
	return err
}
