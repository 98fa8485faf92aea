package realtime

import (
	"encoding/json"
	"testing"
)

// TestSessionAlwaysHasAModel: without one, the service would use its own default, which it may end. That
// is sent when the session is made, over both transports.
func TestSessionAlwaysHasAModel(t *testing.T) {
	const want = "gpt-realtime-2.1-mini"
	f := newFakeService(t)
	cfg := settings(f.config(OpenAI))
	cfg.Model = ""
	client, _ := connect(t, f, cfg)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	var secret struct{ Session struct{ Model string } }
	if err := json.Unmarshal(f.seen()[0].body, &secret); err != nil || secret.Session.Model != want {
		t.Errorf("over WebRTC: %v, model %q", err, secret.Session.Model)
	}

	f = newFakeService(t)
	f.sockets = true
	cfg = overSocket(settings(f.config(OpenAI)))
	cfg.Model = ""
	client, _ = connect(t, f, cfg)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if got := f.seen()[0].query; got != "model="+want {
		t.Errorf("over WebSocket: ?%s", got)
	}
}
