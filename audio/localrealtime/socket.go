package localrealtime

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
)

// Limits of a WebSocket.
const (
	pingEvery    = 20 * time.Second
	writeTimeout = 10 * time.Second
	// audioUnsent is how many bytes of events may be queued before response audio has
	// to wait.
	audioUnsent = 1 << 20
	// deltasPerSecond is the number of audio events per second of speech.
	deltasPerSecond = 10
	// A client that exceeds this event rate, after a burst, is read more slowly.
	socketEventRate  = 500
	socketEventBurst = 2000
)

// socket is the transport over WebSocket: everything is an event, and the client paces
// the audio.
type socket struct {
	call  *call
	conn  *websocket.Conn
	input socketInput
	live  *live        // nil for a call of the Realtime protocol
	taken atomic.Int64 // events of the client; odd while one is being taken

	mu     sync.Mutex
	queue  [][]byte
	unsent int           // bytes queued or being written
	wake   chan struct{} // signals that queue grew
	room   chan struct{} // signals that unsent shrank
	idle   func()        // called once, when unsent is zero
}

// newSocket creates the transport of a call. as configures a Live session; it is nil
// for the Realtime protocol.
func newSocket(c *call, conn *websocket.Conn, as *liveConfig) *socket {
	conn.SetReadLimit(maxSocketEventBytes)
	s := &socket{call: c, conn: conn, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	s.input = socketInput{call: c, windows: windower{emit: func(pcm []int16) bool {
		return c.recognition.awaitRoom(c.ctx) && c.hear(pcm)
	}}}
	if as != nil {
		s.live = newLive(c, *as, s.write)
	}
	return s
}

// start implements transport.
func (s *socket) start() {
	c := s.call
	c.workers.Go(func() {
		if c.post(func() { c.happened(machine.Opened) }) {
			s.read()
		}
	})
	c.workers.Go(s.flush)
	c.workers.Go(s.ping)
}

// read passes on the client's events in order until the connection or the call ends. If
// recognition has a large backlog, read waits, and TCP backpressure slows the client
// down.
func (s *socket) read() {
	c := s.call
	defer c.hangUp()
	pace := rate.NewLimiter(socketEventRate, socketEventBurst)
	for {
		// The library closes the connection with the right status for messages over the
		// limit.
		kind, data, err := s.conn.Read(context.Background())
		s.taken.Add(1)
		if err != nil || pace.Wait(c.ctx) != nil {
			return
		}
		s.take(kind, data)
		s.taken.Add(1)
	}
}

// take handles one event of the client.
func (s *socket) take(kind websocket.MessageType, data []byte) {
	c := s.call
	var err error
	var ev clientEvent
	if kind != websocket.MessageText {
		err = invalidf("invalid_value", "", "binary messages are not taken: send events as text, with audio in base64")
	} else if e := json.Unmarshal(data, &ev); e != nil {
		err = decodeError(e, "")
	}
	if s.live != nil && err == nil {
		if ev.Type != liveAppend {
			c.post(func() { s.live.receive(data) })
			return
		}
		ev.Type = "input_audio_buffer.append"
	}
	if err == nil {
		err = s.input.take(ev)
	}
	if err != nil {
		c.post(func() { c.refuse(ev, err) })
		return
	}
	if ev.Type == "input_audio_buffer.append" {
		return
	}
	handled := make(chan struct{})
	c.post(func() { c.onEvent(ev); close(handled) })
	if ev.Type == "session.update" {
		// Audio after this event has the new format.
		select {
		case <-handled:
		case <-c.ctx.Done():
		}
	}
}

// flush writes the queued events.
func (s *socket) flush() {
	c := s.call
	defer c.hangUp()
	for {
		s.mu.Lock()
		var next []byte
		if len(s.queue) > 0 {
			next, s.queue = s.queue[0], s.queue[1:]
		}
		s.mu.Unlock()
		if next == nil {
			select {
			case <-s.wake:
				continue
			case <-c.ctx.Done():
				return
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		err := s.conn.Write(ctx, websocket.MessageText, next)
		cancel()
		if err != nil {
			return
		}
		s.sent(len(next))
	}
}

// sent accounts for written bytes.
func (s *socket) sent(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsent -= n
	select {
	case s.room <- struct{}{}:
	default:
	}
	if s.unsent == 0 && s.idle != nil {
		s.idle()
		s.idle = nil
	}
}

// ping detects a client that disappeared without closing the connection. A pong comes behind what the
// client has sent, so one is not missed while events are taken.
func (s *socket) ping() {
	c := s.call
	tick := time.NewTicker(c.srv.pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.srv.pingEvery)
		before := s.taken.Load()
		err := s.conn.Ping(ctx)
		cancel()
		if now := s.taken.Load(); err != nil && now == before && now%2 == 0 {
			c.hangUp()
			return
		}
	}
}

// send implements transport.
func (s *socket) send(event []byte) error {
	if s.live != nil {
		return s.live.translate(event)
	}
	return s.write(event)
}

// write queues an event.
func (s *socket) write(event []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsent+len(event) > maxUnsent {
		return errUnread
	}
	s.queue = append(s.queue, event)
	s.unsent += len(event)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// whenSent implements transport.
func (s *socket) whenSent(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsent == 0 {
		f()
		return
	}
	s.idle = f
}

// awaitRoom waits until the client has read enough, or returns ctx's error.
func (s *socket) awaitRoom(ctx context.Context) error {
	for {
		s.mu.Lock()
		full := s.unsent > audioUnsent
		s.mu.Unlock()
		if !full {
			return ctx.Err()
		}
		select {
		case <-s.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close implements transport.
func (s *socket) close() error {
	return s.conn.Close(websocket.StatusNormalClosure, "")
}

// kill implements transport as a no-op: later audio is already discarded as stale.
func (s *socket) kill(*response) {}

// played implements transport. Only the client knows how much was played.
func (s *socket) played(*response) (int64, bool) { return 0, false }

// away implements transport. TCP delivers in order or not at all.
func (*socket) away() bool { return false }

// end implements transport.
func (s *socket) end(r *response) {
	s.call.post(func() { s.call.onAnswer(machine.AudioStopped, r, news{}) })
}

// speech implements transport.
func (s *socket) speech(r *response) speechWriter { return &deltaWriter{socket: s, response: r} }

// deltaWriter sends the audio of one response in events.
type deltaWriter struct {
	socket    *socket
	response  *response
	resampler *audio.Resampler // from rate; nil before the first sample
	rate      int
	pcm       []int16 // at the rate of the response
}

func (w *deltaWriter) write(pcm []int16, rate int) error {
	if rate != w.rate {
		w.drain()
		resampler, err := audio.NewResampler(rate, w.response.rate)
		if err != nil {
			return err
		}
		w.resampler, w.rate = resampler, rate
	}
	w.pcm = w.resampler.Process(w.pcm, pcm)
	return w.emit(w.response.rate / deltasPerSecond)
}

func (w *deltaWriter) flush() error {
	w.drain()
	return w.emit(1)
}

func (w *deltaWriter) drain() {
	if w.resampler != nil {
		w.pcm = w.resampler.Flush(w.pcm)
	}
}

// emit sends the buffered audio if it has at least atLeast samples.
func (w *deltaWriter) emit(atLeast int) error {
	size := w.response.rate / deltasPerSecond
	for len(w.pcm) >= atLeast && len(w.pcm) > 0 {
		if err := w.socket.awaitRoom(w.response.ctx); err != nil {
			return err
		}
		n := min(size, len(w.pcm))
		r, delta := w.response, base64.StdEncoding.EncodeToString(bytesOf(w.pcm[:n]))
		w.socket.call.post(func() { w.socket.call.onAnswer(machine.Delta, r, news{text: delta}) })
		w.pcm = w.pcm[n:]
	}
	w.pcm = append([]int16(nil), w.pcm...)
	return nil
}

// bytesOf encodes PCM as in the protocol: 16 bits, little-endian.
func bytesOf(pcm []int16) []byte {
	b := make([]byte, 0, 2*len(pcm))
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// socketInput converts audio in events to windows. Only socket.read uses it.
type socketInput struct {
	call      *call
	loaded    bool             // the voice detector is loaded
	resampler *audio.Resampler // from rate; nil before the first sample
	rate      int
	windows   windower
}

// take handles the effect of an event on the audio before it or in it.
func (in *socketInput) take(ev clientEvent) error {
	switch ev.Type {
	case "input_audio_buffer.append":
		return in.append(ev.Audio)
	case "input_audio_buffer.commit":
		in.drain()
		if rest := in.windows.part; len(rest) > 0 {
			in.windows.part = nil
			in.call.post(func() { in.call.onWindow(window{pcm: rest}) })
		}
	case "input_audio_buffer.clear":
		in.drain()
		in.windows.part = nil
	}
	return nil
}

func (in *socketInput) append(pcm []byte) error {
	if len(pcm)%2 != 0 {
		return invalidf("invalid_value", "audio", "audio has %d bytes: samples have two bytes, so the number must be even", len(pcm))
	}
	if !in.loaded {
		if err := in.call.loadDetector(); err != nil {
			in.call.post(func() { in.call.fail("the voice detector cannot start", err) })
			return nil
		}
		in.loaded = true
	}
	if hz := int(in.call.inputRate.Load()); hz != in.rate {
		in.drain()
		resampler, err := audio.NewResampler(hz, listenRate)
		if err != nil {
			return err
		}
		in.resampler, in.rate = resampler, hz
	}
	samples := make([]int16, len(pcm)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(pcm[2*i:]))
	}
	in.windows.write(in.resampler.Process(nil, samples))
	return nil
}

// drain appends the samples that the resampler holds back.
func (in *socketInput) drain() {
	if in.resampler != nil {
		in.windows.write(in.resampler.Flush(nil))
	}
}
