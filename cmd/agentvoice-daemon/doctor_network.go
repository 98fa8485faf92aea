package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// checkTimeout bounds the wait for a service.
const checkTimeout = 5 * time.Second

// transports make doctor's requests as a conversation makes its own: agentvoice.network.proxy is for
// voice services, and an assistant is reached through the proxy of the environment.
type transports struct{ voice, chat *http.Transport }

func transportsOf(set protocol.Settings) transports {
	return transports{live.Transport(set), live.Transport(protocol.Settings{})}
}

func (t transports) close() {
	t.voice.CloseIdleConnections()
	t.chat.CloseIdleConnections()
}

// examineServices checks the services that talk would use with the same flags: key, address and models
// of the voice services, and the assistant.
func (f *doctorFlags) examineServices(ctx context.Context, set protocol.Settings, t transports, today time.Time) (all []finding) {
	for i, p := range []protocol.Provider{set.Hears(), set.Speaks()} {
		if p == protocol.ProviderLocal || i == 1 && p == set.Hears() {
			continue
		}
		endpoint := [...]string{set.HearingEndpoint(), set.VoiceEndpoint()}[i]
		all = append(all,
			check("credentials", true, func() (string, error) {
				_, err := credentials(f.keyFile)(ctx, p)
				return "a key for " + string(p), err
			}),
			check("provider", true, func() (string, error) { return voiceService(ctx, t.voice, p, endpoint, set.Network.Proxy != "") }))
	}
	asking, stop := context.WithTimeout(ctx, checkTimeout)
	defer stop()
	all = append(all, f.examineModels(set, today, f.ends(asking, t))...)
	return append(all, f.examineAgent(ctx, t.chat))
}

// voiceService checks that a provider can be reached; proxied says that the settings name a proxy.
func voiceService(ctx context.Context, t *http.Transport, p protocol.Provider, endpoint string, proxied bool) (string, error) {
	row, _ := provider.Of(string(p))
	base, problem := row.Base(endpoint)
	if problem != "" {
		return "", fmt.Errorf("--endpoint: %s", problem)
	}
	setting := ""
	if proxied {
		setting = protocol.Prefix + "network.proxy"
	}
	found, err := reach(ctx, t, base, "--endpoint", setting)
	if err == nil && row.Session != nil && row.Session.Live {
		found += ", by the Live API: it says answers in words of its own, and cannot be stopped"
	}
	return found, err
}

// reach makes a request without a key, and says which host answers and through which proxy. Every
// answer of the service will do. address and proxy are what sets those, "" for the environment.
func reach(ctx context.Context, t *http.Transport, base, address, proxy string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, checkTimeout)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base, nil)
	if err != nil {
		return "", err
	}
	where, fix := req.URL.Hostname(), "check the network and "+address
	if via, _ := t.Proxy(req); via != nil {
		proxy = cmp.Or(proxy, strings.ToUpper(req.URL.Scheme)+"_PROXY")
		where, fix = where+" through the proxy "+via.Host, "check "+proxy+" and "+address
	}
	res, err := t.RoundTrip(req)
	if err == nil {
		_ = res.Body.Close()
		switch res.StatusCode { // of a proxy or gateway, not of the service
		case http.StatusProxyAuthRequired, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			err = errors.New(http.StatusText(res.StatusCode))
		}
	}
	if err != nil {
		return "", fault{fmt.Sprintf("cannot reach %s (%v)", where, err), fix}
	}
	return where, nil
}
