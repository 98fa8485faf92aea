package hosted

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// script is what a service does in one connection: ">" reads events up to one that begins so, "#" closes with a
// status, "drop" breaks the connection, "hang" waits for the end of the test, and everything else is sent.
type script []string

// streaming serves a script for each connection, the last one for all that follow. heard has the events of each.
func streaming(t *testing.T, scripts ...script) (http.HandlerFunc, *[][]string, *atomic.Int32) {
	var tries atomic.Int32
	heard := make([][]string, 10)
	return func(w http.ResponseWriter, r *http.Request) {
		n := int(tries.Add(1)) - 1
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for _, step := range scripts[min(n, len(scripts)-1)] {
			until, reads := strings.CutPrefix(step, ">")
			status, closes := strings.CutPrefix(step, "#")
			switch {
			case step == "drop":
				return
			case step == "hang":
				<-t.Context().Done()
			case closes:
				code := 0
				_, _ = fmt.Sscan(status, &code)
				_ = conn.Close(websocket.StatusCode(code), "")
				return
			case reads:
				for {
					_, b, err := conn.Read(r.Context())
					if err != nil {
						return
					}
					heard[n] = append(heard[n], string(b))
					if strings.HasPrefix(string(b), until) {
						break
					}
				}
			default:
				_ = conn.Write(r.Context(), websocket.MessageText, []byte(step))
			}
		}
		for err == nil {
			_, _, err = conn.Read(r.Context())
		}
	}, &heard, &tries
}

const (
	began    = `>{"type":"input_audio_buffer.commit","final":false`
	appends  = `>{"type":"input_audio_buffer.append"`
	finished = `>{"type":"input_audio_buffer.commit","final":true`
	created  = `{"type":"session.created","id":"sess-1","created":1}`
)

func delta(words string) string { return `{"type":"transcription.delta","delta":"` + words + `"}` }
func done(words string) string {
	return `{"type":"transcription.done","text":"` + words + `","usage":{"total_tokens":2}}`
}

// overStream makes a configuration that of vLLM's wire.
func overStream(c *TranscriberConfig) {
	c.Provider, _ = provider.Of(provider.Compatible)
	c.Hearing, _ = c.Provider.Hears(provider.Realtime)
	c.Model = "mistralai/Voxtral-Mini-4B-Realtime-2602"
}

// TestStreamOfAnUtterance: the events are those of the reference, in its order; the words come while the user
// speaks; and each utterance has a connection of its own, since vLLM drops what arrives between two.
func TestStreamOfAnUtterance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, heard, tries := streaming(t, script{created, began, appends, delta(" All"), appends, delta(" tests"), finished, `{"type":"something.new"}`, delta(" pass."), done(" All tests pass. ")})
		_, r := ears(t, service, overStream)
		for n := range 2 {
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			var partials []string
			for i := range 5 { // of 50 ms
				if err := r.Write(slices.Repeat([]int16{int16(i)}, hearing.SampleRate/20)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				partials = append(partials, r.Partial())
			}
			if want := []string{"", "All", "All", "All tests", "All tests"}; !slices.Equal(partials, want) {
				t.Errorf("while the user spoke: %q, want %q", partials, want)
			}
			result, err := r.(hearing.Streamer).FinishStreaming(func(text string) { partials = append(partials, text) })
			if err != nil || result.Text != "All tests pass." || !slices.Contains(partials, "All tests") {
				t.Errorf("%+v %v after %q", result, err, partials)
			}
			if r.Partial() != "" {
				t.Error("the words stay")
			}
			events := (*heard)[n]
			if len(events) != 6 || events[0] != `{"type":"session.update","model":"mistralai/Voxtral-Mini-4B-Realtime-2602"}` || int(tries.Load()) != n+1 {
				t.Fatalf("%d connections; the events were %q", tries.Load(), events)
			}
			if got, samples := audioOf(t, events); samples != hearing.SampleRate/4 || !slices.Equal(got, []int{1600, 1600, 800}) {
				t.Errorf("%d samples were sent, in %v", samples, got)
			}
		}
	})
}

// audioOf returns how many samples each event appends, and all.
func audioOf(t *testing.T, events []string) (each []int, all int) {
	t.Helper()
	for _, e := range events {
		var v struct {
			Type, Audio string
		}
		if err := json.Unmarshal([]byte(e), &v); err != nil {
			t.Error(err)
		}
		if v.Type == "input_audio_buffer.append" {
			raw, err := base64.StdEncoding.DecodeString(v.Audio)
			if err != nil {
				t.Error(err)
			}
			each, all = append(each, len(raw)/2), all+len(raw)/2
		}
	}
	return each, all
}

// TestStreamsThatMisbehave: a stream that fails is repeated with the whole utterance if that may help, and else fails
// with a code that says why. Nothing that was said is lost by a connection that breaks.
func TestStreamsThatMisbehave(t *testing.T) {
	good := script{created, finished, done("All tests pass.")}
	long := strings.Repeat("a", maxText-100)
	for name, c := range map[string]struct {
		scripts []script
		code    string // "" if the utterance is recognised
		tries   int32
	}{
		"drops while the user speaks":      {[]script{{created, appends, "drop"}, good}, "", 2},
		"drops before the text":            {[]script{{created, finished, "drop"}, good}, "", 2},
		"drops each time":                  {[]script{{created, finished, "drop"}}, realtime.CodeConnectionLost, 3},
		"goes away":                        {[]script{{created, finished, "#1001"}, good}, "", 2},
		"fails inside":                     {[]script{{created, finished, "#1011"}}, realtime.CodeConnectionFailed, 3},
		"is forbidden":                     {[]script{{created, appends, "#3003"}}, realtime.CodeAccessDenied, 1},
		"ends before the user":             {[]script{{created, appends, done("All")}, good}, "", 2},
		"never answers":                    {[]script{{created, finished}}, realtime.CodeSpeechTimeout, 3},
		"never reads":                      {[]script{{"hang"}}, realtime.CodeSpeechTimeout, 3},
		"an error":                         {[]script{{created, appends, `{"type":"error","error":"All tests pass.","code":"processing_error"}`}}, realtime.CodeProtocolError, 1},
		"an error, and then it closes":     {[]script{{created, began, `{"type":"error","error":"no such model"}`, "#1000"}}, realtime.CodeProtocolError, 1},
		"no JSON":                          {[]script{{created, finished, `{`}}, realtime.CodeProtocolError, 1},
		"no text":                          {[]script{{created, finished, `{"type":"transcription.done"}`}}, realtime.CodeProtocolError, 1},
		"an event that is far too long":    {[]script{{created, finished, delta(long + long)}}, realtime.CodeProtocolError, 1},
		"words without end":                {[]script{{created, finished, delta(long), delta(long)}}, realtime.CodeProtocolError, 1},
		"a text of another kind of events": {[]script{{created, finished, `{"type":"transcription.delta","delta":1}`}}, realtime.CodeProtocolError, 1},
	} {
		virtually(t, name, func(t *testing.T) {
			service, heard, tries := streaming(t, c.scripts...)
			_, r := ears(t, service, overStream)
			err := errors.Join(r.Start(), r.Write(make([]int16, 3*hearing.SampleRate/10)))
			synctest.Wait() // the service has done what it does while the user speaks
			if err != nil {
				t.Fatal(err)
			}
			result, err := r.Finish()
			var e *realtime.Error
			errors.As(err, &e)
			if c.code == "" && (err != nil || result.Text != "All tests pass.") || c.code != "" && (e == nil || e.Code != c.code || result.Text != "") {
				t.Errorf("%+v: %v, want %s", result, err, c.code)
			}
			if err != nil && strings.Contains(err.Error(), "tests pass") || tries.Load() != c.tries {
				t.Errorf("%v after %d connections, want %d", err, tries.Load(), c.tries)
			}
			if c.code == "" {
				if _, samples := audioOf(t, (*heard)[c.tries-1]); samples != 3*hearing.SampleRate/10 {
					t.Errorf("%d samples of the utterance were sent again", samples)
				}
			}
		})
	}
}

// TestStreamIsRefused: the service rejects the key, or does not have this endpoint.
func TestStreamIsRefused(t *testing.T) {
	for status, code := range map[int]string{
		http.StatusUnauthorized: realtime.CodeAuthentication, http.StatusForbidden: realtime.CodeAccessDenied, http.StatusNotFound: "", http.StatusOK: "", http.StatusFound: "",
	} {
		virtually(t, fmt.Sprint(status), func(t *testing.T) {
			_, r := ears(t, func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path != "/v1/realtime" || q.Header.Get("Authorization") != "Bearer "+canary {
					t.Errorf("%s with %v", q.URL, q.Header)
				}
				w.Header().Set("Location", "http://other.example")
				w.WriteHeader(status)
			}, overStream)
			_, _, err := hear(t, r)
			var e *realtime.Error
			if !errors.As(err, &e) || code != "" && e.Code != code {
				t.Errorf("%v, want %s", err, code)
			}
		})
	}
}

// TestAnotherEngineRecognisesWhatAStreamLoses: the other engine has the whole utterance.
func TestAnotherEngineRecognisesWhatAStreamLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var other engine
		var told []error
		service, _, _ := streaming(t, script{created, finished, "drop"})
		_, r := ears(t, service, func(c *TranscriberConfig) {
			overStream(c)
			c.Instead = func() (hearing.Recognizer, error) { return &other, nil }
			c.Report = func(err error) { told = append(told, err) }
		})
		if result, _, err := hear(t, r); err != nil || result.Text != "by another" || other.samples != 3*hearing.SampleRate/10 || len(told) != 1 {
			t.Errorf("%+v %v: the other engine heard %d samples, told %v", result, err, other.samples, told)
		}
	})
}

// TestCancelOfAStream: Cancel closes the connection at once, and so does an utterance that is dropped.
func TestCancelOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, _, tries := streaming(t, script{created, finished}, script{created, finished, done("again")})
		tr, r := ears(t, service, func(c *TranscriberConfig) { overStream(c); c.Stall = time.Minute })
		go func() { time.Sleep(time.Second); tr.Cancel() }()
		begin := time.Now()
		if _, _, err := hear(t, r); !errors.Is(err, context.Canceled) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := r.Start(); err != nil { // dropped by the next Start
			t.Fatal(err)
		}
		synctest.Wait()
		if result, _, err := hear(t, r); err != nil || result.Text != "again" || tries.Load() != 3 {
			t.Errorf("%+v %v after %d connections", result, err, tries.Load())
		}
		if r.(*recognizer).stream != nil || r.(*recognizer).pcm != nil {
			t.Error("the audio is kept")
		}
	})
}

// FuzzStreamEvents: whatever a service sends, what is kept is bounded by what it sent.
func FuzzStreamEvents(f *testing.F) {
	f.Add([]byte(delta("a")), []byte(done("b")), true)
	f.Add([]byte(`{"type":"error","error":{"message":"a"}}`), []byte(`{"type":"transcription.done"}`), false)
	f.Fuzz(func(t *testing.T, first, second []byte, final bool) {
		s := &stream{grown: make(chan struct{}, 1), watchdog: time.NewTimer(time.Hour), final: final}
		for _, b := range [][]byte{first, second} {
			var e streamEvent
			if json.Unmarshal(b, &e) == nil {
				_, _ = s.take(e)
			}
		}
		if n := 3 * (len(first) + len(second)); len(s.said) > n || len(s.text) > n || s.text != "" && !final {
			t.Errorf("%q and %q of %q and %q", s.said, s.text, first, second)
		}
	})
}
