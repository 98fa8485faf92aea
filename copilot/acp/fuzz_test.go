package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

// stream is the output of an agent.
type stream struct{ io.Reader }

func (stream) Write(p []byte) (int, error) { return len(p), nil }
func (stream) Close() error                { return nil }

// FuzzLines reads what an agent prints: each message is an object, and the rest is skipped.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n", "{\"id\":1,\"result\":{}}\n{\"id\":1}\n", "text\n\n{}\n", "{\"id\":null,\"method\":\"x\"}\n", "{\"id\":1,\"error\":{}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := newLines(stream{bytes.NewReader(data)})
		for {
			var m json.RawMessage
			if err := l.ReadObject(&m); err != nil {
				return
			}
			if !json.Valid(m) || len(m) == 0 || m[0] != '{' {
				t.Fatalf("a message is %q", m)
			}
		}
	})
}
