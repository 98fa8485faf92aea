//go:build cgo

package main

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// TestRealtimeServer runs the command as users do: it creates a key and listens, and a
// client's question is sent to the chat endpoint, whose answer returns as audio. Its
// output contains neither transcripts nor keys.
//
//test:long
func TestRealtimeServer(t *testing.T) {
	t.Run("http", func(t *testing.T) { testRealtimeServer(t, serverFlags{}, http.DefaultClient) })
	t.Run("https", func(t *testing.T) {
		f, client := certified(t)
		testRealtimeServer(t, f, client)
	})
}

// certified returns flags with a certificate, and a client that trusts it.
func certified(t *testing.T) (f serverFlags, client *http.Client) {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	t.Cleanup(web.Close)
	pair := web.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f.tlsCert, f.tlsKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{f.tlsCert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, f.tlsKey: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f, web.Client()
}

func testRealtimeServer(t *testing.T, f serverFlags, client *http.Client) {
	asked := make(chan string, 1)
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		asked <- string(b)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, word := range []string{"Forty", "-two."} {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer chat.Close()
	keyFile := filepath.Join(t.TempDir(), "key")
	out, in := io.Pipe()
	f.addr, f.keyFile, f.maxSessions, f.sessionLimit, f.remember, f.logLevel = "127.0.0.1:0", keyFile, 2, time.Minute, localrealtime.DefaultRemember, "disabled"
	f.agent, f.endpoint, f.model = "openai", chat.URL+"/v1", "scripted"
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { ended <- f.run(ctx, in); _ = in.Close() }()
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), "listening on ") {
			break
		}
	}
	if len(said) != 2 || said[0] != "created a key in "+keyFile {
		t.Fatalf("the command says %q: %v", said, <-ended)
	}
	b, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(string(b))
	if strings.Contains(strings.Join(said, ""), key) {
		t.Error("the key is printed")
	}
	base := strings.TrimPrefix(said[1], "listening on ")
	conn, _, err := websocket.Dial(t.Context(), base+"/realtime?model=x", &websocket.DialOptions{HTTPClient: client, HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow() //nolint:errcheck // the test is over
	conn.SetReadLimit(1 << 20)
	for _, event := range []string{
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"What is the answer?"}]}}`,
		`{"type":"response.create"}`,
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(event)); err != nil {
			t.Fatal(err)
		}
	}
	samples, transcript := answerTo(t, conn)
	if transcript != "Forty-two." || samples < 24000/4 {
		t.Errorf("answered %q with %d samples", transcript, samples)
	}
	if q := <-asked; !strings.Contains(q, "What is the answer?") || !strings.Contains(q, `"scripted"`) {
		t.Errorf("the chat endpoint was asked %s", q)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// answerTo reads events until response.done.
func answerTo(t *testing.T, conn *websocket.Conn) (samples int, transcript string) {
	t.Helper()
	for {
		_, data, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ Type, Delta, Transcript string }
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "error":
			t.Fatalf("%s", data)
		case "response.output_audio.delta":
			pcm, err := base64.StdEncoding.DecodeString(e.Delta)
			if err != nil {
				t.Fatal(err)
			}
			samples += len(pcm) / 2
		case "response.output_audio_transcript.done":
			transcript = e.Transcript
		case "response.done":
			return samples, transcript
		}
	}
}

// TestRealtimeServerSummarises: the chat endpoint is who summarises a conversation.
func TestRealtimeServerSummarises(t *testing.T) {
	asked := make(chan string, 100)
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		answer := "Fine."
		if strings.Contains(string(b), "Only the summary") {
			answer = "They spoke of tea."
		}
		asked <- string(b)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: [DONE]\n\n", answer)
	}))
	defer chat.Close()
	f := serverFlags{}
	f.agent, f.endpoint, f.model = "openai", chat.URL+"/v1", "scripted"
	a, err := f.answers()
	if err != nil {
		t.Fatal(err)
	}
	f.remember = minRemember
	cfg := f.answering(localrealtime.Config{}, a)
	if cfg.Summarise == nil || cfg.Remember != minRemember {
		t.Fatal("nobody summarises")
	}
	text, err := cfg.Summarise(t.Context(), []localrealtime.Message{{Role: "user", Text: "tea"}, {Call: &localrealtime.FunctionCall{ID: "c", Name: "brew", Arguments: "{}"}, Text: "it is brewed"}})
	if err != nil || text != "They spoke of tea." {
		t.Fatalf("the summary is %q: %v", text, err)
	}
	if q := <-asked; !strings.Contains(q, `"tea"`) || !strings.Contains(q, "it is brewed") {
		t.Errorf("the chat endpoint was asked %s", q)
	}
}

// TestLongResponseIsNoFailure: a response that reached its length limit keeps its text, and
// other failures are told.
func TestLongResponseIsNoFailure(t *testing.T) {
	for code, fails := range map[string]bool{copilot.CutByLength: false, copilot.CutByFilter: true} {
		m := chatModel{adapter: refusing{&copilot.Error{Code: code, Message: "cut"}}}
		err := m.Answer(t.Context(), localrealtime.Prompt{}, func(string) {}, func(localrealtime.FunctionCall) {})
		if (err != nil) != fails {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// refusing is an adapter whose requests fail.
type refusing struct{ err error }

func (refusing) Name() string { return "refusing" }

func (f refusing) Send(context.Context, copilot.Request, func(string)) error { return f.err }
