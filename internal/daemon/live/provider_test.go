//go:build cgo

package live

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// An online provider is the embedded server at another address: the same client, the
// signalling of that dialect, and a key that is exchanged for an ephemeral one.
func TestOnlineProviderWithItsKey(t *testing.T) {
	paths, url := onlineService(t)
	for _, key := range []string{"sk-the-users-key", "sk-another"} {
		t.Run(key, func(t *testing.T) {
			set := protocol.DefaultSettings()
			set.Provider, set.Endpoint = protocol.ProviderOpenAI, url
			set.TurnDetection.Mode = protocol.TurnServer
			tk := &talk{t: t, mouth: &mouth{}, agent: &answers{send: says("Online now.")}, news: make(chan struct{}, 1)}
			tk.d = daemon.New(daemon.Config{
				Clock: dispatch.NewClock(speed), Started: time.Now(), Settings: set, Adapter: tk.agent, Verify: true, Notify: tk.notify,
				World: New(Config{
					Source: func(protocol.Settings) (audio.Source, error) { return tk.mouth, nil },
					Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
					Speed:  speed, Log: zerolog.Nop(),
					Credentials: func(context.Context, protocol.Provider) (realtime.Credential, error) {
						return realtime.Credential{Value: key, Kind: realtime.APIKey}, nil
					},
					Instrument: func(c *realtime.Config) { c.Loopback = true },
				}),
			})
			ctx, stop := context.WithCancel(context.Background())
			finished := make(chan error, 1)
			go func() { finished <- tk.d.Run(ctx) }()
			defer func() {
				stop()
				if err := <-finished; err != nil {
					t.Error(err)
				}
			}()
			tk.d.Post(csm.UserStart{})
			if key != "sk-the-users-key" { // AC-006: fatal, with a remedy
				tk.want(protocol.StatePreparing, protocol.StateFaulted, protocol.StateTerminating, protocol.StateIdle)
				return
			}
			tk.want(protocol.StatePreparing, protocol.StateListening)
			tk.sendText("are you there")
			tk.answered()
			tk.want(protocol.StateListening)
		})
	}
	if got := paths(); len(got) < 2 || got[0] != "POST /v1/realtime/client_secrets" || got[1] != "POST /v1/realtime/calls" {
		t.Errorf("requests %v, want the key exchanged, then the call", got)
	}
}

// onlineService is the embedded server at another address. paths returns the requests
// so far.
func onlineService(t *testing.T) (paths func() []string, url string) {
	t.Helper()
	_, paths, url = serviceThatEnds(t)
	return paths, url
}

// serviceThatEnds is onlineService and also returns the server.
func serviceThatEnds(t *testing.T) (server *localrealtime.Server, paths func() []string, url string) {
	t.Helper()
	cfg, err := engines(SpeechChoice{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.APIKey, cfg.Speed, cfg.Log = "sk-the-users-key", speed, zerolog.Nop()
	server, err = localrealtime.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var list []string
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		list = append(list, r.Method+" "+r.URL.Path)
		mu.Unlock()
		server.Handler().ServeHTTP(w, r)
	})}
	served := make(chan error, 1)
	go func() { served <- service.Serve(ln) }()
	t.Cleanup(func() {
		if err := errors.Join(service.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		<-served
		http.DefaultClient.CloseIdleConnections()
	})
	return server, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}, "http://" + ln.Addr().String()
}
