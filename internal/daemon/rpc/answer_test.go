package rpc_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// prose returns an answer of that many bytes, with sentences, lists and code.
func prose(size int) string {
	const piece = "The test expects a value that the function never returns, so it fails. " +
		"Look at `parse`, which drops the last line.\n\n- first the scanner\n- then the parser\n\n```go\nreturn parse(lines)\n```\n\n"
	return strings.Repeat(piece, size/len(piece)+1)[:size]
}

// longAnswer makes the client stream an answer in deltas of four bytes, and returns how
// many bytes of it the daemon published.
func longAnswer(t testing.TB, size int, capabilities object) (published int) {
	t.Helper()
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(capabilities)
	c.request(protocol.MethodSendText, object{"text": "What is wrong?"})
	id, p := c.asked()
	text := prose(size)
	// The daemon drops what a client is too slow to read, so the client answers no faster than
	// it reads: it asks for the state from time to time, and waits for the reply.
	const together = 200
	caughtUp := make(chan struct{}, 1)
	go func() {
		for seq := 0; len(text) > 0; seq++ {
			if seq%together == together-1 {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"caught up","method":%q}`, protocol.MethodState)
				if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
					return
				}
				select {
				case <-caughtUp:
				case <-t.Context().Done():
					return
				}
			}
			n := min(4, len(text))
			body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"copilot/delta","params":{"requestId":%q,"seq":%d,"text":%s}}`, p.RequestID, seq, quoted(text[:n]))
			if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				return
			}
			text = text[n:]
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"status":"completed"}}`, id)
		_, _ = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}()
	var (
		shown  strings.Builder
		before string // shown before the final transcript
		last   int64
	)
	for {
		m := c.next()
		if string(m.ID) == `"caught up"` {
			caughtUp <- struct{}{}
		}
		if m.Method != protocol.NotifyTranscript {
			continue
		}
		published += len(m.Params)
		var said protocol.TranscriptParams
		if err := json.Unmarshal(m.Params, &said); err != nil {
			t.Fatal(err)
		}
		if said.Role != protocol.RoleAssistant {
			continue
		}
		switch {
		case said.After == 0:
			shown.Reset()
		case said.After != last:
			t.Fatalf("transcript %d continues %d, not %d", said.Seq, said.After, last)
		}
		last = said.Seq
		shown.WriteString(said.Text)
		if !said.Final && said.After == 0 && !strings.HasPrefix(prose(size), said.Text) {
			t.Fatalf("transcript %d is no beginning of the answer", said.Seq)
		}
		if said.Final {
			if whole := strings.TrimSpace(before); !strings.HasPrefix(said.Text, whole) || len(whole) < len(said.Text)*9/10 {
				t.Errorf("before the final transcript the client had %d bytes of %d", len(whole), len(said.Text))
			}
			if said.Text != strings.TrimSpace(prose(size)) {
				t.Errorf("the final transcript has %d bytes, want the answer of %d", len(said.Text), size)
			}
			c.end()
			return published
		}
		before = shown.String()
	}
}

// A sign of life without words publishes no transcript, and a new round no blank one: a
// call shown after it would seem to follow the words of the round.
func TestTranscriptsAreNotBlank(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(object{"copilot": true, "tools": true, "transcriptAppend": true})
	c.request(protocol.MethodSendText, object{"text": "Do the tests pass?"})
	id, p := c.asked()
	c.delta(p, 0, "")
	c.delta(p, 1, "I look. \n")
	c.wantsTool(p, "call-1", "runTests", object{}, nil)
	c.respond(id, completedResult)
	c.tool(protocol.ToolWaiting)
	c.allow("call-1")
	id, _ = c.invoked()
	c.respond(id, object{"content": "all passed"})
	id, p = c.asked()
	c.delta(p, 0, "")
	c.delta(p, 1, "They pass.")
	c.respond(id, completedResult)
	var texts []string
	said := func(m message) (p protocol.TranscriptParams) {
		if m.Method == protocol.NotifyTranscript && json.Unmarshal(m.Params, &p) != nil {
			t.Fatalf("transcript %s", m.Params)
		}
		return p
	}
	last := c.until("the end of the answer", func(m message) bool { p := said(m); return p.Final && p.Role == protocol.RoleAssistant })
	for _, m := range append(c.seen, last) {
		if p := said(m); p.Role == protocol.RoleAssistant {
			texts = append(texts, p.Text)
		}
	}
	if slices.ContainsFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" }) || texts[0] != "I look." || texts[len(texts)-1] != "I look.\n\nThey pass." {
		t.Errorf("the transcripts are %q", texts)
	}
	c.end()
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text)
	return b
}

// BenchmarkLongAnswer runs a long answer through the headless daemon; ns/byte must not
// depend on the size.
func BenchmarkLongAnswer(b *testing.B) {
	for _, kB := range []int{20, 82, 200} {
		b.Run(fmt.Sprintf("%dkB", kB), func(b *testing.B) {
			published := 0
			for b.Loop() {
				published = longAnswer(b, kB*1000, object{"copilot": true})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*kB*1000), "ns/byte")
			b.ReportMetric(float64(published)/float64(kB*1000), "published/byte")
		})
	}
}
