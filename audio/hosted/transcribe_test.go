package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/memhttp"
)

// ears returns a recogniser backed by a service. It must be called in a synctest bubble.
func ears(t *testing.T, handler http.HandlerFunc, change func(*TranscriberConfig)) (*Transcriber, hearing.Recognizer) {
	t.Helper()
	service := memhttp.Serve(t, handler)
	row, _ := provider.Of(provider.OpenAI)
	hearing, _ := row.Hears(provider.Transcriptions)
	hearing = hearing.Of(row, "gpt-4o-transcribe")
	var log bytes.Buffer
	cfg := TranscriberConfig{
		Config: Config{
			Provider: row, BaseURL: memhttp.URL, Model: hearing.Model, HTTPClient: service, Stall: stall,
			Credentials: func(context.Context) (realtime.Credential, error) { return realtime.Credential{Value: canary}, nil },
			Log:         zerolog.New(&log),
		},
		Hearing: hearing, Language: func() string { return "en" }, Vocabulary: func() string { return "gopls, kubectl" },
		Keywords: func() []string { return []string{"gopls", "kubectl"} },
	}
	if change != nil {
		change(&cfg)
	}
	tr, err := NewTranscriber(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tr.Recognizer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), canary) || strings.Contains(log.String(), "tests pass") {
			t.Errorf("the log holds the key or what was said: %s", log.String())
		}
	})
	return tr, r
}

// hear recognises one utterance.
func hear(t *testing.T, r hearing.Recognizer) (hearing.Result, []string, error) {
	t.Helper()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.Write(make([]int16, hearing.SampleRate/10)); err != nil {
			t.Fatal(err)
		}
	}
	var partials []string
	result, err := r.(hearing.Streamer).FinishStreaming(func(text string) { partials = append(partials, text) })
	return result, partials, err
}

func events(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range list {
			_, _ = fmt.Fprintf(w, "event: x\ndata: %s\n\n", e)
		}
	}
}

func answer(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body)
	}
}

// Responses may be complete or streamed, with or without probabilities, in the formats
// of OpenAI and vLLM.
func TestAnswersOfTranscription(t *testing.T) {
	sure := math.Exp(-0.1)
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		text     string
		probs    []float64
		partials []string
	}{
		"whole":                     {answer("application/json", `{"text":" All tests pass. "}`), "All tests pass.", nil, nil},
		"whole, with a probability": {answer("application/json", `{"text":"All","logprobs":[{"logprob":-0.1},{"logprob":-0.1}]}`), "All", []float64{sure}, nil},
		"nothing said":              {answer("application/json", `{"text":""}`), "", nil, nil},
		"streamed": {events(`{"type":"transcript.text.delta","delta":"All"}`, `{"type":"transcript.text.delta","delta":" tests"}`,
			`{"type":"transcript.text.done","text":"All tests.","logprobs":[{"logprob":-0.1}]}`), "All tests.", []float64{sure, sure}, []string{"All", "All tests"}},
		"streamed by vLLM": {events(`{"object":"transcription.chunk","choices":[{"delta":{"content":" All"}}]}`,
			`{"object":"transcription.chunk","choices":[{"delta":{"content":" tests"}}]}`, `[DONE]`), "All tests", nil, []string{" All", " All tests"}},
	} {
		virtually(t, name, func(t *testing.T) {
			_, r := ears(t, c.handler, nil)
			got, partials, err := hear(t, r)
			if err != nil || got.Text != c.text || !slices.EqualFunc(got.Probs, c.probs, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) || !slices.Equal(partials, c.partials) {
				t.Errorf("%+v %q %v", got, partials, err)
			}
		})
	}
}

// A service that misbehaves fails the utterance with a code that describes the failure,
// or the request is retried.
func TestTranscriptionsThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		code    string
		tries   int32
	}{
		"a page":               {answer("text/html", "<html>"), realtime.CodeProtocolError, 1},
		"no JSON":              {answer("application/json", "{"), realtime.CodeProtocolError, 1},
		"no text":              {answer("application/json", `{"words":"All tests pass."}`), realtime.CodeProtocolError, 1},
		"a stream without end": {events(`{"type":"transcript.text.delta","delta":"All"}`), realtime.CodeProtocolError, 1},
		"an error in a stream": {events(`{"error":{"message":"All tests pass."}}`), realtime.CodeProtocolError, 1},
		"far too much":         {answer("application/json", `{"text":"`+strings.Repeat("a", 2*maxText)+`"}`), realtime.CodeProtocolError, 1},
		"a line far too long":  {events(strings.Repeat("a", 2*maxText)), "", 1},
		"the key is refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}, realtime.CodeAuthentication, 1},
		"busy for long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		}, realtime.CodeRateLimited, 1},
		"out of order": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, realtime.CodeConnectionFailed, 3},
		"drops": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"text":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, realtime.CodeConnectionLost, 3},
		"never answers": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, realtime.CodeSpeechTimeout, 3},
	} {
		virtually(t, name, func(t *testing.T) {
			var tries atomic.Int32
			_, r := ears(t, func(w http.ResponseWriter, q *http.Request) { tries.Add(1); c.handler(w, q) }, nil)
			result, _, err := hear(t, r)
			var e *realtime.Error
			if errors.As(err, &e); err == nil || c.code != "" && (e == nil || e.Code != c.code) || result.Text != "" {
				t.Errorf("%+v: %v, want %s", result, err, c.code)
			}
			if err != nil && strings.Contains(err.Error(), "tests pass") || tries.Load() != c.tries {
				t.Errorf("%v after %d requests, want %d", err, tries.Load(), c.tries)
			}
		})
	}
}

// The request matches the reference: the audio as WAV, the model, the language and the
// vocabulary.
func TestFormOfTranscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fields map[string][]string
		var file []byte
		handler := func(w http.ResponseWriter, r *http.Request) {
			f, head, err := r.FormFile("file")
			if err != nil || head.Header.Get("Content-Type") != "audio/wav" {
				t.Errorf("%v %v", err, head)
				return
			}
			file, _ = io.ReadAll(f)
			fields = r.MultipartForm.Value
			_ = json.NewEncoder(w).Encode(map[string]string{"text": "yes"})
			w.Header().Set("Content-Type", "application/json")
		}
		for model, want := range map[string]map[string][]string{
			"gpt-4o-transcribe": {"language": {"en"}, "prompt": {"gopls, kubectl"}, "include[]": {"logprobs"}},
			"gpt-transcribe":    {"languages[]": {"en"}, "keywords[]": {"gopls", "kubectl"}},
			"whisper-1":         {"language": {"en"}, "prompt": {"gopls, kubectl"}},
		} {
			_, r := ears(t, handler, func(c *TranscriberConfig) {
				c.Model, c.Hearing = model, c.Hearing.Of(c.Provider, model)
				c.Hearing.Streams = false
			})
			if _, _, err := hear(t, r); err == nil { // the response has no usable content type
				t.Error("text/plain is taken for JSON")
			}
			want["model"], want["response_format"] = []string{model}, []string{"json"}
			if !maps.EqualFunc(fields, want, slices.Equal) {
				t.Errorf("%q, want %q", fields, want)
			}
			if len(file) != 44+2*3*hearing.SampleRate/10 || string(file[:4]) != "RIFF" || string(file[8:16]) != "WAVEfmt " {
				t.Errorf("%d bytes of audio", len(file))
			}
		}
	})
}

// If the service fails, the other engine recognises the whole utterance and the failure
// is reported. This does not apply to a cancelled utterance.
func TestAnotherEngineRecognisesWhatAServiceFailsAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var other engine
		var told []error
		_, r := ears(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, func(c *TranscriberConfig) {
			c.Instead = func() (hearing.Recognizer, error) { return &other, nil }
			c.Report = func(err error) { told = append(told, err) }
		})
		result, _, err := hear(t, r)
		if err != nil || result.Text != "by another" || other.samples != 3*hearing.SampleRate/10 || !other.closed || len(told) != 1 {
			t.Errorf("%+v %v: the other engine heard %d samples, told %v", result, err, other.samples, told)
		}
	})
}

type engine struct {
	samples int
	closed  bool
}

func (e *engine) Start() error                    { return nil }
func (e *engine) Write(pcm []int16) error         { e.samples += len(pcm); return nil }
func (e *engine) Partial() string                 { return "" }
func (e *engine) Finish() (hearing.Result, error) { return hearing.Result{Text: "by another"}, nil }
func (e *engine) Close() error                    { e.closed = true; return nil }

// Cancel closes the request immediately, and no other engine is used. The next
// utterance is recognised.
func TestCancelOfTranscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{}, 1)
		var n atomic.Int32
		tr, r := ears(t, func(w http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body)
			if n.Add(1) == 1 {
				asked <- struct{}{}
				<-q.Context().Done()
				return
			}
			answer("application/json", `{"text":"again"}`)(w, q)
		}, func(c *TranscriberConfig) {
			c.Stall = time.Minute
			c.Instead = func() (hearing.Recognizer, error) { t.Error("another engine is asked"); return nil, errors.New("no") }
		})
		go func() { <-asked; tr.Cancel() }()
		begin := time.Now()
		if _, _, err := hear(t, r); !errors.Is(err, context.Canceled) || time.Since(begin) > 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if result, _, err := hear(t, r); err != nil || result.Text != "again" {
			t.Errorf("%+v %v", result, err)
		}
	})
}

// The audio is discarded with the utterance, and misuse is an error.
func TestUtterancesOfARecogniser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := ears(t, answer("application/json", `{"text":"yes"}`), nil)
		if _, err := r.Finish(); !errors.Is(err, hearing.ErrNoUtterance) {
			t.Error(err)
		}
		if err := r.Write([]int16{1}); !errors.Is(err, hearing.ErrNoUtterance) {
			t.Error(err)
		}
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		if result, err := r.Finish(); err != nil || result.Text != "" { // nothing was heard, so nothing is requested
			t.Errorf("%+v %v", result, err)
		}
		_ = r.Start()
		pcm := bytes.Repeat([]byte{1}, hearing.SampleRate)
		for range 3 * hearing.LongestUtterance / hearing.SampleRate {
			if err := r.Write(make([]int16, len(pcm))); err != nil {
				t.Fatal(err)
			}
		}
		kept := r.(*recognizer).pcm
		kept[0] = 7
		if len(kept) != hearing.LongestUtterance || r.Partial() != "" {
			t.Errorf("%d samples are kept", len(kept))
		}
		if _, err := r.Finish(); err != nil || kept[0] != 0 {
			t.Errorf("%v; the audio is kept: %v", err, kept[0] != 0)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Start(); !errors.Is(err, hearing.ErrClosed) {
			t.Error(err)
		}
	})
}
