package live

import (
	"errors"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// proxyOf gives the proxy for a URL, as the settings or else the environment say. None
// is used for this machine and for what NO_PROXY names.
func proxyOf(set protocol.Settings) func(*url.URL) (*url.URL, error) {
	env := httpproxy.FromEnvironment()
	if p := set.Network.Proxy; p != "" {
		env.HTTPProxy, env.HTTPSProxy = p, p
	}
	return env.ProxyFunc()
}

// clients makes requests to services, one client for each proxy, so that connections
// are used again.
type clients map[string]*http.Client

// client is the one for the settings; nil is the default of the packages that ask.
// The service's mutex guards it.
func (c clients) client(set protocol.Settings) *http.Client {
	name := set.Network.Proxy
	if name == "" {
		return nil
	}
	if c[name] == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		proxy := proxyOf(set)
		t.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
		c[name] = &http.Client{Transport: t}
	}
	return c[name]
}

func (c clients) close() {
	for _, client := range c {
		client.CloseIdleConnections()
	}
}

// httpClient makes requests as the settings say.
func (s *service) httpClient(set protocol.Settings) *http.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients.client(set)
}

// relays are the TURN servers of the settings.
func (s *service) relays(set protocol.Settings) (realtime.TURN, error) {
	t := realtime.TURN{
		URLs: protocol.TURNServers(set.Network.TURN), Username: set.Network.TURNUsername,
		Password: realtime.Credential{Value: s.w.cfg.TURNPassword},
	}
	if len(t.URLs) > 0 && t.Password.Value == "" {
		return t, errors.New("agentvoice.network.turnServers needs a password; set AGENTVOICE_TURN_PASSWORD in the environment")
	}
	return t, nil
}
