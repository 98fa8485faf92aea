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

// TestASessionThatListens: it is of type transcription, over both transports, and no model is named but
// the one that recognises: with a model in the URL, the service makes a session that converses.
func TestASessionThatListens(t *testing.T) {
	const want = `{"type":"transcription","audio":{"input":{"transcription":{"model":"gpt-live-transcribe","keywords":["goroutine","parseConfig"],"languages":["en"]},"turn_detection":null}}}`
	listening := func(cfg Config) Config {
		cfg.Listens, cfg.NoLogprobs, cfg.TurnDetection = true, true, TurnDetection{Type: NoDetection}
		cfg.TranscriptionModel, cfg.Keywords, cfg.Languages = "", []string{"goroutine", "parseConfig"}, []string{"en"}
		return cfg
	}
	f := newFakeService(t)
	client, _ := connect(t, f, listening(f.config(OpenAI)))
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	jsonEqual(t, "client_secrets", f.seen()[0].body, `{"session":`+want+`}`)
	update, _ := json.Marshal(receive(t, f.session, "session.update")["session"])
	jsonEqual(t, "session.update", update, want)

	f = newFakeService(t)
	f.sockets = true
	client, _ = connect(t, f, overSocket(listening(f.config(OpenAI))))
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if got := f.seen()[0].query; got != "intent=transcription" {
		t.Errorf("over WebSocket: ?%s", got)
	}
}
