package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// What a terminal program prints beside a message does not hide the message.
func TestMessagesBesideOtherOutput(t *testing.T) {
	const response = `{"jsonrpc":"2.0","id":1,"result":{"a":"{"}}`
	const note = `{"jsonrpc":"2.0","method":"note"}`
	for name, c := range map[string]struct{ in, want string }{
		"byte order mark":         {"\ufeff" + response, response},
		"title":                   {"\x1b]0;codex\a" + response, response},
		"title, other end":        {"\x1b]2;codex\x1b\\" + response, response},
		"colour and cursor":       {"\x1b[?25l\x1b[1;32m" + response + "\x1b[0m", response},
		"mark, title and words":   {"\ufeff\x1b]0;codex\aLoading..." + response, response},
		"spinner":                 {"Loading...\r\x1b[K" + response, response},
		"title without an end":    {"\x1b]0;codex " + response, response},
		"braces in the words":     {"{loading} {" + response, response},
		"echo of a request":       {`received {"jsonrpc":"2.0","id":0,"method":"initialize"}` + "\n" + response, response},
		"title later":             {response + "\n\x1b]0;busy\a" + note, response + note},
		"words later":             {response + "\nread " + note + "\nread " + response, response},
		"words, then the message": {"Loading...\n" + response, response},
	} {
		l := newLines(readOnly{strings.NewReader(c.in + "\n")})
		var got []byte
		for {
			var raw json.RawMessage
			if err := l.ReadObject(&raw); err != nil {
				break
			}
			got = append(got, raw...)
		}
		if string(got) != c.want {
			t.Errorf("%s: read %s, want %s", name, got, c.want)
		}
	}
}

// The params are those of the message, not of the line.
func TestParamsBesideOtherOutput(t *testing.T) {
	l := newLines(readOnly{strings.NewReader("\x1b]0;x\a" + `{"method":"note","params":{"a":1}}` + "\n")})
	var raw json.RawMessage
	if err := l.ReadObject(&raw); err != nil || !bytes.Equal(l.params(), []byte(`{"a":1}`)) {
		t.Errorf("params %s, %v", l.params(), err)
	}
}

// An agent that prints something other than messages is quoted soon, and at once if it ends. Words
// before a message do no harm.
func TestWordsOfAnAgentThatSendsNoMessage(t *testing.T) {
	for name, c := range map[string]struct {
		prints, says string
		dies, serves bool
		within       time.Duration
	}{
		"waits":            {"\x1b[1mCodex\x1b[0m 1.2\n\nPassword: ", `it printed "Codex 1.2 Password:" instead`, false, false, wordsLimit},
		"ends":             {"error: unknown option '--acp'\n", `it printed "error: unknown option '--acp'" instead`, true, false, 0},
		"a long text":      {strings.Repeat("é ", 1<<16), strings.Repeat("é ", 99) + "é…", false, false, wordsLimit},
		"serves":           {"Agent started.\n", "", false, true, tailQuiet},
		"prints line ends": {"\n\n", "", false, true, tailQuiet},
		"prints nothing":   {"", "does not respond", false, false, startLimit},
		"ends in silence":  {"", "it ended before its first message; run it in a terminal", true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFakeAgent(hello)
				f.prints = c.prints
				if !c.serves {
					f.mute = "initialize"
				}
				k := newTalker(t, f)
				if c.dies {
					go func() {
						synctest.Wait()
						f.die()
					}()
				}
				start := time.Now()
				err := k.ask(t.Context(), "hi")
				if took := time.Since(start); took > c.within {
					t.Errorf("it took %v, want %v", took, c.within)
				}
				if c.says == "" {
					k.want(err, "Hello.")
				} else if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %s", err, c.says)
				}
			})
		})
	}
}
