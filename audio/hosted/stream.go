package hosted

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// streamed is how much audio is sent in one event, in samples, if there is so much: a tenth of a second.
const streamed = hearing.SampleRate / 10

// stream recognises one utterance while it is spoken, over the wire of vLLM
// (https://docs.vllm.ai/en/latest/serving/openai_compatible_server, "Realtime API"): a WebSocket at /v1/realtime that
// takes mono 16-bit PCM at 16 kHz. vLLM drops what it receives between two utterances of one connection, so each has
// its own.
type stream struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelCauseFunc
	// watchdog ends the stream when the service gives no sign of life in time.
	watchdog *time.Timer
	more     chan struct{} // there is something to send
	grown    chan struct{} // there are new words
	ended    chan struct{} // closed when text and err are set
	text     string
	err      error

	mu    sync.Mutex
	pcm   []int16 // to be sent
	last  bool    // nothing follows
	final bool    // the service knows that
	said  string
}

// stream begins an utterance. It connects in the background.
func (t *Transcriber) stream(ctx context.Context) *stream {
	s := &stream{cfg: t.client.cfg, more: make(chan struct{}, 1), grown: make(chan struct{}, 1), ended: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.watchdog = time.AfterFunc(s.cfg.Stall, func() { s.cancel(errStalled) })
	go func() {
		defer close(s.ended)
		defer s.watchdog.Stop()
		s.err = failed(s.ctx, "transcription", s.run(t.client))
	}()
	return s
}

// close ends the stream, and wipes its audio.
func (s *stream) close() {
	s.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.pcm)
	s.pcm = nil
}

// write sends audio.
func (s *stream) write(pcm []int16) {
	s.mu.Lock()
	s.pcm = audio.AppendWiped(s.pcm, pcm)
	s.mu.Unlock()
	signal(s.more)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// partial returns the words so far.
func (s *stream) partial() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(s.said)
}

// finish says that nothing follows, and returns what was said. add receives the words so far.
func (s *stream) finish(ctx context.Context, add func(words string, again bool)) (hearing.Result, error) {
	s.mu.Lock()
	s.last = true
	s.mu.Unlock()
	signal(s.more)
	for {
		select {
		case <-s.grown:
			add(s.partial(), true)
		case <-s.ended:
			return hearing.Result{Text: s.text}, s.err
		case <-ctx.Done():
			s.cancel(context.Cause(ctx))
			<-s.ended
			return hearing.Result{}, failed(ctx, "transcription", ctx.Err())
		}
	}
}

// run connects, sends and receives until the text is complete.
func (s *stream) run(c *client) error {
	conn, err := s.dial(c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }() // the text is complete, or lost
	conn.SetReadLimit(-1)                  // receive has one
	received := make(chan error, 1)
	go func() {
		err := s.receive(conn)
		if err != nil {
			s.cancel(err) // nothing more is to be sent
		}
		received <- err
	}()
	if s.send(conn) != nil { // a service that refuses says why before it closes the connection
		s.watchdog.Reset(s.cfg.Stall)
	}
	return <-received
}

// dial opens the connection with the user's key.
func (s *stream) dial(c *client) (*websocket.Conn, error) {
	header := http.Header{}
	if err := c.authorize(s.ctx, header); err != nil {
		return nil, err
	}
	conn, res, err := websocket.Dial(s.ctx, c.base+"/realtime", &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	switch {
	case err == nil:
		return conn, nil
	case res == nil:
		return nil, err
	case res.StatusCode == http.StatusSwitchingProtocols:
		return nil, broken("transcription", "the handshake is not that of RFC 6455")
	default:
		return nil, realtime.Refusal("transcription", res, header)
	}
}

// commit is input_audio_buffer.commit: the first one begins the recognition, and the final one ends it.
type commit struct {
	Type  string `json:"type"`
	Final bool   `json:"final"`
}

// send sends the audio as it comes, until the end of the utterance.
func (s *stream) send(conn *websocket.Conn) error {
	write := func(event []byte) error {
		s.watchdog.Reset(s.cfg.Stall)
		defer s.watchdog.Stop() // the user may take their time
		return conn.Write(s.ctx, websocket.MessageText, event)
	}
	post := func(event any) error {
		b, err := json.Marshal(event)
		if err != nil {
			return err
		}
		return write(b)
	}
	err := post(struct {
		Type  string `json:"type"`
		Model string `json:"model"`
	}{"session.update", s.cfg.Model})
	if err == nil {
		err = post(commit{Type: "input_audio_buffer.commit"})
	}
	for err == nil {
		pcm, last := s.next()
		switch {
		case len(pcm) > 0:
			event := appended(pcm)
			err = write(event)
			clear(event)
			clear(pcm)
		case last:
			s.mu.Lock()
			s.final = true
			s.mu.Unlock()
			if err = post(commit{"input_audio_buffer.commit", true}); err == nil {
				s.watchdog.Reset(s.cfg.Stall) // now the service is to answer
			}
			return err
		default:
			select {
			case <-s.more:
			case <-s.ctx.Done():
				return s.ctx.Err()
			}
		}
	}
	return err
}

// next takes audio to send, none if there is less than an event of it and more is to come.
func (s *stream) next() (pcm []int16, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.pcm), streamed)
	if n < streamed && !s.last {
		return nil, false
	}
	pcm = append(pcm, s.pcm[:n]...)
	clear(s.pcm[:n])
	s.pcm = s.pcm[n:]
	return pcm, s.last
}

// appended is an event input_audio_buffer.append.
func appended(pcm []int16) []byte {
	raw := make([]byte, 0, 2*len(pcm))
	for _, v := range pcm {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
	}
	defer clear(raw)
	event := append(make([]byte, 0, 64+base64.StdEncoding.EncodedLen(len(raw))), `{"type":"input_audio_buffer.append","audio":"`...)
	return append(base64.StdEncoding.AppendEncode(event, raw), `"}`...)
}

// receive reads the words until the text is complete.
func (s *stream) receive(conn *websocket.Conn) error {
	for {
		kind, in, err := conn.Reader(s.ctx)
		var b []byte
		if err == nil {
			b, err = io.ReadAll(io.LimitReader(in, maxText+1))
		}
		event := streamEvent{}
		switch {
		case err != nil:
			return s.lost(err)
		case len(b) > maxText:
			return broken("transcription", "an event is too long")
		case kind != websocket.MessageText || json.Unmarshal(b, &event) != nil:
			return broken("transcription", "an event is no JSON")
		}
		done, err := s.take(event)
		if done || err != nil {
			return err
		}
	}
}

// lost returns why there is nothing more to read.
func (s *stream) lost(err error) error {
	if s.ctx.Err() != nil {
		return err
	}
	if e := realtime.Closed(err); e != nil {
		return e
	}
	return &realtime.Error{Code: realtime.CodeConnectionLost, Retryable: true, Message: "the answer broke off; check the network"}
}

// streamEvent is an event of the service.
type streamEvent struct {
	Type  string  `json:"type"`
	Delta string  `json:"delta"`
	Text  *string `json:"text"`
}

// take handles an event. Unknown ones mean nothing.
func (s *stream) take(e streamEvent) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.final {
		s.watchdog.Reset(s.cfg.Stall)
	}
	switch e.Type {
	case "transcription.delta":
		if e.Delta == "" {
			return false, nil
		}
		if len(s.said)+len(e.Delta) > maxText {
			return false, broken("transcription", "the answer is too long")
		}
		s.said += e.Delta
		signal(s.grown)
	case "transcription.done":
		switch {
		case e.Text == nil:
			return false, broken("transcription", "the answer has no text")
		case !s.final:
			return false, &realtime.Error{Code: realtime.CodeConnectionLost, Retryable: true, Message: "the service ended the recognition before the end of the utterance; check its limits"}
		}
		s.text = strings.TrimSpace(*e.Text)
		return true, nil
	case "error":
		return false, broken("transcription", "the service reported an error")
	}
	return false, nil
}
