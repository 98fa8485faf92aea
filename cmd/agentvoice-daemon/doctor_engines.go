package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func codec() (string, error) {
	_, err := opus.NewEncoder(opus.Config{})
	return "Opus", err
}

// canceller tries the library that takes the echo out.
func canceller() (string, error) {
	p, err := dsp.New(dsp.Default())
	if err != nil {
		return "", err
	}
	p.Close()
	return "WebRTC audio processing", nil
}

func detector() (string, error) {
	d, err := voiceDetector()
	if err != nil {
		return "", err
	}
	return "Silero", d.Close()
}

// wakePhrase tries what listens for the phrase that opens a conversation.
func wakePhrase() (string, error) {
	s, err := wake.New(wake.Config{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("PocketSphinx can listen for %q", wake.DefaultPhrase), s.Close()
}

// cues says how the settings have the short tones.
func cues(set protocol.CueSettings) string {
	if !set.Enabled || set.Volume == 0 {
		return "off; agentvoice.cues.enabled and agentvoice.cues.volume switch them on"
	}
	return fmt.Sprintf("on, at volume %g", set.Volume)
}

// reach opens a TCP connection to the provider; it sends nothing.
func reach(ctx context.Context, p protocol.Provider, endpoint string) (string, error) {
	row, _ := provider.Of(string(p))
	base := cmp.Or(endpoint, row.Home)
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("there is no endpoint for %s; give --endpoint", p)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80"}[u.Scheme]
	}
	if port == "" {
		port = "443"
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return "", fault{fmt.Sprintf("%s cannot be reached (%v)", u.Hostname(), err), "check the network, a proxy and --endpoint"}
	}
	return u.Hostname(), conn.Close()
}

// pairing says how an editor finds this daemon.
func pairing() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fault{fmt.Sprintf("the path of this program is not known (%v)", err), "start it by its full path"}
	}
	return fmt.Sprintf("start %s serve --stdio (protocol %s)", path, protocol.Version), nil
}
