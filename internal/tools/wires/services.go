package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/audioapi"
)

// serve starts a service, and returns its address, the file with its key and a stop
// function.
func serve(ctx context.Context, service string, o options) (url, key string, stop func() error, err error) {
	switch service {
	case "realtime":
		return realtimeServer(ctx, o)
	case "audio":
		s := &audioapi.Server{Recognizer: hearing.PocketSphinx(assets.PocketSphinx), Synthesizer: voice.Flite()}
		url, stop, err = listen(s.Handler())
		return url, "", stop, err
	case "chat":
		url, stop, err = listen(http.HandlerFunc(chat))
		return url + "/v1", "", stop, err
	default:
		return "", "", func() error { return nil }, nil
	}
}

// listen serves a handler on loopback.
func listen(h http.Handler) (url string, stop func() error, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	return "http://" + ln.Addr().String(), func() error {
		err := s.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}

// realtimeServer runs realtime-server, which provides both the realtime service and the
// Live API.
func realtimeServer(ctx context.Context, o options) (url, key string, stop func() error, err error) {
	key = filepath.Join(o.out, "key")
	server := exec.CommandContext(ctx, o.daemon, "realtime-server", "--agent", "none", "--addr", "127.0.0.1:0", "--api-key-file", key)
	out, err := server.StdoutPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() error {
		_ = server.Process.Kill() // it may have exited
		_ = server.Wait()         // the error only reports the kill
		return nil
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			return strings.TrimSuffix(address, "/v1"), key, stop, nil
		}
	}
	return "", "", nil, errors.Join(errors.New("realtime-server did not start"), stop())
}

// Answers of the scripted chat endpoint. The first is long enough to be interrupted; the
// others are too short for that.
const (
	longAnswer = "This is the first sentence of the answer. The second one says a little more than the first. " +
		"The third one is still about the same thing. The fourth one ends it."
	shortAnswer = "This is the whole answer."
)

// chat answers chat completions with a stream.
func chat(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var asked struct{ Messages []struct{ Role string } }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, "the body is not JSON", http.StatusBadRequest)
		return
	}
	answer, questions := longAnswer, 0
	for _, m := range asked.Messages {
		if m.Role == "user" {
			questions++
		}
	}
	if questions > 1 {
		answer = shortAnswer
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]string, finish any) {
		b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err == nil {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", b) // the client may have disconnected
		}
	}
	for word := range strings.SplitAfterSeq(answer, " ") {
		send(map[string]string{"content": word}, nil)
	}
	send(map[string]string{}, "stop")
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}
