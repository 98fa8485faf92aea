package realtime

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// meter records what a client tells it.
type meter struct {
	reported atomic.Int64
	closed   atomic.Int32
}

func (m *meter) Reported(total time.Duration) { m.reported.Store(int64(total)) }
func (m *meter) Close()                       { m.closed.Add(1) }

// TestCreatedSessionsAreMetered: a service charges for a session that it created, even if the call cannot be
// established; not for one that it refused.
func TestCreatedSessionsAreMetered(t *testing.T) {
	t.Parallel()
	status := http.StatusCreated
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"session":{"id":"s"},"transport":{"type":"webrtc","sdp":""}}`)
	}))
	defer server.Close()
	var meters []*meter
	cfg := Config{
		Dialect: Live, BaseURL: server.URL, Model: "gpt-live-1",
		Credentials: func(context.Context) (Credential, error) { return Credential{Value: canary, Kind: APIKey}, nil },
		Meter:       func() Meter { meters = append(meters, &meter{}); return meters[len(meters)-1] },
	}
	for range 10 {
		if _, err := Dial(t.Context(), cfg, newRecorder()); err == nil {
			t.Fatal("the call is established")
		}
	}
	status = http.StatusTooManyRequests
	if _, err := Dial(t.Context(), cfg, newRecorder()); err == nil {
		t.Fatal("the call is established")
	}
	for i, m := range meters {
		if n := m.closed.Load(); n != 1 {
			t.Errorf("meter %d was closed %d times", i, n)
		}
	}
	if len(meters) != 10 {
		t.Errorf("%d sessions were metered", len(meters))
	}
}

// The service's usage is passed on in the forms of the public reference: by tokens,
// with and without details, or by duration.
func TestUsageIsReported(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	cfg := f.config(OpenAI)
	used := make(chan Usage, 10)
	cfg.Used = func(u Usage) { used <- u }
	_, r := connect(t, f, cfg)
	transcript := func(usage string) {
		f.emit(`{"type":"conversation.item.input_audio_transcription.completed","event_id":"e","item_id":"i","transcript":"x","usage":` + usage + `}`)
	}
	transcript(`{"type":"tokens","total_tokens":22,"input_tokens":13,"input_token_details":{"text_tokens":3,"audio_tokens":10},"output_tokens":9}`)
	transcript(`{"type":"duration","seconds":2.5}`)
	transcript(`{"type":"tokens","input_tokens":5,"output_tokens":-1}`)
	transcript(`null`)
	f.emit(`{"type":"response.done","event_id":"e","response":{"id":"r","status":"completed","usage":{"total_tokens":253,"input_tokens":132,"output_tokens":121,
		"input_token_details":{"text_tokens":119,"audio_tokens":13,"image_tokens":0,"cached_tokens":64,"cached_tokens_details":{"text_tokens":60,"audio_tokens":4,"image_tokens":0}},
		"output_token_details":{"text_tokens":30,"audio_tokens":91}}}}`)
	f.emit(`{"type":"response.done","event_id":"e","response":{"id":"r","status":"completed","usage":{"total_tokens":0,"input_tokens":0,"output_tokens":0}}}`)
	for range 4 {
		r.want(t, `final i "x"`)
	}
	echo(f, r)
	want := []Usage{
		{Transcription: true, TextIn: 3, AudioIn: 10, TextOut: 9},
		{Transcription: true, Seconds: 2.5},
		{Transcription: true, TextIn: 5},
		{TextIn: 119, TextCached: 60, TextOut: 30, AudioIn: 13, AudioCached: 4, AudioOut: 91},
	}
	var got []Usage
	for len(used) > 0 {
		got = append(got, <-used)
	}
	if !slices.Equal(got, want) {
		t.Errorf("used %+v, want %+v", got, want)
	}
}
