package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// frame prefixes a body with its header.
func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }

// over returns a stream that reads input and writes to the returned buffer.
func over(input io.Reader, refused func(Refusal)) (*Stream, *bytes.Buffer) {
	var out bytes.Buffer
	return NewStream(io.NopCloser(input), nopWriter{&out}, refused), &out
}

// drain reads to the end and returns the delivered bodies.
func drain(s *Stream) (bodies []string, err error) {
	for {
		var raw json.RawMessage
		if err := s.ReadObject(&raw); err != nil {
			return bodies, err
		}
		bodies = append(bodies, string(raw))
	}
}

type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code int64              `json:"code"`
		Data protocol.ErrorData `json:"data"`
	} `json:"error"`
}

// answers parses the output of a stream.
func answers(t *testing.T, out *bytes.Buffer) []answer {
	t.Helper()
	var list []answer
	r := bufio.NewReader(out)
	for {
		h, err := readHeader(r)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("own output has a bad header: %v", err)
		}
		body := make([]byte, h.length)
		if _, err := io.ReadFull(r, body); err != nil {
			t.Fatalf("own output is cut: %v", err)
		}
		var a answer
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatalf("own output %s: %v", body, err)
		}
		list = append(list, a)
	}
}

const good = `{"jsonrpc":"2.0","method":"initialized"}`

// A bad message is answered with the right code and id, and the next one is delivered.
func TestBadMessagesAreAnswered(t *testing.T) {
	tests := []struct {
		name, body string
		code       int64
		id         string
	}{
		{"not JSON", `{"jsonrpc":"2.0","id":1,`, -32700, "null"},
		{"empty body", ``, -32700, "null"},
		{"two values", `{} {}`, -32700, "null"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, "null"},
		{"nested too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), -32700, "null"},
		{"number", `17`, -32600, "null"},
		{"null", `null`, -32600, "null"},
		{"batch", `[` + good + `]`, -32600, "null"},
		{"empty batch", `[]`, -32600, "null"},
		{"empty object", `{}`, -32600, "null"},
		{"no method", `{"jsonrpc":"2.0","id":7}`, -32600, "7"},
		{"method is not a string", `{"jsonrpc":"2.0","id":"a","method":1}`, -32600, `"a"`},
		{"method is empty", `{"jsonrpc":"2.0","id":"a","method":""}`, -32600, `"a"`},
		{"wrong version", `{"jsonrpc":"1.0","id":3,"method":"x"}`, -32600, "3"},
		{"no version", `{"id":3,"method":"x"}`, -32600, "3"},
		{"params is a string", `{"jsonrpc":"2.0","id":3,"method":"x","params":"p"}`, -32600, "3"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"x"}`, -32600, "null"},
		{"negative id", `{"jsonrpc":"2.0","id":-1,"method":"x"}`, -32600, "null"},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, -32600, "null"},
		{"huge id", `{"jsonrpc":"2.0","id":18446744073709551615,"method":"x"}`, -32600, "null"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"x"}`, -32600, "null"},
		{"method in the wrong case", `{"jsonrpc":"2.0","id":3,"METHOD":"x"}`, -32600, "3"},
		{"request and response", `{"jsonrpc":"2.0","id":3,"method":"x","result":1}`, -32600, "null"},
		{"result and error", `{"jsonrpc":"2.0","id":3,"result":1,"error":{"code":1,"message":""}}`, -32600, "null"},
		{"error is not an object", `{"jsonrpc":"2.0","id":3,"error":"boom"}`, -32600, "null"},
		{"error without message", `{"jsonrpc":"2.0","id":3,"error":{"code":1}}`, -32600, "null"},
		{"result without id", `{"jsonrpc":"2.0","result":1}`, -32600, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var refusals []Refusal
			s, out := over(strings.NewReader(frame(tt.body)+frame(good)), func(r Refusal) { refusals = append(refusals, r) })
			bodies, err := drain(s)
			if !errors.Is(err, io.EOF) || s.Err() != nil {
				t.Fatalf("reading ended with %v, Err %v", err, s.Err())
			}
			if len(bodies) != 1 || bodies[0] != good {
				t.Errorf("handed on %q, want only the good message", bodies)
			}
			got := answers(t, out)
			if len(got) != 1 {
				t.Fatalf("%d responses, want 1", len(got))
			}
			if a := got[0]; a.Version != "2.0" || a.Error.Code != tt.code || string(a.ID) != tt.id {
				t.Errorf("response %+v, want code %d and id %s", a, tt.code, tt.id)
			}
			if got[0].Error.Data.Remediation == "" {
				t.Error("the response has no remediation")
			}
			if len(refusals) != 1 || refusals[0].Size != int64(len(tt.body)) || refusals[0].Code != got[0].Error.Data.Code {
				t.Errorf("reported %+v", refusals)
			}
		})
	}
}

func TestGoodMessagesAreDelivered(t *testing.T) {
	for _, body := range []string{
		good,
		" \r\n" + good,
		`{"jsonrpc":"2.0","id":0,"method":"x","params":{}}`,
		`{"jsonrpc":"2.0","id":"","method":"x","params":[1]}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"x","params":null}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"日本 \u0000"}}`,
	} {
		s, out := over(strings.NewReader(frame(body)), nil)
		bodies, err := drain(s)
		if !errors.Is(err, io.EOF) || len(bodies) != 1 || bodies[0] != strings.TrimSpace(body) && bodies[0] != body {
			t.Errorf("%s: handed on %q, %v", body, bodies, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s: answered %s", body, out)
		}
	}
}

// An error response to one of our messages is reported, not answered: two peers would
// complain forever. The library would treat its null id as that of its first call.
func TestErrorWithoutIDIsNotAnswered(t *testing.T) {
	n := 0
	s, out := over(strings.NewReader(frame(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`)), func(Refusal) { n++ })
	bodies, err := drain(s)
	if len(bodies) != 0 || !errors.Is(err, io.EOF) || out.Len() != 0 || n != 1 {
		t.Errorf("handed on %q, %v, answered %q, reported %d", bodies, err, out, n)
	}
}

func TestHeaders(t *testing.T) {
	length := fmt.Sprint(len(good))
	accepted := map[string]string{
		"case":                "content-LENGTH: " + length + "\r\n\r\n",
		"no blank":            "Content-Length:" + length + "\r\n\r\n",
		"type":                "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: " + length + "\r\n\r\n",
		"old spelling of LSP": "Content-Length: " + length + "\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
		"upper case":          "Content-Length: " + length + "\r\nContent-Type: application/vscode-jsonrpc; charset=\"UTF-8\"\r\n\r\n",
		"type, no charset":    "Content-Length: " + length + "\r\nContent-Type: application/json\r\n\r\n",
		"unknown field":       "X-Other: 1\r\nContent-Length: " + length + "\r\n\r\n",
	}
	for name, h := range accepted {
		t.Run(name, func(t *testing.T) {
			s, _ := over(strings.NewReader(h+good), nil)
			if bodies, err := drain(s); len(bodies) != 1 || !errors.Is(err, io.EOF) {
				t.Errorf("handed on %q, %v", bodies, err)
			}
		})
	}
	refused := map[string]string{
		"no length":              "Content-Type: application/json\r\n\r\n" + good,
		"empty header":           "\r\n" + good,
		"negative length":        "Content-Length: -1\r\n\r\n",
		"length is not a number": "Content-Length: ten\r\n\r\n",
		"length overflows":       "Content-Length: 9223372036854775808\r\n\r\n",
		"two lengths":            "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		"no colon":               "Content-Length\r\n\r\n",
		"bare newline":           "Content-Length: 2\n\n{}",
		"long line":              "X: " + strings.Repeat("x", maxHeaderLine) + "\r\n\r\n",
		"endless line":           strings.Repeat("x", 100*maxHeaderLine),
		"many lines":             strings.Repeat("X: 1\r\n", maxHeaderLines+1),
		"bad type":               "Content-Type: ;;\r\nContent-Length: 2\r\n\r\n{}",
		"no header":              good + "\r\n",
	}
	for name, input := range refused {
		t.Run(name, func(t *testing.T) {
			s, out := over(strings.NewReader(input), nil)
			_, err := drain(s)
			if _, ok := errors.AsType[*HeaderError](err); !ok || !errors.Is(s.Err(), err) {
				t.Errorf("ended with %v, Err %v; want a HeaderError", err, s.Err())
			}
			if out.Len() != 0 {
				t.Errorf("answered %q", out)
			}
		})
	}
}

func TestEndWithinAMessage(t *testing.T) {
	whole := frame(good)
	for n := 1; n < len(whole); n++ {
		s, _ := over(strings.NewReader(whole[:n]), nil)
		if _, err := drain(s); !errors.Is(err, io.ErrUnexpectedEOF) || s.Err() == nil {
			t.Fatalf("after %d bytes: %v, Err %v", n, err, s.Err())
		}
	}
	s, _ := over(strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\nxx", MaxBody+1)), nil)
	if _, err := drain(s); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("within a body that is skipped: %v", err)
	}
}

func TestOtherCharsetIsRefused(t *testing.T) {
	h := fmt.Sprintf("Content-Type: application/json; charset=utf-16\r\nContent-Length: %d\r\n\r\n%s", len(good), good)
	s, out := over(strings.NewReader(h+frame(good)), nil)
	if bodies, err := drain(s); len(bodies) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("handed on %q, %v", bodies, err)
	}
	if got := answers(t, out); len(got) != 1 || got[0].Error.Code != -32700 {
		t.Errorf("answers %+v", got)
	}
}

// testLimit replaces MaxBody, which is slow under the race detector.
const testLimit = 64 << 10

// A body over the limit is skipped without buffering; a request is answered by id, a
// response is not.
func TestLargeBody(t *testing.T) {
	tests := []struct{ name, start, id string }{
		{"request", `{"jsonrpc":"2.0","id":4,"method":"conversation/sendText","params":{"text":"`, "4"},
		{"method first", `{"method":"x","id":"a","params":{"text":"`, `"a"`},
		{"notification", `{"jsonrpc":"2.0","method":"x","params":{"text":"`, "null"},
		{"response", `{"jsonrpc":"2.0","id":4,"result":{"text":"`, "null"},
		{"no JSON", `xxxx`, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const size = testLimit + 1
			input := io.MultiReader(
				strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, tt.start)),
				io.LimitReader(endless('x'), size-int64(len(tt.start))),
				strings.NewReader(frame(good)),
			)
			s, out := over(input, nil)
			s.limit = testLimit
			if bodies, err := drain(s); len(bodies) != 1 || !errors.Is(err, io.EOF) {
				t.Fatalf("handed on %d messages, %v", len(bodies), err)
			}
			got := answers(t, out)
			if len(got) != 1 || got[0].Error.Code != -32600 || string(got[0].ID) != tt.id {
				t.Errorf("answers %+v, want id %s", got, tt.id)
			}
		})
	}
}

func TestLargestBodyIsTaken(t *testing.T) {
	start, end := `{"jsonrpc":"2.0","method":"x","params":{"text":"`, `"}}`
	body := start + strings.Repeat("x", testLimit-len(start)-len(end)) + end
	s, _ := over(strings.NewReader(frame(body)), nil)
	s.limit = testLimit
	if bodies, _ := drain(s); len(bodies) != 1 || len(bodies[0]) != testLimit {
		t.Errorf("handed on %d messages", len(bodies))
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// A slow reader that receives one byte at a time sees complete messages, with any number
// of concurrent writers.
func TestWritesAreAtomic(t *testing.T) {
	r, w := io.Pipe()
	s := NewStream(io.NopCloser(strings.NewReader("")), w, nil)
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				if err := s.WriteObject(map[string]any{"writer": i, "n": j, "pad": strings.Repeat("p", 100*j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); w.Close() }()

	next := make([]int, writers)
	in := bufio.NewReaderSize(r, maxHeaderLine)
	for {
		h, err := readHeader(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, h.length)
		if _, err := io.ReadFull(in, body); err != nil {
			t.Fatal(err)
		}
		var m struct{ Writer, N int }
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatalf("%v in %.80s", err, body)
		}
		if m.N != next[m.Writer] {
			t.Fatalf("message %d of writer %d came when %d was due", m.N, m.Writer, next[m.Writer])
		}
		next[m.Writer]++
	}
	for i, n := range next {
		if n != each {
			t.Errorf("writer %d: %d messages, want %d", i, n, each)
		}
	}
}

// brokenWriter is a fake that accepts a few bytes and fails once.
type brokenWriter struct{ bytes.Buffer }

func (w *brokenWriter) Write(p []byte) (int, error) {
	w.Buffer.Write(p[:3])
	return 3, errors.New("broken pipe")
}

func (*brokenWriter) Close() error { return nil }

func TestNoWriteAfterAFailedWrite(t *testing.T) {
	var w brokenWriter
	s := NewStream(io.NopCloser(strings.NewReader(frame("?"))), &w, nil)
	if err := s.WriteObject(func() {}); err == nil || w.Len() != 0 {
		t.Fatalf("a value that cannot be encoded: %v, %d bytes written", err, w.Len())
	}
	first := s.WriteObject(1)
	if second := s.WriteObject(2); first == nil || second != first {
		t.Errorf("errors %v and %v, want the same twice", first, second)
	}
	if w.String() != "Con" {
		t.Errorf("written %q after the failure", w.String())
	}
	var raw json.RawMessage
	if err := s.ReadObject(&raw); !errors.Is(err, first) {
		t.Errorf("reading a bad message: %v, want the error of the write", err)
	}
}

// With the library: both sides call each other, a bad message in between is answered and
// the connection continues, and its end is noticed.
func TestConn(t *testing.T) {
	ours, theirs := net.Pipe()
	echo := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		return r.Params, nil
	})
	quiet := jsonrpc2.SetLogger(log.New(io.Discard, "", 0))
	stream := NewStream(ours, ours, nil)
	a := jsonrpc2.NewConn(t.Context(), stream, echo, quiet)
	b := jsonrpc2.NewConn(t.Context(), NewStream(theirs, theirs, nil), echo, quiet)

	for range 2 {
		for _, c := range []*jsonrpc2.Conn{a, b} {
			var got map[string]string
			if err := c.Call(t.Context(), "echo", map[string]string{"k": "v"}, &got); err != nil || got["k"] != "v" {
				t.Fatalf("echo %v, %v", got, err)
			}
		}
		// b receives an invalid request and complains; a is informed and does not answer.
		if err := stream.WriteObject(map[string]any{"jsonrpc": "2.0"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	<-a.DisconnectNotify()
	if err := stream.Err(); err != nil {
		t.Errorf("a clean end is reported as %v", err)
	}
}

func TestOwnCloseIsNotAnError(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	s := NewStream(ours, ours, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var raw json.RawMessage
	if err := s.ReadObject(&raw); err == nil || s.Err() != nil {
		t.Errorf("reading: %v, Err %v", err, s.Err())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(frame(good)))
	f.Add([]byte(frame("{") + frame(`[1]`) + frame(`{"jsonrpc":"2.0","id":1,"result":null}`)))
	f.Add([]byte("content-length: 2\r\nContent-Type: a/b; charset=utf-16\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 99999999999\r\n\r\n{\"id\":1,\"method\":\"x\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		refusals := 0
		s, out := over(bytes.NewReader(data), func(Refusal) { refusals++ })
		bodies, err := drain(s)
		if err == nil {
			t.Fatal("reading did not end")
		}
		for _, body := range bodies {
			var request jsonrpc2.Request
			var response jsonrpc2.Response
			if json.Unmarshal([]byte(body), &request) != nil && json.Unmarshal([]byte(body), &response) != nil {
				t.Errorf("handed on %q, which the library cannot read", body)
			}
		}
		if n := len(answers(t, out)); n > refusals {
			t.Errorf("%d answers to %d refusals", n, refusals)
		}
	})
}
