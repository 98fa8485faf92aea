//go:build cgo

package localrealtime

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// post sends a request and returns the status and the error code.
func (h *harness) post(t *testing.T, path, key, kind, body string) (status int, code string) {
	t.Helper()
	res, b := h.do(t, http.MethodPost, path, key, kind, strings.NewReader(body))
	var e struct {
		Error struct{ Type, Code, Message string }
	}
	if err := json.Unmarshal(b, &e); err != nil || e.Error.Type == "" || e.Error.Message == "" {
		t.Errorf("POST %s: %d with a body that is no JSON error: %s", path, res.StatusCode, b)
	}
	return res.StatusCode, e.Error.Code
}

func TestRequestsAreRefused(t *testing.T) {
	h := start(t)
	const secrets, calls, sdp = "/v1/realtime/client_secrets", "/v1/realtime/calls", "application/sdp"
	noData := "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
	for name, c := range map[string]struct {
		path, key, kind, body string
		status                int
		code                  string
	}{
		"no key for a secret":    {secrets, "", "application/json", `{}`, 401, "invalid_api_key"},
		"wrong key for a secret": {secrets, "x", "application/json", `{}`, 401, "invalid_api_key"},
		"wrong key for a call":   {calls, "ek_x", sdp, noData, 401, "invalid_api_key"},
		"wrong key to hang up":   {calls + "/x/hangup", "x", "", "", 401, "invalid_api_key"},
		"no such call":           {calls + "/x/hangup", testKey, "", "", 404, "call_not_found"},
		"no such endpoint":       {"/v1/chat", testKey, "", "", 404, "unknown_url"},
		"not SDP":                {calls, testKey, sdp, "hello", 400, "invalid_offer"},
		"empty":                  {calls, testKey, sdp, "", 400, "invalid_offer"},
		"no data channel":        {calls, testKey, sdp, noData, 400, "invalid_offer"},
		"not even attributes":    {calls, testKey, sdp, noData + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", 400, "invalid_offer"},
		"too long":               {calls, testKey, sdp, strings.Repeat("x", maxOfferBytes+1), 413, "body_too_large"},
		"wrong content type":     {calls, testKey, "text/plain", noData, 415, "unsupported_content_type"},
		"bad form":               {calls, testKey, "multipart/form-data; boundary=b", "x", 400, "invalid_body"},
		"secret is no JSON":      {secrets, testKey, "application/json", `{`, 400, "invalid_json"},
		"secret for too long":    {secrets, testKey, "application/json", `{"expires_after":{"seconds":9999}}`, 400, "invalid_value"},
		"secret for bad session": {secrets, testKey, "application/json", `{"session":{"type":"realtime","audio":{"output":{"speed":9}}}}`, 400, "invalid_value"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, code := h.post(t, c.path, c.key, c.kind, c.body); status != c.status || code != c.code {
				t.Errorf("got %d %s, want %d %s", status, code, c.status, c.code)
			}
		})
	}
	if h.Calls() != 0 {
		t.Errorf("%d calls are left of refused requests", h.Calls())
	}
}

// Clients without a key cannot use up the rate of those with one.
func TestRateOfOthers(t *testing.T) {
	h := start(t)
	refused := 0
	for range 3 * requestBurst {
		for _, path := range []string{"/v1/models", "/v1/realtime/client_secrets", "/v1/unknown"} {
			res, _ := h.do(t, http.MethodGet, path, "wrong", "", nil)
			if res.StatusCode == http.StatusOK {
				t.Fatalf("%s: %d without a key", path, res.StatusCode)
			}
			if res.StatusCode == http.StatusTooManyRequests {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("the rate of wrong keys is unlimited")
	}
	if res, body := h.do(t, http.MethodGet, "/v1/models", testKey, "", nil); res.StatusCode != http.StatusOK {
		t.Errorf("with the key: %d %s", res.StatusCode, body)
	}
}

func TestEphemeralKeyMakesACall(t *testing.T) {
	h := start(t)
	_, body := h.do(t, http.MethodPost, "/v1/realtime/client_secrets", testKey, "application/json",
		strings.NewReader(`{"expires_after":{"anchor":"created_at","seconds":60},"session":`+transcribing()+`}`))
	var secret struct {
		Value     string `json:"value"`
		ExpiresAt int64  `json:"expires_at"`
	}
	if err := json.Unmarshal(body, &secret); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if !strings.HasPrefix(secret.Value, "ek_") || time.Until(time.Unix(secret.ExpiresAt, 0)).Abs() > time.Minute {
		t.Errorf("secret %q expires at %d", secret.Value, secret.ExpiresAt)
	}

	p, offer := newPeer(t)
	answer, sdp := h.do(t, http.MethodPost, "/v1/realtime/calls?model=mine", secret.Value, "application/sdp", strings.NewReader(offer))
	if answer.StatusCode != 201 || answer.Header.Get("Content-Type") != "application/sdp" {
		t.Fatalf("%s: %s", answer.Status, sdp)
	}
	p.accept(string(sdp))
	s := p.next("session.created").Session
	if s.Model != "mine" || s.Audio.Input.Transcription == nil || *s.Audio.Input.TurnDetection.PrefixPaddingMs != 200 {
		t.Errorf("the session is not that of the key and the query: %+v", s)
	}
	// The ephemeral key is valid only for calls.
	if res, _ := h.do(t, http.MethodGet, "/v1/models", secret.Value, "", nil); res.StatusCode != 401 {
		t.Errorf("an ephemeral key lists models: %s", res.Status)
	}
	if res, list := h.do(t, http.MethodGet, "/v1/models", testKey, "", nil); res.StatusCode != 200 || !strings.Contains(string(list), `"id":"`+modelID+`"`) {
		t.Errorf("models: %s, %s", res.Status, list)
	}
}

func TestSecretsExpire(t *testing.T) {
	now := time.Unix(1000, 0)
	s := newSecretStore(func() time.Time { return now })
	value, expires, ok := s.issue(time.Minute, json.RawMessage(`{}`))
	if !ok || !expires.Equal(time.Unix(1060, 0)) {
		t.Fatalf("%v, %v", expires, ok)
	}
	now = time.Unix(1059, 0)
	if _, ok := s.lookup(value); !ok {
		t.Error("a live key is refused")
	}
	now = time.Unix(1060, 0)
	if _, ok := s.lookup(value); ok {
		t.Error("an expired key is taken")
	}
	for range maxSecrets {
		if _, _, ok := s.issue(time.Minute, nil); !ok {
			t.Fatal("expired keys are not forgotten")
		}
	}
	if _, _, ok := s.issue(time.Minute, nil); ok {
		t.Error("the number of keys is not bounded")
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	h := start(t)
	ln, err := h.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, ln) }()
	res, err := h.web.Client().Get("http://" + ln.Addr().String() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != 401 {
		t.Errorf("%s, %v", res.Status, err)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("Serve did not end")
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	e := newFakeEngines()
	whole := Config{Recognizer: e.recognizer, Synthesizer: e.synthesizer, Detector: e.detector, APIKey: "k"}
	for name, breaks := range map[string]func(*Config){
		"recogniser": func(c *Config) { c.Recognizer = nil },
		"key":        func(c *Config) { c.APIKey = "" },
		"speed":      func(c *Config) { c.Speed = -1 },
	} {
		c := whole
		breaks(&c)
		if _, err := New(c); err == nil {
			t.Errorf("a server without a good %s is made", name)
		}
	}
}
