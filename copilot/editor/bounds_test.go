package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/editor"
)

// often is how many times to repeat a test with two goroutines that may be scheduled
// either way.
const often = 50

// A gap is reported to the reader, and nothing after it is accepted, neither the missing
// delta nor a call. The answer fails even if its result arrives together with the gap.
func TestDeltasAfterAGapAreDropped(t *testing.T) {
	for range often {
		c := newClient(func(c *client, _ string) (string, error) {
			c.delta(`{"requestId":"r1","seq":0,"text":"a"}`)
			err := c.adapter.HandleDelta([]byte(`{"requestId":"r1","seq":2,"text":"c"}`))
			var gap *editor.Gap
			if !errors.As(err, &gap) || *gap != (editor.Gap{RequestID: "r1", Expected: 1, Received: 2}) {
				t.Errorf("the gap is reported as %v", err)
			}
			c.delta(`{"requestId":"r1","seq":1,"text":"b"}`)
			if c.asksFor(`{"requestId":"r1","callId":"c1","name":"runTests","input":{}}`) {
				t.Error("a call was taken")
			}
			return `{"status":"completed"}`, nil
		})
		r, text := request, ""
		r.Wants = func(copilot.ToolCall) { t.Error("a call came") }
		err := c.adapter.Send(t.Context(), r, func(s string) { text += s })
		wantError(t, err, "answerCutOff", false)
		if s := c.adapter.Stats(); text != "a" || s.Gaps != 1 || s.Accepted != 1 || s.Strangers != 1 || s.ToolCallsDropped != 1 {
			t.Fatalf("got %q, stats %+v", text, s)
		}
	}
}

// A gap that arrives with the result, while earlier deltas are still being emitted, also
// fails the answer.
func TestGapTogetherWithResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range often {
			taking := make(chan struct{})
			c := newClient(func(c *client, _ string) (string, error) {
				c.delta(`{"requestId":"r1","seq":0,"text":"a"}`)
				<-taking
				c.delta(`{"requestId":"r1","seq":2,"text":"c"}`)
				return `{"status":"completed"}`, nil
			})
			err := c.adapter.Send(t.Context(), request, func(string) {
				close(taking)
				synctest.Wait() // the call has returned
			})
			wantError(t, err, "answerCutOff", false)
		}
	})
}

// A keep-alive is passed on immediately, without text before or after it.
func TestEmptyDeltaIsPassedOn(t *testing.T) {
	alive := make(chan struct{})
	c := newClient(func(c *client, _ string) (string, error) {
		c.delta(`{"requestId":"r1","seq":0,"text":""}`)
		bounded(t, alive)
		return `{"status":"completed"}`, nil
	})
	wantError(t, c.adapter.Send(t.Context(), request, func(string) { close(alive) }), "copilotEmpty", true)
}

// A cancelled request ends as cancelled, even if its result arrives at the same time, and
// emits nothing more. A request that was already cancelled is not sent.
func TestCancelAndTheResultAtTheSameTime(t *testing.T) {
	for range often {
		ctx, cancel := context.WithCancel(t.Context())
		c := newClient(func(*client, string) (string, error) {
			cancel()
			return `{"status":"completed"}`, nil
		})
		if err := c.adapter.Send(ctx, request, func(string) {}); !errors.Is(err, context.Canceled) {
			t.Fatalf("it ended with %v", err)
		}
		c.respond = func(string) (string, error) {
			t.Error("the client was asked")
			return `{"status":"completed"}`, nil
		}
		if err := c.adapter.Send(ctx, request, func(string) {}); !errors.Is(err, context.Canceled) {
			t.Fatalf("it ended with %v", err)
		}
	}
}

func TestNothingIsEmittedAfterCancel(t *testing.T) {
	for range often {
		ctx, cancel := context.WithCancel(t.Context())
		c := newClient(func(c *client, _ string) (string, error) {
			c.delta(`{"requestId":"r1","seq":0,"text":"a"}`)
			c.delta(`{"requestId":"r1","seq":1,"text":"b"}`)
			return `{"status":"completed"}`, nil
		})
		text := ""
		err := c.adapter.Send(ctx, request, func(s string) { text += s; cancel() })
		if !errors.Is(err, context.Canceled) || text != "a" {
			t.Fatalf("got %q, %v", text, err)
		}
	}
}

// A call is delivered immediately, although the answer continues.
func TestCallDuringAnswer(t *testing.T) {
	wanted := make(chan struct{})
	c := newClient(func(c *client, _ string) (string, error) {
		c.asksFor(`{"requestId":"r1","callId":"c1","name":"runTests","input":{}}`)
		bounded(t, wanted)
		return `{"status":"completed"}`, nil
	})
	r := request
	r.Wants = func(copilot.ToolCall) { close(wanted) }
	if err := c.adapter.Send(t.Context(), r, func(string) {}); err != nil {
		t.Fatal(err)
	}
}

func TestMalformedToolCalls(t *testing.T) {
	bad := []string{
		``, `[]`, `{}`, `{"callId":"c1","name":"x"}`, `{"requestId":"r1","name":"x"}`, `{"requestId":"r1","callId":"c1"}`,
		`{"requestId":"r1","callId":"c1","name":"x","destructive":7}`,
	}
	c := newClient(func(c *client, _ string) (string, error) {
		for _, p := range bad {
			if taken, err := c.adapter.HandleToolCall([]byte(p)); taken || err == nil || strings.Contains(err.Error(), "r1") {
				t.Errorf("%s: taken %v, %v", p, taken, err)
			}
		}
		return `{"status":"completed"}`, nil
	})
	r := request
	r.Wants = func(call copilot.ToolCall) { t.Errorf("%+v came", call) }
	wantError(t, c.adapter.Send(t.Context(), r, func(string) {}), "copilotEmpty", true)
	if s := c.adapter.Stats(); s.ToolCallsDropped != uint64(len(bad)) {
		t.Errorf("stats %+v", s)
	}
}

// An answer of more than 4 MiB fails, and at most that much of it comes through.
func TestTooLong(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	c := newClient(func(c *client, _ string) (string, error) {
		for seq := range 5 {
			_ = c.adapter.HandleDelta(fmt.Appendf(nil, `{"requestId":"r1","seq":%d,"text":"%s"}`, seq, big))
		}
		return `{"status":"completed"}`, nil
	})
	bytes := 0
	wantError(t, c.adapter.Send(t.Context(), request, func(text string) { bytes += len(text) }), "answerCutLength", false)
	if bytes > 4<<20 {
		t.Errorf("%d bytes came through", bytes)
	}
}

// A round accepts at most 64 tool calls, and an answer at most 4 MiB of text and input in
// total.
func TestCallsAreBounded(t *testing.T) {
	call := func(id, input string) string {
		return fmt.Sprintf(`{"requestId":"r1","callId":%q,"name":"x","input":%q}`, id, input)
	}
	big := strings.Repeat("x", 1<<20)
	for name, test := range map[string]func(c *client) (taken, dropped int){
		"number": func(c *client) (taken, dropped int) {
			for i := range 64 {
				if !c.asksFor(call(fmt.Sprint(i), "")) {
					t.Errorf("call %d was dropped", i+1)
				}
			}
			if c.asksFor(call("one more", "")) {
				t.Error("the 65th call was taken")
			}
			return 64, 1
		},
		"size": func(c *client) (taken, dropped int) {
			for i := range 3 {
				if !c.asksFor(call(fmt.Sprint(i), big)) {
					t.Errorf("call %d was dropped", i+1)
				}
			}
			if c.asksFor(call("3", big)) {
				t.Error("more than 4 MiB were taken")
			}
			return 3, 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			taken, dropped := 0, 0
			c := newClient(func(c *client, _ string) (string, error) {
				taken, dropped = test(c)
				return `{"status":"completed"}`, nil
			})
			r := request
			came := 0
			r.Wants = func(copilot.ToolCall) { came++ }
			if err := c.adapter.Send(t.Context(), r, func(string) {}); err != nil {
				t.Fatal(err)
			}
			if s := c.adapter.Stats(); came != taken || s.ToolCalls != uint64(taken) || s.ToolCallsDropped != uint64(dropped) {
				t.Errorf("%d came; stats %+v", came, s)
			}
		})
	}
}

// The error of a failed call names the cause; its input is sent to the client unchanged.
func TestFailedCallMessages(t *testing.T) {
	for told, fails := range map[string]error{
		"the editor could not run the tool (error -32603)": &jsonrpc2.Error{Code: -32603, Message: "CANARY"},
		"the connection to the editor was lost":            errors.New("CANARY"),
	} {
		c := newClient(func(*client, string) (string, error) { return "", fails })
		_, err := c.adapter.CallTool(t.Context(), t.Context(), copilot.ToolCall{ID: "c1", Name: "runTests", Input: json.RawMessage(`{"n":1}`)})
		if e := wantError(t, err, "copilotFailed", false); e.Message != told {
			t.Errorf("told %q, want %q", e.Message, told)
		}
		call := copilot.ToolCall{Name: "runTests", Input: json.RawMessage(`{"n":1}`)}
		if want := `{"callId":"c1","name":"runTests","input":{"n":1},"hash":"` + call.Hash() + `"}`; string(c.params) != want {
			t.Errorf("params %s, want %s", c.params, want)
		}
	}
}

// The retry delay that a service requests is kept to the millisecond, up to a day.
func TestRetryAfterIsKept(t *testing.T) {
	for ms, want := range map[int64]time.Duration{1: time.Millisecond, 86_400_000: 24 * time.Hour, 86_400_001: 24 * time.Hour} {
		c := newClient(func(*client, string) (string, error) {
			return fmt.Sprintf(`{"status":"failed","error":{"code":"copilotQuota","retryable":true,"retryAfterMs":%d}}`, ms), nil
		})
		if e := wantError(t, c.adapter.Send(t.Context(), request, func(string) {}), "copilotQuota", true); e.After != want {
			t.Errorf("%d ms: %v, want %v", ms, e.After, want)
		}
	}
}
