//go:build cgo && !race

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// tape is a speaker in real time that records what is heard.
type tape struct {
	mu  sync.Mutex
	pcm []int16
}

func (*tape) Close() error               { return nil }
func (*tape) Open(context.Context) error { return nil }
func (*tape) Latency() time.Duration     { return 0 }

func (r *tape) Run(ctx context.Context, render func(*audio.Frame)) error {
	pacer := audio.NewPacer(1)
	for {
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		var f audio.Frame
		render(&f)
		r.mu.Lock()
		r.pcm = append(r.pcm, f[:]...)
		r.mu.Unlock()
	}
}

// astray is a service over a WebSocket that says something else than it is asked to read.
func astray(t *testing.T, instead func(text string) string) (at string) {
	t.Helper()
	server, err := localrealtime.New(localrealtime.Config{
		APIKey: "sk-the-users-key", Speed: 1, Log: zerolog.Nop(),
		Recognizer: hearing.PocketSphinx(assets.PocketSphinx), Synthesizer: voice.Flite(), Detector: voiceDetectors(func(error) {}),
	})
	if err != nil {
		t.Fatal(err)
	}
	behind := httptest.NewServer(server.Handler())
	ctx, end := context.WithCancel(context.Background())
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/realtime") {
			withoutMedia(w, r, server.Handler())
			return
		}
		ours, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		to, _ := url.Parse(behind.URL)
		header := http.Header{"Authorization": r.Header["Authorization"]}
		theirs, _, err := websocket.Dial(ctx, to.JoinPath(r.URL.Path).String()+"?"+r.URL.RawQuery, &websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			_ = ours.CloseNow()
			return
		}
		go func() {
			copyText(ctx, theirs, ours, func(m map[string]any) {
				if response, ok := m["response"].(map[string]any); ok && m["type"] == "response.create" {
					content := response["input"].([]any)[0].(map[string]any)["content"].([]any)[0].(map[string]any)
					content["text"] = instead(content["text"].(string))
				}
			})
		}()
		copyText(ctx, ours, theirs, func(map[string]any) {})
	}))
	t.Cleanup(func() {
		end()
		between.Close()
		behind.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return between.URL
}

// withoutMedia answers a request for a call, whose media finds no way: the client then takes the WebSocket.
func withoutMedia(w http.ResponseWriter, r *http.Request, to http.Handler) {
	ways := regexp.MustCompile(`(?m)^a=candidate:.*\r?\n`)
	offer, _ := io.ReadAll(r.Body)
	offer = ways.ReplaceAll(offer, nil)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(offer)), int64(len(offer))
	answer := httptest.NewRecorder()
	to.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(ways.ReplaceAll(answer.Body.Bytes(), nil))
}

// copyText copies messages until one of the connections ends, which ends both.
func copyText(ctx context.Context, to, from *websocket.Conn, change func(map[string]any)) {
	from.SetReadLimit(-1)
	for {
		_, text, err := from.Read(ctx)
		if err != nil {
			_ = to.CloseNow()
			return
		}
		m := map[string]any{}
		if json.Unmarshal(text, &m) == nil {
			change(m)
			text, _ = json.Marshal(m)
		}
		_ = to.Write(ctx, websocket.MessageText, text)
	}
}

// TestAVoiceThatGoesAstray (all four cases in make full): what a user hears, from the recording, of a session's voice that adds, leaves out and
// changes words on purpose: each word of the answer, and nothing of what was made up.
//
//test:realtime
func TestAVoiceThatGoesAstray(t *testing.T) {
	modelsOf(t)
	const answer = "The test of the parser fails because the list is empty. The fix is one line in the second file. Shall I commit it to the main branch?"
	const madeUp = " By the way, elephants and penguins love swimming in the warm ocean every summer."
	for name, instead := range map[string]func(string) string{
		"word for word": func(text string) string { return text },
		"it answers":    func(string) string { return "Sure!" + madeUp + madeUp },
		"it adds":       func(text string) string { return text + madeUp },
		"it changes the end": func(text string) string {
			words := strings.Fields(text)
			return strings.Join(words[:len(words)/2], " ") + "." + madeUp
		},
	} {
		if often := name == "word for word" || name == "it changes the end"; !often && *breaths < 10 {
			continue
		}
		heard, warned := heardOf(t, astray(t, instead), answer)
		missing, _ := wer.Compute(answer, heard)
		lower := strings.ToLower(heard)
		t.Logf("%s: %q", name, heard)
		wrong := strings.Contains(lower, "penguins") || strings.Contains(lower, "summer") || strings.Contains(lower, "ocean")
		for _, word := range []string{"parser", "fails", "empty", "fix", "second", "commit", "branch"} {
			wrong = wrong || !strings.Contains(lower, word)
		}
		if wrong {
			t.Errorf("%s: heard %q, %v words differ", name, heard, missing)
		}
		if warned != (name != "word for word") {
			t.Errorf("%s: the user was told: %v", name, warned)
		}
	}
}

// answering is an assistant that always gives the same answer.
type answering string

func (answering) Name() string { return "answering" }
func (a answering) Send(_ context.Context, _ copilot.Request, emit func(string)) error {
	emit(string(a))
	return nil
}

// heardOf returns what this machine's recogniser hears in the recording of an answer that the session of a
// service speaks, and whether the user was told of other words.
func heardOf(t *testing.T, at, answer string) (heard string, warned bool) {
	t.Helper()
	out := &tape{}
	set := protocol.DefaultSettings()
	set.Provider, set.Endpoint, set.Voice.Wire = protocol.ProviderOpenAI, at, protocol.WireRealtime
	var mu sync.Mutex
	states := make(chan protocol.State, 1000)
	d := daemon.New(daemon.Config{
		Clock: dispatch.NewClock(1), Started: time.Now(), Settings: set, Adapter: answering(answer), Log: zerolog.Nop(),
		World: live.New(live.Config{
			Source: func(protocol.Settings) (audio.Source, error) { return &quietRoom{}, nil },
			Sink:   func(protocol.Settings) (audio.Sink, error) { return out, nil },
			Speed:  1, Engines: engines(zerolog.Nop(), &live.Reports{}), Detector: voiceDetectors(func(error) {}), Log: zerolog.Nop(),
			Credentials: func(context.Context, protocol.Provider) (realtime.Credential, error) {
				return realtime.Credential{Value: "sk-the-users-key", Kind: realtime.APIKey}, nil
			},
			Instrument: func(c *realtime.Config) { c.Loopback = true },
		}),
		Notify: func(_ string, params any) {
			switch p := params.(type) {
			case protocol.StateParams:
				states <- p.State
			case protocol.NotificationParams:
				mu.Lock()
				warned = warned || p.Code == protocol.CodeSpeechMismatch
				mu.Unlock()
			}
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	reach := func(want protocol.State) {
		late := time.After(time.Minute)
		for {
			select {
			case s := <-states:
				if s == want {
					return
				}
			case <-late:
				t.Fatalf("%s is not reached", want)
			}
		}
	}
	d.Post(csm.UserStart{})
	reach(protocol.StateListening)
	if err := d.SendText("what is wrong", func(csm.Reply, protocol.Snapshot) {}); err != nil {
		t.Fatal(err)
	}
	reach(protocol.StateSpeaking)
	reach(protocol.StateListening)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	ear, err := findSpeech(nil, "en").recognizers("en", speechReports{})()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ear.Close() }()
	low, err := audio.NewResampler(audio.SampleRate, hearing.SampleRate)
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := hear(t.Context(), ear, low.Process(nil, out.pcm), false)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return result.Text, warned
}
