//go:build cgo

package live

import (
	"net/url"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The proxy comes from the settings, else from the environment. NO_PROXY and this
// machine are reached without a proxy. Each proxy has one client.
func TestProxyOfTheSettings(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://env.example:3128")
	t.Setenv("NO_PROXY", "inside.example")
	for _, c := range []struct{ setting, url, want string }{
		{"", "https://api.example/v1", "http://env.example:3128"},
		{"http://set.example:8080", "https://api.example/v1", "http://set.example:8080"},
		{"socks5://set.example:1080", "https://api.example/v1", "socks5://set.example:1080"},
		{"http://set.example:8080", "http://api.example/v1", "http://set.example:8080"},
		{"http://set.example:8080", "https://inside.example/v1", ""},
		{"http://set.example:8080", "http://127.0.0.1:9000/v1", ""},
	} {
		var set protocol.Settings
		set.Network.Proxy = c.setting
		u, _ := url.Parse(c.url)
		got := ""
		if via, err := proxyOf(set)(u); err != nil {
			t.Error(err)
		} else if via != nil {
			got = via.String()
		}
		if got != c.want {
			t.Errorf("%s with %q is reached through %q, want %q", c.url, c.setting, got, c.want)
		}
	}
	all := clients{}
	var a, b protocol.Settings
	a.Network.Proxy, b.Network.Proxy = "http://a.example", "http://b.example"
	first := all.client(a)
	if all.client(protocol.Settings{}) != nil || first == nil || first != all.client(a) || all.client(a) == all.client(b) {
		t.Error("want the default without a setting, and else one client for each proxy")
	}
}

// A hosted service is dialled with the relays and proxy of the settings. If the relays'
// password is missing, an error says what to do. The embedded server needs neither.
func TestDialsWithRelaysAndProxy(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderOpenAI
	set.Network = protocol.NetworkSettings{Proxy: "http://proxy.example:8080", TURN: "turn:a.example, turns:b.example:5349", TURNUsername: "u"}
	w := &World{cfg: Config{TURNPassword: "relay-canary"}}
	s := &service{w: w, clients: clients{}}
	cfg, err := s.dialConfig(set, nil)
	if err != nil || len(cfg.TURN.URLs) != 2 || cfg.TURN.Password.Value != "relay-canary" || cfg.TURN.Username != "u" || cfg.HTTPClient == nil || cfg.Proxy == nil {
		t.Errorf("%+v, %v", cfg, err)
	}
	w.cfg.TURNPassword = ""
	if _, err := s.dialConfig(set, nil); err == nil || err.Error() != "agentvoice.network.turnServers needs a password; set AGENTVOICE_TURN_PASSWORD in the environment" {
		t.Errorf("without a password: %v", err)
	}
}
