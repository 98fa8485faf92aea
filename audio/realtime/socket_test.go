package realtime

import (
	"context"
	"math"
	"testing"
	"time"
)

// overSocket has a dial take the WebSocket at once, as on a network that let no media
// through lately.
func overSocket(cfg Config) Config {
	cfg.Networks = &Networks{name: func() string { return "office" }, blocked: map[string]time.Time{"office": time.Unix(1<<40, 0)}}
	return cfg
}

// TestSocketSpeech: segments come back whole, in order, and each ends once.
func TestSocketSpeech(t *testing.T) {
	t.Parallel()
	_, cfg := startLocal(t, nil)
	c, r := dialLocal(t, overSocket(cfg))
	for seq := range uint32(3) {
		c.Speak(words4(1, seq+1))
	}
	r.want(t, "audio 1.1", "ended 1.1", "audio 1.2", "ended 1.2", "audio 1.3", "ended 1.3")
	for seq := range uint32(3) {
		if got := r.samples(1, seq+1); math.Abs(float64(got-4*wordSamples)) > 100 {
			t.Errorf("segment %d has %d samples, want %d", seq+1, got, 4*wordSamples)
		}
	}
	if s := c.Stats(); s.Unsolicited+s.Mismatches+s.Malformed+s.ServiceErrors+s.PacketsBroken != 0 || s.Path != PathWebSocket || !s.Fallback {
		t.Errorf("%+v", s)
	}
}

// TestSocketShapes: the handshake of each dialect, as the public references have it, and
// the session that follows.
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
