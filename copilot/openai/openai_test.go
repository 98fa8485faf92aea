package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ copilot.Adapter = (*openai.Adapter)(nil)

const canary = "sk-CANARY-4711"

var request = copilot.Request{ID: "req-1", TurnID: "t1", Attempt: 1, Messages: []copilot.Message{
	{Role: copilot.RoleUser, Content: "CANARY question"},
	{Role: copilot.RoleAssistant, Content: "answer"},
	{Role: copilot.RoleTool, Content: "result"},
	{Role: copilot.RoleUser, Content: "next"},
}}

// serve starts a service on loopback and returns an adapter for it.
func serve(t *testing.T, h http.HandlerFunc, change ...func(*openai.Options)) *openai.Adapter {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	o := openai.Options{BaseURL: server.URL + "/v1", Key: openai.NewKey(canary), Model: "test-model"}
	for _, c := range change {
		c(&o)
	}
	a, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// sse responds with server-sent events.
func sse(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeEvents(w, events...) }
}

func writeEvents(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range events {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
	}
}

func content(text string) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text)
}

func finish(reason string) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

func send(t *testing.T, a *openai.Adapter) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	err := a.Send(ctx, request, func(s string) { b.WriteString(s) })
	return b.String(), err
}

func wantError(t *testing.T, err error, code string, retryable bool) *copilot.Error {
	t.Helper()
	var e *copilot.Error
	if !errors.As(err, &e) || e.Code != code || e.Retryable != retryable {
		t.Fatalf("got %#v, want %s, retryable %v", err, code, retryable)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", err, e, e), "CANARY") {
		t.Fatalf("the error holds a secret or words of the user: %#v", e)
	}
	return e
}

func TestAnswer(t *testing.T) {
	var header http.Header
	var path string
	var body map[string]any
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, path = r.Header, r.URL.Path
		_ = json.NewDecoder(r.Body).Decode(&body)
		writeEvents(w, `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, content("Hello "), content("world."), finish("stop"),
			`{"choices":[],"usage":{"total_tokens":3}}`, "[DONE]")
	})
	text, err := send(t, a)
	if text != "Hello world." || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if path != "/v1/chat/completions" || header.Get("Authorization") != "Bearer "+canary || header.Get("X-Client-Request-Id") != "req-1" {
		t.Errorf("path %s, header %v", path, header)
	}
	message := func(role, text string) any { return map[string]any{"role": role, "content": text} }
	want := map[string]any{"model": "test-model", "stream": true, "messages": []any{
		message("system", openai.DefaultSystemPrompt), message("user", "CANARY question"), message("assistant", "answer"),
		message("user", "[Result of a tool]\nresult"), message("user", "next"),
	}}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("body %v\nwant %v", body, want)
	}
}

// Usage is requested from services that document it, and accepted from all.
func TestUsage(t *testing.T) {
	var used []copilot.Usage
	request := request
	request.Used = func(u copilot.Usage) { used = append(used, u) }
	a := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		writeEvents(w, content("Hello."), finish("stop"),
			`{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":100}}}`, "[DONE]")
	})
	if err := a.Send(t.Context(), request, func(string) {}); err != nil {
		t.Fatal(err)
	}
	want := []copilot.Usage{{Provider: "local", Model: "test-model", Input: 120, Cached: 100, Output: 7}}
	if !reflect.DeepEqual(used, want) {
		t.Errorf("used %+v, want %+v", used, want)
	}
	if of, model := a.Hosted(""); of != "local" || model != "test-model" {
		t.Errorf("%s of %s would answer", model, of)
	}
	if _, model := a.Hosted("other"); model != "other" {
		t.Errorf("%s would answer", model)
	}
	for base, asks := range map[string]bool{"https://api.openai.com/v1": true, "https://we.openai.azure.com/openai/v1": true, "https://api.example.com/v1": false} {
		var body []byte
		a, err := openai.New(openai.Options{BaseURL: base, Model: "m", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			body, _ = io.ReadAll(r.Body)
			return nil, io.ErrUnexpectedEOF
		})})
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Send(t.Context(), request, func(string) {}) // no response
		if got := strings.Contains(string(body), `"stream_options":{"include_usage":true}`); got != asks {
			t.Errorf("%s: asked is %v, want %v: %s", base, got, asks, body)
		}
	}
}

// OpenAI's own library would read these and send them to any server.
func TestEnvironmentIsNotUsed(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", canary)
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Canary: "+canary)
	var header http.Header
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		writeEvents(w, content("ok"), finish("stop"))
	}, func(o *openai.Options) { o.Key = openai.NewKey("") })
	if text, err := send(t, a); text != "ok" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if strings.Contains(fmt.Sprint(header), "CANARY") {
		t.Errorf("header %v", header)
	}
}

// The end of an answer decides whether it is complete.
func TestEnds(t *testing.T) {
	cut := func(events ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			writeEvents(w, events...)
			panic(http.ErrAbortHandler)
		}
	}
	const half = "half"
	tests := []struct {
		name      string
		h         http.HandlerFunc
		text      string
		code      string // "" for no error
		retryable bool
	}{
		{"finish_reason and [DONE]", sse(content(half), finish("stop"), "[DONE]"), half, "", false},
		{"finish_reason alone", sse(content(half), finish("stop")), half, "", false},
		{"[DONE] alone", sse(content(half), "[DONE]"), half, "", false},
		{"length", sse(content(half), finish("length"), "[DONE]"), half, "answerCutLength", false},
		{"length, by another name", sse(content(half), finish("MAX_TOKENS")), half, "answerCutLength", false},
		{"length before any word", sse(finish("length")), "", "answerCutLength", false},
		{"length in the reasoning", sse(content("<think>CANARY"), finish("length")), "", "answerCutLength", false},
		{"failure as a reason", sse(content(half), finish("insufficient_system_resource")), half, "answerCutOff", false},
		{"failure as a reason before any word", sse(finish("error")), "", "copilotFailed", true},
		{"only reasoning", sse(content("<think>CANARY</think>\n"), finish("stop")), "", "copilotEmpty", true},
		{"half a tag", sse(content(half+"<thi"), finish("stop")), half, "", false},
		{"half a tag, then a failure", sse(content("a <"), `{"error":{}}`), "a <", "answerCutOff", false},
		{"refusal", sse(`{"choices":[{"delta":{"refusal":"I cannot."}}]}`, finish("stop")), "I cannot.", "", false},
		{"comments between", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": ping\n\nretry: 3\r\n\r\ndata: "+content("a")+"\r\n\r\n: ping\n\ndata:"+finish("stop")+"\n\n")
		}, "a", "", false},
		{"clean end in the middle", sse(content(half)), half, "answerCutOff", false},
		{"cut in the middle", cut(content(half)), half, "answerCutOff", false},
		{"cut before any word", cut(`{"choices":[]}`), "", "copilotFailed", true},
		{"cut after the end", cut(content(half), finish("stop")), half, "", false},
		{"half an event", func(w http.ResponseWriter, _ *http.Request) {
			writeEvents(w, content(half))
			_, _ = io.WriteString(w, "data: "+strings.TrimSuffix(content(" lost"), "}"))
		}, half, "answerCutOff", false},
		{"malformed chunk", sse(content(half), `{"choices":[{`, finish("stop")), half, "answerCutOff", false},
		{"malformed first chunk", sse(`not json CANARY`), "", "copilotFailed", false},
		{"chunk of a wrong shape", sse(content(half), `{"choices":{"CANARY":1}}`), half, "answerCutOff", false},
		{"finish_reason, then a chunk without one", cut(content(half), finish("stop"), `{"choices":[{"delta":{},"finish_reason":""}]}`), half, "", false},
		{"no error", sse(`{"error":null,"choices":[]}`, content(half), finish("stop")), half, "", false},
		{"empty words", sse(`{"choices":[{"delta":{"content":""}}]}`, finish("stop")), "", "copilotEmpty", true},
		{"empty", sse(finish("stop"), "[DONE]"), "", "copilotEmpty", true},
		{"nothing", sse("[DONE]"), "", "copilotEmpty", true},
		{"filter", sse(finish("content_filter")), "", "copilotBlocked", false},
		{"filter in the middle", sse(content(half), finish("content_filter")), half, "answerCutFilter", false},
		{"error event", sse(`{"error":{"message":"CANARY","type":"server_error"}}`), "", "copilotUnavailable", true},
		{"error event with a number", sse(`{"error":{"message":"CANARY","code":500}}`), "", "copilotFailed", true},
		{"error text", sse(`{"error":"CANARY"}`), "", "copilotFailed", true},
		{"error event in the middle", sse(content(half), `{"error":{"code":"rate_limit_exceeded"}}`), half, "answerCutOff", false},
		{"no stream", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"CANARY"}}]}`)
		}, "", "copilotFailed", false},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>CANARY") }, "", "copilotFailed", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := send(t, serve(t, tt.h))
			if text != tt.text {
				t.Errorf("got %q, want %q", text, tt.text)
			}
			if tt.code != "" {
				wantError(t, err, tt.code, tt.retryable)
			} else if err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A server that sends no empty lines, and does not close the connection, is heard as it speaks.
func TestStreamWithoutEmptyLines(t *testing.T) {
	over := make(chan struct{})
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{content("fo"), content("ur"), finish("stop"), "[DONE]"} {
			_, _ = fmt.Fprintf(w, "data: %s\n", e)
			w.(http.Flusher).Flush()
		}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	})
	text, err := send(t, a)
	close(over)
	if text != "four" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// Whatever has no end is cut off, and what was said before stays.
func TestStreamsWithoutEnd(t *testing.T) {
	for name, endless := range map[string]string{"an event": "data: " + strings.Repeat("x", 1000) + "\n", "a line": strings.Repeat("x", 1000)} {
		text, err := send(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			writeEvents(w, content("half"))
			for range 6000 {
				if _, err := io.WriteString(w, endless); err != nil {
					return
				}
			}
		}))
		if text != "half" {
			t.Errorf("%s without end: %.100q", name, text)
		}
		wantError(t, err, "answerCutOff", false)
	}
	for name, chunk := range map[string]string{
		"reasoning in a field":  `{"choices":[{"delta":{"reasoning":"` + strings.Repeat("CANARY ", 20_000) + `"}}]}`,
		"reasoning in the text": content(strings.Repeat("CANARY ", 20_000)),
	} {
		text, err := send(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			writeEvents(w, content("half <think>"))
			for range 100 {
				writeEvents(w, chunk)
			}
		}))
		if text != "half " {
			t.Errorf("%s without end: %.100q", name, text)
		}
		wantError(t, err, "answerCutLength", false)
	}
	chunk := content(strings.Repeat("word ", 20_000))
	text, err := send(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			writeEvents(w, chunk)
		}
	}))
	wantError(t, err, "answerCutLength", false)
	if len(text) < 4<<20 || len(text) > 5<<20 {
		t.Errorf("%d bytes were said", len(text))
	}
}

func TestStatuses(t *testing.T) {
	tests := []struct {
		status    int
		body      string
		code      string
		retryable bool
	}{
		{401, `{"error":{"message":"Incorrect API key provided: ` + canary + `","code":"invalid_api_key"}}`, "authentication", false},
		{401, ``, "authentication", false},
		{403, `{"error":"CANARY"}`, "accessDenied", false},
		{403, `{"error":{"message":"CANARY","code":"invalid_api_key"}}`, "authentication", false},
		{403, `{"error":{"message":"CANARY","type":"request_forbidden","code":"unsupported_country_region_territory"}}`, "regionUnsupported", false},
		{403, `{"error":{"message":"CANARY","code":"model_not_found"}}`, "modelUnavailable", false},
		{402, ``, "quotaExceeded", false},
		{429, `{"error":{"message":"CANARY","type":"insufficient_quota","code":"insufficient_quota"}}`, "quotaExceeded", false},
		{429, `{"error":{"message":"CANARY","code":"rate_limit_exceeded"}}`, "rateLimited", true},
		{429, `slow down CANARY`, "rateLimited", true},
		{400, `{"error":{"message":"CANARY","code":"context_length_exceeded"}}`, "copilotFailed", false},
		{400, `{"error":{"message":"CANARY","code":"content_filter"}}`, "copilotBlocked", false},
		{400, `{"error":{"message":"CANARY","code":"CANARY"}}`, "copilotFailed", false},
		{404, `{"error":{"message":"CANARY","code":"model_not_found"}}`, "modelUnavailable", false},
		{404, `404 page not found`, "copilotFailed", false},
		{408, ``, "copilotUnavailable", true},
		{409, ``, "copilotUnavailable", true},
		{425, ``, "copilotUnavailable", true},
		{500, `<html>CANARY</html>`, "copilotUnavailable", true},
		{503, `{"error":{"message":"CANARY"}}`, "copilotUnavailable", true},
		{302, ``, "copilotFailed", false},
		{204, ``, "copilotFailed", false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %.30s", tt.status, tt.body), func(t *testing.T) {
			calls := 0
			a := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls++
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Retry-After", "7")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				if tt.body != "" {
					_, _ = io.WriteString(w, tt.body)
				}
			})
			_, err := send(t, a)
			e := wantError(t, err, tt.code, tt.retryable)
			if told := strings.Contains(e.Message, "address or model"); told != (tt.status == 404 && tt.code == "copilotFailed") {
				t.Errorf("the user sees %q", e.Message)
			}
			if want := map[bool]time.Duration{true: 7 * time.Second}[tt.retryable]; e.After != want {
				t.Errorf("a pause of %v, want %v: only what may be tried again has one", e.After, want)
			}
			if calls != 1 {
				t.Errorf("%d requests were made: the caller retries, not the adapter", calls)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name, value string
		least, most time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second, 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{"Retry-After-Ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		{"Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat), 30 * time.Second, time.Minute},
		{"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT", 0, 0},
		{"Retry-After", "1e300", 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", "90000", 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", time.Now().Add(48 * time.Hour).UTC().Format(http.TimeFormat), 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", "-5", 0, 0},
		{"Retry-After", "NaN", 0, 0},
		{"Retry-After", "soon", 0, 0},
	}
	for _, tt := range tests {
		a := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(tt.name, tt.value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := send(t, a)
		if e := wantError(t, err, "rateLimited", true); e.After < tt.least || e.After > tt.most {
			t.Errorf("%s: %s: got %v, want %v to %v", tt.name, tt.value, e.After, tt.least, tt.most)
		}
	}
}

func TestConnectionRefused(t *testing.T) {
	server := httptest.NewServer(nil)
	base := server.URL
	server.Close()
	a, err := openai.New(openai.Options{BaseURL: base, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = send(t, a)
	wantError(t, err, "copilotUnavailable", true)
}

func TestBadCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(sse())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it would log the rejected certificate
	server.StartTLS()
	defer server.Close()
	a, err := openai.New(openai.Options{BaseURL: server.URL, Model: "m", Key: openai.NewKey(canary)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = send(t, a)
	wantError(t, err, "copilotFailed", false)
}

// A slow stream is abandoned as soon as ctx is done, and the service notices.
func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		writeEvents(w, content("a"))
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var text string
	err := a.Send(ctx, request, func(s string) { text += s; cancel() })
	if !errors.Is(err, context.Canceled) || text != "a" {
		t.Fatalf("got %q, %v", text, err)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("the service still waits")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// canned is a transport that responds with the given body and counts closed bodies and
// connections.
type canned struct {
	body         string
	status       int
	closed, idle int
	*strings.Reader
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	c.Reader = strings.NewReader(c.body)
	return &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: c, Request: r}, nil
}

func (c *canned) Close() error          { c.closed++; return nil }
func (c *canned) CloseIdleConnections() { c.idle++ }

// A fully buffered answer is not emitted further once ctx is done, and ends as cancelled;
// its body and connections are closed.
func TestCancelWithBufferedData(t *testing.T) {
	c := &canned{status: http.StatusOK, body: "data: " + content("a") + "\n\ndata: " + content("b") + "\n\ndata: [DONE]\n\n"}
	a, err := openai.New(openai.Options{Model: "m", Transport: c, SystemPrompt: "Be brief."})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	text := ""
	if err := a.Send(ctx, request, func(s string) { text += s; cancel() }); !errors.Is(err, context.Canceled) || text != "a" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := a.Close(); err != nil || c.closed != 1 || c.idle != 1 {
		t.Errorf("%v; %d bodies and %d transports were given back", err, c.closed, c.idle)
	}
}

// The caller's prompt replaces the default.
func TestSystemPrompt(t *testing.T) {
	var body struct{ Messages []struct{ Content string } }
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&body)
		writeEvents(w, content("ok"), finish("stop"))
	}, func(o *openai.Options) { o.SystemPrompt = "Be brief." })
	if _, err := send(t, a); err != nil || body.Messages[0].Content != "Be brief." {
		t.Errorf("%v; the messages are %+v", err, body.Messages)
	}
}

func TestDeadlineBeforeTheAnswer(t *testing.T) {
	stop := make(chan struct{})
	a := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the disconnect
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	})
	defer close(stop)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := a.Send(ctx, request, func(string) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// The path of the base URL is kept; without one it is /v1, as for voice services.
func TestPathOfBaseURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:1": "/v1/chat/completions", "http://127.0.0.1:1/": "/v1/chat/completions",
		"http://127.0.0.1:1/v1": "/v1/chat/completions", "http://127.0.0.1:1/api/v2/": "/api/v2/chat/completions",
	} {
		path := ""
		a, err := openai.New(openai.Options{BaseURL: base, Model: "m", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			path = r.URL.Path
			return nil, io.ErrUnexpectedEOF
		})})
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Send(t.Context(), request, func(string) {}) // no response
		if path != want {
			t.Errorf("%s: path %s, want %s", base, path, want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	key := openai.NewKey(canary)
	for name, o := range map[string]openai.Options{
		"no model":           {Key: key},
		"no URL":             {Model: "m", BaseURL: "CANARY"},
		"no host":            {Model: "m", BaseURL: "https:///CANARY"},
		"wrong scheme":       {Model: "m", BaseURL: "ftp://example.org"},
		"unparsable":         {Model: "m", BaseURL: "http://CANARY\x7f"},
		"password in it":     {Model: "m", BaseURL: "https://user:CANARY@example.org"},
		"key without TLS":    {Model: "m", BaseURL: "http://example.org/v1", Key: key},
		"key for a bare URL": {Model: "m", BaseURL: "http://192.0.2.1:8080", Key: key},
	} {
		if _, err := openai.New(o); err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, o := range []openai.Options{{Model: "m", Key: key}, {Model: "m", BaseURL: "http://example.org/v1"}, {Model: "m", BaseURL: "http://[::1]:1/v1", Key: key},
		{Model: "m", BaseURL: "http://localhost:1/v1", Key: key}, {Model: "m", BaseURL: "http://example.org", Key: openai.NewKey("")}} {
		if _, err := openai.New(o); err != nil {
			t.Errorf("%s: %v", o.BaseURL, err)
		}
	}
}

// However it is printed, logged or encoded, the key is redacted.
func TestKeyIsRedacted(t *testing.T) {
	o := openai.Options{Key: openai.NewKey(canary), Model: "m"}
	a, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, v := range []any{o.Key, &o.Key, o, &o, a, *a, []openai.Key{o.Key}, map[string]any{"k": o.Key}, struct{ k openai.Key }{o.Key}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			_, _ = fmt.Fprintf(&out, verb+"\n", v)
		}
		logger := zerolog.New(&out)
		logger.Info().Any("v", v).Send()
	}
	encoded, err := json.Marshal(map[string]any{"key": o.Key})
	if err != nil || string(encoded) != `{"key":"[redacted]"}` {
		t.Errorf("got %s, %v", encoded, err)
	}
	for _, form := range []string{canary, "CANARY", fmt.Sprintf("%x", canary)} {
		if strings.Contains(out.String(), form) {
			t.Errorf("%q was printed", form)
		}
	}
}
