package realtime

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// socketRate is the rate of audio in events, unless a session.update changes it.
	socketRate = 24000
	// socketPing is the ping interval, and socketSilence the maximum time without a
	// sign of life. The service may have to read much audio before it replies.
	socketPing    = time.Second
	socketSilence = 4 * time.Second
	// socketUnsent is the maximum number of unsent events, not counting audio.
	socketUnsent = 256
	// socketGap is how much uncaptured audio is sent as silence in one event.
	socketGap = audio.SampleRate / 2
)

// socket is the WebSocket side of a call: everything is an event, in a single order.
type socket struct {
	conn   *websocket.Conn
	up     *uplink
	post   func(message)
	down   deltas
	events chan []byte

	open    chan struct{} // closed when conn is set
	ctx     context.Context
	cancel  context.CancelFunc // breaks the connection
	workers sync.WaitGroup
	ended   sync.Once

	sent  atomic.Int64 // position after the last sent audio
	heard atomic.Int64 // position up to which the service has certainly read
	alive atomic.Int64 // UnixNano of the service's last sign of life
}

func newSocket(up *uplink, post func(message)) (*socket, error) {
	s := &socket{up: up, post: post, events: make(chan []byte, socketUnsent), open: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	var err error
	s.down.resampler, err = audio.NewResampler(socketRate, audio.SampleRate)
	return s, err
}

// connect implements transport.
func (s *socket) connect(ctx context.Context, signal *signaller) (step string, err error) {
	ctx, cancel := signal.patience(ctx)
	defer cancel()
	if s.conn, err = signal.socket(ctx); err != nil {
		return stepSocket, err
	}
	s.conn.SetReadLimit(maxEvent)
	s.live()
	s.post(message{kind: msgOpen})
	close(s.open)
	s.workers.Go(s.read)
	s.workers.Go(s.watch)
	return "", nil
}

// live records a sign of life.
func (s *socket) live() { s.alive.Store(time.Now().UnixNano()) }

// progress records that part of an event arrived, because a long event takes a while on
// a slow network.
type progress struct {
	io.Reader
	of *socket
}

// Read implements io.Reader.
func (p progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.of.live()
	return n, err
}

// read handles incoming messages until the connection ends. A message that is not text
// counts as malformed.
func (s *socket) read() {
	for {
		kind, r, err := s.conn.Reader(s.ctx)
		var event []byte
		if err == nil {
			event, err = io.ReadAll(progress{r, s})
		}
		if err != nil {
			s.gone(Closed(err))
			return
		}
		if kind != websocket.MessageText {
			event = nil
		}
		s.post(message{kind: msgEvent, event: event})
	}
}

// watch detects a dead path to the service, and tracks how far the service has read the
// audio: its pong follows everything sent before the ping.
func (s *socket) watch() {
	tick := time.NewTicker(socketPing)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		sent := s.sent.Load()
		ctx, cancel := audio.WithTimeout(s.ctx, socketSilence) // not while this process is late
		err := s.conn.Ping(ctx)
		cancel()
		switch {
		case err == nil:
			s.live()
			s.heard.Store(sent)
		case errors.Is(err, net.ErrClosed), s.ctx.Err() != nil:
			return
		case time.Since(time.Unix(0, s.alive.Load())) >= socketSilence:
			s.gone(&Error{Code: CodeConnectionFailed, Retryable: true, Message: "no answer from the service for too long; connect again"})
			return
		}
	}
}

// gone reports the end of the connection, once.
func (s *socket) gone(err *Error) {
	s.ended.Do(func() {
		s.post(message{kind: msgGone, err: err, unheard: audio.Duration(s.up.pos.Load() - s.heard.Load())})
	})
}

// closeCodes are the status codes of RFC 6455, section 7.4, and of its registry that
// have a specific meaning.
var closeCodes = map[websocket.StatusCode]string{
	websocket.StatusProtocolError:           CodeProtocolError,
	websocket.StatusUnsupportedData:         CodeProtocolError,
	websocket.StatusInvalidFramePayloadData: CodeProtocolError,
	websocket.StatusMandatoryExtension:      CodeProtocolError,
	websocket.StatusPolicyViolation:         CodeAccessDenied,
	websocket.StatusTryAgainLater:           CodeRateLimited,
	3000:                                    CodeAuthentication, // unauthorized
	3003:                                    CodeAccessDenied,   // forbidden
}

// Closed maps the end of a WebSocket; nil means that no reason was given.
func Closed(err error) *Error {
	status := websocket.CloseStatus(err)
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return protocolError("websocket: the service sent an event of more than %d bytes", maxEvent)
	case status < 0 || status == websocket.StatusNormalClosure:
		return nil
	}
	e := &Error{Code: CodeConnectionFailed, Retryable: true}
	if code := closeCodes[status]; code != "" {
		e.Code, e.Retryable = code, code == CodeRateLimited
	}
	e.Message = fmt.Sprintf("websocket: the service closed the connection with status %d; %s", status, remedy(e.Code))
	return e
}

// send implements transport.
func (s *socket) send(event []byte) error {
	select {
	case s.events <- event:
		return nil
	default:
		return errors.New("the service does not take events")
	}
}

// carry implements transport. Audio captured before an event is sent before it.
func (s *socket) carry(ctx context.Context, u *uplink) {
	select {
	case <-s.open:
	case <-ctx.Done():
		return
	}
	in, err := newAppender()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case p := <-u.full:
			err = s.append(ctx, in, p)
			continue
		case event := <-s.events:
			for waiting := true; waiting && err == nil; {
				select {
				case p := <-u.full:
					err = s.append(ctx, in, p)
				default:
					waiting = false
				}
			}
			if err == nil {
				err = s.conn.Write(ctx, websocket.MessageText, event)
			}
		}
	}
}

// append sends a microphone packet, preceded by silence for uncaptured audio, because
// the service derives positions from the audio it receives.
func (s *socket) append(ctx context.Context, in *appender, p *uplinkPacket) error {
	pos := p.pos
	for gap := pos - in.at; gap > 0; gap = pos - in.at {
		if err := s.conn.Write(ctx, websocket.MessageText, in.event(make([]int16, min(gap, socketGap)))); err != nil {
			s.up.free <- p
			return err
		}
	}
	event := in.event(p.frames[0][:], p.frames[1][:])
	s.up.free <- p
	if err := s.conn.Write(ctx, websocket.MessageText, event); err != nil {
		s.up.dropped.Add(1)
		return err
	}
	s.up.sent.Add(1)
	s.sent.Store(pos + packetSamples)
	return nil
}

// voice implements transport.
func (s *socket) voice() voice { return &s.down }

// clear implements transport as a no-op, because the service has already sent
// everything it generated.
func (s *socket) clear(func(clientEvent) bool) {}

// path implements transport.
func (s *socket) path() string { return PathWebSocket }

// close implements transport. It does not wait for a service that does not complete the
// closing handshake.
func (s *socket) close() (err error) {
	if s.conn != nil {
		t := time.AfterFunc(hangUpTimeout, s.cancel)
		_ = s.conn.Close(websocket.StatusNormalClosure, "") // may already be broken
		t.Stop()
	}
	s.cancel()
	s.workers.Wait()
	return nil
}

// appender encodes microphone audio as events.
type appender struct {
	resampler *audio.Resampler
	at        int64 // position after the last input
	pcm       []int16
	raw, buf  []byte
}

func newAppender() (*appender, error) {
	r, err := audio.NewResampler(audio.SampleRate, socketRate)
	return &appender{resampler: r}, err
}

// event returns the input_audio_buffer.append for the next samples. It is valid until
// the next call.
func (a *appender) event(pcm ...[]int16) []byte {
	a.pcm, a.raw = a.pcm[:0], a.raw[:0]
	for _, p := range pcm {
		a.at += int64(len(p))
		a.pcm = a.resampler.Process(a.pcm, p)
	}
	for _, v := range a.pcm {
		a.raw = binary.LittleEndian.AppendUint16(a.raw, uint16(v))
	}
	a.buf = append(a.buf[:0], `{"type":"input_audio_buffer.append","audio":"`...)
	a.buf = base64.StdEncoding.AppendEncode(a.buf, a.raw)
	return append(a.buf, `"}`...)
}
