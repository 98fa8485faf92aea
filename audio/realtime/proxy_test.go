package realtime

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// relay starts a TURN server on loopback, over TCP.
func relay(t *testing.T) (url string) {
	t.Helper()
	streams, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	server, err := turn.NewServer(turn.ServerConfig{
		Realm: "test", LoggerFactory: quiet,
		AuthHandler: func(r *turn.RequestAttributes) (string, []byte, bool) {
			return r.Username, turn.GenerateAuthKey("user", "test", canary), r.Username == "user"
		},
		ListenerConfigs: []turn.ListenerConfig{{Listener: streams, RelayAddressGenerator: address}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return "turn:" + streams.Addr().String() + "?transport=tcp"
}

// httpProxy forwards requests and tunnels connections. It counts both.
type httpProxy struct {
	*httptest.Server
	requests, tunnels atomic.Int64
	service           string // destination of forwarded requests
}

func newHTTPProxy(t *testing.T, service string) *httpProxy {
	p := &httpProxy{service: service}
	transport := &http.Transport{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			p.tunnels.Add(1)
			p.tunnel(w, r.Host)
			return
		}
		p.requests.Add(1)
		target, _ := url.Parse(p.service + r.URL.Path)
		out := r.Clone(r.Context())
		out.URL, out.Host, out.RequestURI = target, "", ""
		res, err := transport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Location", res.Header.Get("Location"))
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(func() { p.Close(); transport.CloseIdleConnections() })
	return p
}

func (p *httpProxy) tunnel(w http.ResponseWriter, to string) {
	out, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	in, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = out.Close()
		return
	}
	_, _ = io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
	_, _ = io.Copy(out, io.MultiReader(bufio.NewReader(buffered.Reader), in))
	_ = out.Close()
}

// withoutUDP simulates a network that passes no direct UDP packet of the call.
func withoutUDP(p net.PacketConn) net.PacketConn {
	c := &faultyConn{PacketConn: p}
	c.gone.Store(true)
	return c
}

// On a network that blocks UDP, the client reaches the service over a TURN server: over
// TCP, and through a proxy if configured. Audio works in both directions.
func TestMediaOverARelay(t *testing.T) {
	for name, proxied := range map[string]bool{"over TCP": false, "through a proxy": true} {
		t.Run(name, func(t *testing.T) {
			server := relay(t)
			f := newFakeService(t)
			cfg := f.config(OpenAI)
			cfg.WrapPacketConn = withoutUDP
			cfg.TURN = TURN{URLs: []string{server}, Username: "user", Password: Credential{Value: canary}}
			via := newHTTPProxy(t, f.url)
			if proxied {
				u, _ := url.Parse(via.URL)
				cfg.Proxy = func(*url.URL) (*url.URL, error) { return u, nil }
			}
			c, r := connect(t, f, cfg)
			for range 4 {
				c.WriteFrame(&audio.Frame{0: 1000})
			}
			receive(t, f.rtp, "a packet of the microphone over the relay")
			s := seg(1, 1)
			c.Speak(s)
			f.expect("response.create")
			f.emit(created("resp_1", s))
			f.sound(20, true)
			r.want(t, "audio 1.1")
			if got := c.Stats().Path; got != "relay" {
				t.Errorf("the path is %q, want relay", got)
			}
			if n := via.tunnels.Load(); (n > 0) != proxied {
				t.Errorf("%d connections went through the proxy", n)
			}
			_ = c.Close()
		})
	}
}

// If a proxy is configured, signalling goes through it, and the proxy resolves the
// service's name.
func TestSignallingThroughAProxy(t *testing.T) {
	f := newFakeService(t)
	cfg := f.config(LocalAI)
	via := newHTTPProxy(t, f.url)
	u, _ := url.Parse(via.URL)
	cfg.BaseURL, cfg.HTTPClient = "http://speech.example", &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u)}}
	c, _ := connect(t, f, cfg)
	_ = c.Close()
	cfg.HTTPClient.CloseIdleConnections()
	if n := via.requests.Load(); n == 0 {
		t.Error("nothing went through the proxy")
	}
}

// If a relay rejects the password, the direct paths still work, and the dial fails no
// sooner than they do.
func TestARelayThatRefuses(t *testing.T) {
	server := relay(t)
	f := newFakeService(t)
	cfg := f.config(OpenAI)
	cfg.TURN = TURN{URLs: []string{server}, Username: "user", Password: Credential{Value: "wrong"}}
	c, _ := connect(t, f, cfg)
	if got := c.Stats().Path; got != "udp" {
		t.Errorf("the path is %q, want udp", got)
	}
}

// If a proxy does not connect, the error contains its reply.
func TestATunnelThatIsRefused(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refuses.Close)
	via, _ := url.Parse(refuses.URL)
	conn, err := proxyDialer{func(*url.URL) (*url.URL, error) { return via, nil }}.Dial("tcp", "turn.example:3478")
	if conn != nil || err == nil || err.Error() != "the proxy answered 403" {
		t.Errorf("got %v, %v", conn, err)
	}
}

// The answer of a proxy has a limit.
func TestProxyWithoutEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := make(chan int, 1)
	go func() {
		n := 0
		defer func() { sent <- n }()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n"))
		for line := []byte("X: " + strings.Repeat("x", 1000) + "\r\n"); n < 1<<30 && err == nil; n += len(line) {
			_, err = conn.Write(line)
		}
	}()
	via := &url.URL{Scheme: "http", Host: l.Addr().String()}
	if conn, err := (proxyDialer{func(*url.URL) (*url.URL, error) { return via, nil }}).Dial("tcp", "turn.example:3478"); err == nil {
		_ = conn.Close()
		t.Error("an answer without end is accepted")
	}
	if n := <-sent; n >= 1<<30 {
		t.Errorf("%d bytes were read", n)
	}
}
