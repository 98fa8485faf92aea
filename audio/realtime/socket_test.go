package realtime

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// overSocket makes a dial use the WebSocket immediately, as on a network that recently
// blocked media.
func overSocket(cfg Config) Config {
	cfg.Networks = &Networks{name: func() string { return "office" }, blocked: map[string]time.Time{"office": time.Unix(1<<40, 0)}}
	return cfg
}

// TestSocketShapes checks the handshake of each dialect against the public references,
// and the session that follows.
func TestSocketShapes(t *testing.T) {
	for name, c := range map[string]struct {
		dialect      Dialect
		kind         Kind
		path         string
		header, auth string
	}{
		"openai":      {OpenAI, APIKey, "/v1/realtime", "Authorization", "Bearer " + canary},
		"azure key":   {Azure, APIKey, "/openai/v1/realtime", "Api-Key", canary},
		"azure entra": {Azure, EntraToken, "/openai/v1/realtime", "Authorization", "Bearer " + canary},
		"local":       {Local, APIKey, "/v1/realtime", "Authorization", "Bearer " + canary},
		"localai":     {LocalAI, APIKey, "/v1/realtime", "Authorization", "Bearer " + canary},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeService(t)
			f.sockets = true
			cfg := overSocket(settings(f.config(c.dialect)))
			cfg.Credentials = func(context.Context) (Credential, error) { return Credential{canary, c.kind}, nil }
			client, _ := connect(t, f, cfg)
			reqs := f.seen()
			if len(reqs) != 1 || reqs[0].path != c.path || reqs[0].query != "model=gpt-realtime" {
				t.Fatalf("the call was made by %+v", reqs)
			}
			for _, h := range []string{"Authorization", "Api-Key"} {
				want := ""
				if h == c.header {
					want = c.auth
				}
				if got := reqs[0].header.Get(h); got != want {
					t.Errorf("%s is %q, want %q", h, got, want)
				}
			}
			if update := receive(t, f.session, "session.update"); update["session"] == nil {
				t.Errorf("the session is %v", update)
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			if n := len(f.seen()); n != 1 {
				t.Errorf("%d requests in all, want one", n)
			}
			if ct := client.Stats().Connect; ct.Total <= 0 || ct.Signalling <= 0 || ct.ICE != 0 || ct.Channel != 0 || ct.Session <= 0 {
				t.Errorf("times %+v", ct)
			}
		})
	}
}

// onSocket establishes a call over WebSocket with the fake service.
func onSocket(t *testing.T) (f *fakeService, c *Client, r *recorder, conn *websocket.Conn) {
	t.Helper()
	f = newFakeService(t)
	f.sockets = true
	c, r = connect(t, f, overSocket(f.config(OpenAI)))
	f.conn = receive(t, f.socket, "the WebSocket")
	return f, c, r, f.conn
}

// Microphone audio is sent at 24 kHz, with silence for uncaptured audio, so that the
// service's positions match the client's. Audio captured before a commit is sent before
// it.
func TestSocketSendsTheMicrophone(t *testing.T) {
	f, c, r, _ := onSocket(t)
	loud := &audio.Frame{}
	for i := range loud {
		loud[i] = 1000
	}
	write := func(frames int) {
		for range frames {
			c.WriteFrame(loud)
		}
	}
	write(10)
	for range 10 {
		c.SkipFrame(loud)
	}
	write(10)
	c.CommitInput(7, 0, false)
	var raw []byte
	for {
		e := receive(t, f.events, "an event")
		if e["type"] == "input_audio_buffer.commit" {
			break
		}
		pcm, err := base64.StdEncoding.DecodeString(e["audio"].(string))
		if err != nil || e["type"] != "input_audio_buffer.append" {
			t.Fatalf("the client sent %v", e)
		}
		raw = append(raw, pcm...)
	}
	const ms10 = socketRate / 100
	if n := len(raw) / 2; n < 29*ms10 || n > 30*ms10 { // the resampler holds back a few samples
		t.Errorf("%d samples came before the commit, want about %d", n, 30*ms10)
	}
	for at, want := range map[int]bool{5: true, 15: false, 25: true} {
		got := int16(binary.LittleEndian.Uint16(raw[2*at*ms10:])) > 900
		if got != want {
			t.Errorf("at %d ms there is a voice: %v", at*10, got)
		}
	}
	f.emit(`{"type":"input_audio_buffer.speech_started","event_id":"e","item_id":"i1","audio_start_ms":100}`)
	r.want(t, "started i1 4800")
	if s := c.Stats(); s.PacketsDropped != 0 || s.PacketsSent != 10 {
		t.Errorf("%+v", s)
	}
}

// If the network blocks media, a dial falls back to the WebSocket; the next dial uses
// it immediately, and later media is tried again.
func TestFallsBackToTheWebSocket(t *testing.T) {
	f := newFakeService(t)
	f.sockets = true
	cfg := f.config(OpenAI)
	cfg.WrapPacketConn, cfg.mediaLimit, cfg.Networks = withoutUDP, 2*time.Second, &Networks{}
	paths := func() (all string) {
		for _, r := range f.seen() {
			all += strings.TrimPrefix(r.path, "/v1/realtime") + " "
		}
		return all
	}
	first, _ := connect(t, f, cfg)
	// The call that did not connect is hung up concurrently with the handshake.
	if s := first.Stats(); s.Path != PathWebSocket || !s.Fallback || !strings.HasPrefix(paths(), "/client_secrets /calls ") || len(f.seen()) != 4 {
		t.Errorf("the first call goes over %q, fallback %v, by %s", s.Path, s.Fallback, paths())
	}
	before := len(paths())
	second, _ := connect(t, f, cfg)
	if s := second.Stats(); s.Path != PathWebSocket || paths()[before:] != " " {
		t.Errorf("the second call goes over %q by %s", s.Path, paths()[before:])
	}
	cfg.WrapPacketConn, cfg.mediaLimit = nil, patience // the network has changed
	clear(cfg.Networks.blocked)
	third, _ := connect(t, f, cfg)
	if s := third.Stats(); s.Path != PathUDP || s.Fallback {
		t.Errorf("the third call goes over %q", s.Path)
	}
}

// If the WebSocket stops working, the dial tries media.
func TestFallsBackToMedia(t *testing.T) {
	f := newFakeService(t) // without WebSocket support
	cfg := overSocket(f.config(OpenAI))
	c, _ := connect(t, f, cfg)
	if s := c.Stats(); s.Path != PathUDP || s.Fallback {
		t.Errorf("the call goes over %q", s.Path)
	}
	if len(cfg.Networks.blocked) != 0 {
		t.Error("the network still counts as one without media")
	}
}

// If a service rejects the caller over one transport, Dial reports that error, whatever
// happens over the other.
func TestSocketIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status    int
		body      string
		code      string
		retryable bool
	}{
		"401":       {401, `{"error":{"code":"invalid_api_key"}}`, CodeAuthentication, false},
		"403":       {403, `{}`, CodeAccessDenied, false},
		"model":     {404, `{"error":{"code":"model_not_found"}}`, CodeModelUnavailable, false},
		"429":       {429, `{}`, CodeRateLimited, true},
		"quota":     {429, `{"error":{"code":"insufficient_quota"}}`, CodeQuotaExceeded, false},
		"500":       {500, `no JSON`, CodeConnectionFailed, true},
		"no socket": {200, `hello`, CodeProtocolError, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			f.http = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				w.Header().Set("Retry-After", "7")
				if strings.HasSuffix(r.URL.Path, "/realtime") {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				} else {
					w.WriteHeader(http.StatusBadGateway)
				}
				return true
			}
			_, err := Dial(t.Context(), overSocket(f.config(OpenAI)), newRecorder())
			var e *Error
			if !errors.As(err, &e) || e.Code != c.code || e.Retryable != c.retryable || e.Status != c.status && c.status != 200 {
				t.Fatalf("got %v, %+v", err, e)
			}
			if c.retryable && e.RetryAfter != 7*time.Second {
				t.Errorf("retry after %v", e.RetryAfter)
			}
			noSecret(t, err.Error())
		})
	}
}

// While dialling, the service's reason for closing the connection is reported. An
// established call is lost, and is dialled again.
func TestSocketIsClosed(t *testing.T) {
	for status, want := range map[websocket.StatusCode]struct {
		code      string
		retryable bool
	}{
		websocket.StatusInternalError:   {CodeConnectionFailed, true},
		websocket.StatusPolicyViolation: {CodeAccessDenied, false},
		websocket.StatusTryAgainLater:   {CodeRateLimited, true},
		websocket.StatusUnsupportedData: {CodeProtocolError, false},
		3000:                            {CodeAuthentication, false},
		4321:                            {CodeConnectionFailed, true},
	} {
		t.Run(status.String(), func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			f.sockets, f.mute = true, true
			go func() {
				conn := <-f.socket
				<-f.session
				_ = conn.Close(status, canary)
			}()
			_, err := Dial(t.Context(), overSocket(f.config(OpenAI)), newRecorder())
			var e *Error
			if !errors.As(err, &e) || e.Code != want.code || e.Retryable != want.retryable {
				t.Errorf("while dialling: %v, %+v", err, e)
			}
			noSecret(t, err.Error())
			_, _, r, conn := onSocket(t)
			_ = conn.Close(status, canary)
			r.want(t, "lost "+CodeConnectionLost)
			noSecret(t, r.lost.Message)
		})
	}
}

// A hostile service costs at most its call: malformed events are counted, and oversized
// ones end the call.
func TestHostileSocket(t *testing.T) {
	f, c, r, conn := onSocket(t)
	for _, e := range []string{"", "{", "[]", `{"type":7}`, strings.Repeat("x", 1<<20)} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"response.done","response":{"id":"x"}}`)); err != nil {
		t.Fatal(err)
	}
	c.Speak(seg(1, 1))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	f.emit(`{"type":"response.output_audio.delta","response_id":"r1","delta":"` + deltaOf("r1", 200*time.Millisecond).delta + `"}`)
	f.emit(`{"type":"response.output_audio.delta","response_id":"r1","delta":"="}`)
	f.emit(`{"type":"response.output_audio.delta","response_id":"stranger","delta":"` + deltaOf("r1", 200*time.Millisecond).delta + `"}`)
	f.emit(done("r1", "completed"))
	r.want(t, "audio 1.1", "ended 1.1")
	if s := c.Stats(); s.Malformed != 7 || r.samples(1, 1) != audio.SampleRate/5 {
		t.Errorf("%d samples; %+v", r.samples(1, 1), s)
	}
	go func() {
		_ = conn.Write(context.Background(), websocket.MessageText, bytes.Repeat([]byte("x"), maxEvent+1))
	}()
	r.want(t, "lost "+CodeConnectionLost)
}

// The client gives up on a service that silently disappears, and knows up to which
// position it has certainly received the user's audio.
func TestSilentSocket(t *testing.T) { synctest.Test(t, isDeclaredSilent) }

func isDeclaredSilent(t *testing.T) {
	f := newVirtualService(t)
	var conn *deafConn
	cfg := overSocket(f.config(OpenAI))
	tr := cfg.HTTPClient.Transport.(*http.Transport)
	dial := tr.DialContext
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		conn = &deafConn{Conn: c, deaf: make(chan struct{}), closed: make(chan struct{})}
		return conn, err
	}
	c, r := connect(t, f, cfg)
	go func() { // the service reads everything
		for {
			select {
			case <-f.events:
			case <-t.Context().Done():
				return
			}
		}
	}()
	pacer := audio.NewPacer(1)
	say := func(d time.Duration) {
		for range d / (10 * time.Millisecond) {
			if err := pacer.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.WriteFrame(&audio.Frame{0: 1000})
		}
	}
	say(2500 * time.Millisecond) // two pings are answered
	close(conn.deaf)
	say(2 * time.Second)
	r.want(t, "lost "+CodeConnectionLost)
	if got := r.lost.Unheard; got < 2*time.Second || got > 4*time.Second {
		t.Errorf("%v were not heard, want 2 s and what came before since the last sign of life", got)
	}
}

// deafConn delivers nothing after deaf is closed.
type deafConn struct {
	net.Conn
	deaf, closed chan struct{}
}

func (c *deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.deaf:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *deafConn) Close() error {
	err := c.Conn.Close()
	close(c.closed)
	return err
}

// The handshake uses the proxy of HTTP requests, over TLS.
func TestSocketThroughAProxy(t *testing.T) {
	f := newFakeService(t)
	f.sockets = true
	web := httptest.NewTLSServer(http.HandlerFunc(f.serve))
	t.Cleanup(web.Close)
	via := newHTTPProxy(t, web.URL)
	u, _ := url.Parse(via.URL)
	cfg := overSocket(f.config(OpenAI))
	through := web.Client().Transport.(*http.Transport).Clone()
	through.Proxy = http.ProxyURL(u)
	cfg.BaseURL, cfg.HTTPClient = web.URL, &http.Client{Transport: through}
	c, r := connect(t, f, cfg)
	c.Speak(seg(1, 1))
	f.expect("response.create")
	f.emit(created("r1", seg(1, 1)))
	f.emit(done("r1", "completed"))
	r.want(t, "failed 1.1 "+CodeSpeechNoAudio)
	if via.tunnels.Load() != 1 {
		t.Errorf("%d connections went through the proxy, want 1", via.tunnels.Load())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
