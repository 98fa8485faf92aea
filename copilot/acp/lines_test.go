package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

type readOnly struct{ io.Reader }

func (readOnly) Write(b []byte) (int, error) { return len(b), nil }
func (readOnly) Close() error                { return nil }

//test:long
func TestOnlyMessagesAreRead(t *testing.T) {
	long := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"text":%q}}`, strings.Repeat("x", n))
	}
	in := strings.Join([]string{
		"npm warn deprecated", "", "[1,2]", `{"jsonrpc":"2.0"}`, `{"method":1,"id":2}`, `{"jsonrpc":"2.0","id":null,"result":{}}`, `{"broken`,
		`{"jsonrpc":"2.0","method":"first"}`, long(12 << 20), long(maxLine), "\r", `  {"jsonrpc":"2.0","id":7,"result":null}  ` + "\r",
		`{"jsonrpc":"2.0","id":"a","method":"last"}`,
	}, "\n") + "\n" + `{"jsonrpc":"2.0","method":"cut`
	l := newLines(readOnly{strings.NewReader(in)})
	var got []string
	for {
		var m struct {
			Method string `json:"method"`
			ID     any    `json:"id"`
		}
		var raw json.RawMessage
		if err := l.ReadObject(&raw); err != nil {
			break
		}
		_ = json.Unmarshal(raw, &m)
		got = append(got, fmt.Sprint(m.Method, " ", m.ID, " ", len(raw) > 10<<20))
	}
	want := "first <nil> false|m <nil> true| 7 false|last a false"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("read %s, want %s", s, want)
	}
}
