package realtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// logprobs is the client's request to include probabilities with transcripts.
const logprobs = `"include":["item.input_audio_transcription.logprobs"]`

// transcriptionWant is the session in which localai transcribes and does not answer.
// Its pipeline names the model; setting one would replace the pipeline.
const transcriptionWant = `{"type":"transcription",` + logprobs + `,"audio":{
	"input":{"transcription":{"language":"en","prompt":"goroutine, gopls"},"turn_detection":{"type":"server_vad","create_response":false,
		"interrupt_response":false,"threshold":0.6,"prefix_padding_ms":200,"silence_duration_ms":400}}}}`

// sessionWant is the requested session in the form of the public reference.
const sessionWant = `{"type":"realtime","model":"gpt-realtime","output_modalities":["audio"],"audio":{
	"input":{"transcription":{"model":%q,"language":"en","prompt":"goroutine, gopls"},"turn_detection":{"type":"server_vad","create_response":false,
		"interrupt_response":false,"threshold":0.6,"prefix_padding_ms":200,"silence_duration_ms":400}},
	"output":{"voice":"marin"}}}`

func jsonEqual(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v in %s", what, err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func settings(cfg Config) Config {
	cfg.Voice, cfg.Language, cfg.TranscriptionPrompt = "marin", "en", "goroutine, gopls"
	cfg.TurnDetection = TurnDetection{Type: ServerVAD, Threshold: 0.6, PrefixPadding: 200 * time.Millisecond, Silence: 400 * time.Millisecond}
	return cfg
}

// dialShapes holds each dialect's requests, according to the protocol's table and the
// public reference, and the session that follows.
var dialShapes = map[string]struct {
	dialect    Dialect
	kind       Kind
	suffix     string // of the base URL
	prefix     string // of the paths
	transcribe string
	auth       [2]string // header of client_secrets; empty without that request
}{
	"openai":         {OpenAI, APIKey, "", "/v1", "gpt-transcribe", [2]string{"Authorization", "Bearer " + canary}},
	"openai with v1": {OpenAI, APIKey, "/v1/", "/v1", "gpt-transcribe", [2]string{"Authorization", "Bearer " + canary}},
	"azure key":      {Azure, APIKey, "/", "/openai/v1", "our-transcriber", [2]string{"Api-Key", canary}},
	"azure entra":    {Azure, EntraToken, "/openai", "/openai/v1", "our-transcriber", [2]string{"Authorization", "Bearer " + canary}},
	"local":          {Local, APIKey, "", "/v1", "whisper-1", [2]string{"Authorization", "Bearer " + canary}},
	"localai":        {LocalAI, APIKey, "", "/v1", "", [2]string{}},
}

func TestDialShapes(t *testing.T) {
	for name, c := range dialShapes {
		t.Run(name, func(t *testing.T) {
			f := newFakeService(t)
			cfg := settings(f.config(c.dialect))
			cfg.BaseURL += c.suffix
			if c.dialect == LocalAI {
				cfg.Voice = "" // TestLocalAIVoiceIsSetBeforeItHears
			}
			cfg.Credentials = func(context.Context) (Credential, error) { return Credential{canary, c.kind}, nil }
			client, _ := connect(t, f, cfg)
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			reqs, bearer := f.seen(), "Bearer "+fakeKey
			if c.auth[0] == "" {
				bearer = "Bearer " + canary
			} else {
				secret := reqs[0]
				reqs = reqs[1:]
				if secret.path != c.prefix+"/realtime/client_secrets" {
					t.Errorf("the key came from %s", secret.path)
				}
				for _, h := range []string{"Authorization", "Api-Key"} {
					want := ""
					if h == c.auth[0] {
						want = c.auth[1]
					}
					if got := secret.header.Get(h); got != want {
						t.Errorf("%s of client_secrets is %q, want %q", h, got, want)
					}
				}
				jsonEqual(t, "client_secrets", secret.body, `{"session":`+fmt.Sprintf(sessionWant, c.transcribe)+`}`)
			}
			call := reqs[0]
			if call.path != c.prefix+"/realtime/calls" || call.header.Get("Authorization") != bearer || call.header.Get("Api-Key") != "" {
				t.Errorf("the call went to %s with %v", call.path, call.header)
			}
			sdp := string(call.body)
			if c.dialect == LocalAI {
				var v map[string]string
				if err := json.Unmarshal(call.body, &v); err != nil || len(v) != 2 || v["model"] != "gpt-realtime" {
					t.Errorf("the call is %s", call.body)
				}
				sdp = v["sdp"]
			} else if got := call.header.Get("Content-Type"); got != "application/sdp" {
				t.Errorf("the offer is of type %s", got)
			}
			for _, want := range []string{"m=audio", "opus/48000/2", "m=application", "a=candidate", "a=end-of-candidates"} {
				if !strings.Contains(sdp, want) {
					t.Errorf("the offer lacks %s", want)
				}
			}
			update := receive(t, f.session, "session.update")
			b, _ := json.Marshal(update["session"])
			want := strings.Replace(fmt.Sprintf(sessionWant, c.transcribe), `"model":"gpt-realtime",`, logprobs+",", 1)
			if c.dialect == LocalAI {
				want = transcriptionWant
			}
			jsonEqual(t, "session.update", b, want)
			hangups := reqs[1:]
			if c.dialect == LocalAI {
				if len(hangups) != 0 {
					t.Errorf("localai has no %s", hangups[0].path)
				}
			} else if len(hangups) != 1 || hangups[0].path != c.prefix+"/realtime/calls/rtc_fake1/hangup" || hangups[0].header.Get("Authorization") != bearer {
				t.Errorf("the call was hung up with %v", hangups)
			}
			if ct := client.Stats().Connect; ct.Total <= 0 || ct.Key+ct.Signalling+ct.ICE+ct.Channel+ct.Session > ct.Total {
				t.Errorf("the times of the dial do not add up: %+v", ct)
			}
		})
	}
}

func TestTurnDetectionShapes(t *testing.T) {
	for want, td := range map[string]TurnDetection{
		`{"type":"server_vad","create_response":false,"interrupt_response":false}`:                     {Type: ServerVAD},
		`{"type":"semantic_vad","create_response":false,"interrupt_response":false,"eagerness":"low"}`: {Type: SemanticVAD, Eagerness: "low"},
		`null`: {Type: NoDetection},
	} {
		b, err := json.Marshal(wantedSession(Config{TurnDetection: td, TranscriptionModel: "whisper-1"}, false))
		if err != nil {
			t.Fatal(err)
		}
		jsonEqual(t, td.Type, b, `{"type":"realtime","output_modalities":["audio"],"audio":{"input":{"transcription":{"model":"whisper-1"},"turn_detection":`+want+`}}}`)
	}
}

// TestDialFailures covers HTTP failures, and checks that no error reveals too much: the
// service repeats the key wherever it can.
func TestDialFailures(t *testing.T) {
	leak := `{"error":{"message":"bad key ` + canary + ` ` + fakeKey + `","type":"invalid_request_error","code":%q}}`
	answer := func(path string, status int, contentType, body string, header ...string) func(http.ResponseWriter, *http.Request, []byte) bool {
		return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if !strings.HasSuffix(r.URL.Path, path) {
				return false
			}
			w.Header().Set("Content-Type", contentType)
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	for name, c := range map[string]struct {
		http      func(http.ResponseWriter, *http.Request, []byte) bool
		code      string
		status    int
		retryable bool
		text      string
	}{
		"401":                      {answer("client_secrets", 401, "application/json", fmt.Sprintf(leak, "invalid_api_key")), CodeAuthentication, 401, false, "invalid_api_key"},
		"401 with the key as code": {answer("client_secrets", 401, "application/json", fmt.Sprintf(leak, canary)), CodeAuthentication, 401, false, "invalid_request_error"},
		"403 at the call":          {answer("calls", 403, "text/plain", canary+fakeKey), CodeAccessDenied, 403, false, "calls"},
		"403 for the key":          {answer("client_secrets", 403, "application/json", fmt.Sprintf(leak, "invalid_api_key")), CodeAuthentication, 403, false, "check the key"},
		"403 for the country":      {answer("client_secrets", 403, "application/json", fmt.Sprintf(leak, "unsupported_country_region_territory")), CodeRegionUnsupported, 403, false, "region"},
		"403 for the model":        {answer("client_secrets", 403, "application/json", fmt.Sprintf(leak, "model_not_found")), CodeModelUnavailable, 403, false, "model"},
		"404 for the deployment":   {answer("client_secrets", 404, "application/json", fmt.Sprintf(leak, "DeploymentNotFound")), CodeModelUnavailable, 404, false, "deployment"},
		"429 for the quota":        {answer("client_secrets", 429, "application/json", fmt.Sprintf(leak, "insufficient_quota"), "Retry-After", "7"), CodeQuotaExceeded, 429, false, "billing"},
		"503 with a date": {func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
			return answer("calls", 503, "text/plain", "", "Retry-After", date)(w, r, body)
		}, CodeConnectionFailed, 503, true, "503"},
		"the ephemeral key as code": {answer("calls", 400, "application/json", fmt.Sprintf(leak, fakeKey)), CodeCallRejected, 400, false, "answered 400; check"},
		"429":                       {answer("client_secrets", 429, "application/json", fmt.Sprintf(leak, "rate_limit_exceeded"), "Retry-After", "7"), CodeRateLimited, 429, true, "rate_limit_exceeded"},
		"500":                       {answer("calls", 500, "text/html", "<html>"), CodeConnectionFailed, 500, true, "500"},
		"404":                       {answer("client_secrets", 404, "text/html", "<html>"), CodeCallRejected, 404, false, "base URL"},
		"a redirect":                {answer("client_secrets", 307, "text/html", "", "Location", "http://127.0.0.1:1/"), CodeProtocolError, 307, false, "307"},
		"no key in the answer":      {answer("client_secrets", 200, "application/json", `{}`), CodeProtocolError, 0, false, "holds no key"},
		"no JSON":                   {answer("client_secrets", 200, "text/html", `<html>`), CodeProtocolError, 0, false, "holds no key"},
		"no SDP":                    {answer("calls", 201, "text/html", `<html>`+canary), CodeProtocolError, 0, false, `not an SDP but 26 bytes of "text/html"`},
		"an SDP that does not fit":  {answer("calls", 201, "application/sdp", "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"), CodeProtocolError, 0, false, "calls"},
		"too long":                  {answer("calls", 201, "application/sdp", strings.Repeat("v", maxAnswer+1)), CodeProtocolError, 0, false, "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeService(t)
			f.http = c.http
			var logged bytes.Buffer
			cfg := f.config(OpenAI)
			cfg.Log = zerolog.New(&logged)
			begin := time.Now()
			_, err := Dial(t.Context(), cfg, newRecorder())
			took := time.Since(begin)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is %T: %v", err, err)
			}
			if e.Code != c.code || e.Status != c.status || e.Retryable != c.retryable || !strings.Contains(e.Error(), c.text) {
				t.Errorf("got %s (code %s, status %d, retryable %v)", e, e.Code, e.Status, e.Retryable)
			}
			after := map[string]time.Duration{"429": 7 * time.Second, "503 with a date": 90 * time.Second}[name]
			if e.RetryAfter > after || after > 0 && e.RetryAfter < after-min(took, after)-time.Second { // a date has whole seconds
				t.Errorf("retry after %v, want %v", e.RetryAfter, after)
			}
			noSecret(t, fmt.Sprintf("%v %+v %#v %s", err, e, e, logged.String()))
		})
	}
}

func noSecret(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{canary, fakeKey} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is in %s", text)
		}
	}
}

// TestDialTimeouts checks that a service that stops responding at any step ends the
// dial at its own deadline, and that a rejected session ends it immediately.
func TestDialTimeouts(t *testing.T) {
	hang := func(path string) func(http.ResponseWriter, *http.Request, []byte) bool {
		return func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			if strings.HasSuffix(r.URL.Path, path) {
				<-r.Context().Done()
				return true
			}
			return false
		}
	}
	for name, c := range map[string]struct {
		set  func(*fakeService)
		step string
	}{
		"client_secrets":         {func(f *fakeService) { f.http = hang("client_secrets") }, "client_secrets"},
		"calls":                  {func(f *fakeService) { f.http = hang("calls") }, "calls"},
		"201 and never connects": {func(f *fakeService) { f.deaf, f.http = true, hang("/realtime") }, "network path"},
		"no session.updated":     {func(f *fakeService) { f.mute = true }, "session.update"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cfg Config
			var begin time.Time
			var r *recorder
			var e *Error
			var err error
			// On a busy machine, the steps before may take longer than the first timeout.
			for timeout := 1500 * time.Millisecond; timeout < patience; timeout *= 2 {
				f := newFakeService(t)
				c.set(f)
				cfg = f.config(OpenAI)
				cfg.ConnectTimeout = timeout
				begin, r = time.Now(), newRecorder()
				if _, err = Dial(t.Context(), cfg, r); errors.As(err, &e) && strings.Contains(e.Message, c.step) {
					break
				}
			}
			if e == nil || e.Code != CodeConnectTimeout || !e.Retryable || !strings.Contains(e.Message, c.step) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if d := time.Since(begin); d < cfg.ConnectTimeout {
				t.Errorf("the dial gave up after %v", d)
			}
			r.none(t)
		})
	}
}

func TestDialSessionRefused(t *testing.T) {
	f := newFakeService(t)
	f.mute = true
	go func() {
		<-f.session
		f.emit(`{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"invalid_value","message":"no such voice","param":"session.audio.output.voice","event_id":"session"}}`)
	}()
	_, err := Dial(t.Context(), f.config(OpenAI), newRecorder())
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeProtocolError || !strings.Contains(e.Message, "invalid_value") {
		t.Errorf("got %v", err)
	}
}

func TestDialGivesUp(t *testing.T) {
	f := newFakeService(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.http = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if strings.HasSuffix(r.URL.Path, "/calls") {
			cancel()
		}
		return false
	}
	_, err := Dial(ctx, f.config(OpenAI), newRecorder())
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeConnectionFailed || e.Retryable || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDialConfiguration(t *testing.T) {
	secret := errors.New("the store has " + canary)
	none := func(context.Context) (Credential, error) { return Credential{}, nil }
	for name, c := range map[string]struct {
		change func(*Config)
		code   string
	}{
		"no source":    {func(c *Config) { c.Credentials = nil }, CodeCredentialsMissing},
		"an empty key": {func(c *Config) { c.Credentials = none }, CodeCredentialsMissing},
		"a failing source": {func(c *Config) {
			c.Credentials = func(context.Context) (Credential, error) { return Credential{}, secret }
		}, CodeCredentialsMissing},
		"a broken key": {func(c *Config) {
			c.Credentials = func(context.Context) (Credential, error) { return Credential{Value: canary + "\n"}, nil }
		}, CodeCredentialsMissing},
		"unknown dialect":   {func(c *Config) { c.Dialect = "other" }, CodeConnectionFailed},
		"no base URL":       {func(c *Config) { c.BaseURL = "" }, CodeConnectionFailed},
		"a key in the URL":  {func(c *Config) { c.BaseURL = "https://user:" + canary + "@example.com" }, CodeConnectionFailed},
		"a query":           {func(c *Config) { c.BaseURL = "https://example.com?key=" + canary }, CodeConnectionFailed},
		"unencrypted":       {func(c *Config) { c.BaseURL = "http://example.com" }, CodeConnectionFailed},
		"another detection": {func(c *Config) { c.TurnDetection.Type = "other" }, CodeConnectionFailed},
		"nobody listens":    {func(c *Config) { c.BaseURL = "http://127.0.0.1:1" }, CodeConnectionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := newFakeService(t).config(OpenAI)
			c.change(&cfg)
			_, err := Dial(t.Context(), cfg, newRecorder())
			var e *Error
			if !errors.As(err, &e) || e.Code != c.code {
				t.Errorf("got %v", err)
			}
			noSecret(t, err.Error())
		})
	}
}

func TestDialWithoutKey(t *testing.T) {
	f := newFakeService(t)
	cfg := f.config(LocalAI)
	cfg.Credentials = nil
	connect(t, f, cfg)
	if got := f.seen()[0].header.Get("Authorization"); got != "" {
		t.Errorf("Authorization is %q", got)
	}
}

// TestCredentialRedaction: SEC-001.
func TestCredentialRedaction(t *testing.T) {
	c := Credential{Value: canary, Kind: APIKey}
	b, err := json.Marshal(struct{ C Credential }{c})
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	log := zerolog.New(&logged)
	log.Info().Interface("c", c).Stringer("s", c).Any("p", &c).Send()
	noSecret(t, fmt.Sprintf("%v %+v %#v %s %q %v %s %s", c, c, c, c, c, &c, b, logged.String()))
}
