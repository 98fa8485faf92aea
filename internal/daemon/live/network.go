package live

import (
	"errors"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// proxyOf returns the proxy for a URL, from the settings or else from the environment.
// There is no proxy for this machine or for hosts in NO_PROXY.
func proxyOf(set protocol.Settings) func(*url.URL) (*url.URL, error) {
	env := httpproxy.FromEnvironment()
	if p := set.Network.Proxy; p != "" {
		env.HTTPProxy, env.HTTPSProxy = p, p
	}
	return env.ProxyFunc()
}

// clients are the HTTP clients for requests to services, one per proxy so that
// connections are reused.
type clients map[string]*http.Client

// client returns the client for the settings; nil means the callers' default. The
// service's mutex guards it.
func (c clients) client(set protocol.Settings) *http.Client {
	name := set.Network.Proxy
	if name == "" {
		return nil
	}
	if c[name] == nil {
		c[name] = &http.Client{Transport: Transport(set)}
	}
	return c[name]
}

// Transport makes requests to services through the proxy of the settings, or else that of the
// environment.
func Transport(set protocol.Settings) *http.Transport {
	t, proxy := http.DefaultTransport.(*http.Transport).Clone(), proxyOf(set)
	t.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	return t
}

func (c clients) close() {
	for _, client := range c {
		client.CloseIdleConnections()
	}
}

// httpClient returns the HTTP client for the settings.
func (s *service) httpClient(set protocol.Settings) *http.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients.client(set)
}

// relays returns the TURN servers of the settings.
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
