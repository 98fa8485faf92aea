package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/editor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ copilot.Adapter = (*editor.Adapter)(nil)

// wire is a real JSON-RPC connection in memory: one side is the adapter, as connected in
// the daemon, the other a client played by the test.
type wire struct {
	adapter   *editor.Adapter
	daemon    *jsonrpc2.Conn
	client    *jsonrpc2.Conn
	cancelled chan jsonrpc2.ID // $/cancelRequest as received by the client
	lastID    atomic.Uint64
}

// Call implements editor.Caller.
func (w *wire) Call(ctx context.Context, method string, params, result any) error {
	id := jsonrpc2.ID{Num: w.lastID.Add(1)}
	err := w.daemon.Call(ctx, method, params, result, jsonrpc2.PickID(id))
	if ctx.Err() != nil {
		_ = w.daemon.Notify(context.WithoutCancel(ctx), "$/cancelRequest", map[string]any{"id": id})
	}
	return err
}

// Await implements editor.Caller.
func (w *wire) Await(ctx, wanted context.Context, method string, params, result any) error {
	id := jsonrpc2.ID{Num: w.lastID.Add(1)}
	defer context.AfterFunc(wanted, func() {
		_ = w.daemon.Notify(context.WithoutCancel(ctx), "$/cancelRequest", map[string]any{"id": id})
	})()
	return w.daemon.Call(ctx, method, params, result, jsonrpc2.PickID(id))
}

// respond plays the client: it receives the params of copilot/send and a function that
// sends deltas, and returns the result.
type respond func(params json.RawMessage, delta func(seq int, text string)) (any, error)

func connect(t *testing.T, respond respond) *wire {
	t.Helper()
	a, b := net.Pipe()
	w := &wire{cancelled: make(chan jsonrpc2.ID, 4)}
	w.adapter = editor.New(w)
	onDaemon := handler(func(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) {
		switch r.Method {
		case "copilot/delta":
			_ = w.adapter.HandleDelta(*r.Params)
		case "copilot/toolCall":
			_, _ = w.adapter.HandleToolCall(*r.Params)
		}
	})
	onClient := handler(func(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) {
		switch r.Method {
		case "$/cancelRequest":
			var p struct{ ID jsonrpc2.ID }
			_ = json.Unmarshal(*r.Params, &p)
			w.cancelled <- p.ID
		case "copilot/send", "copilot/invokeTool":
			var p struct{ RequestID string }
			_ = json.Unmarshal(*r.Params, &p)
			go func() {
				result, err := respond(*r.Params, func(seq int, text string) {
					_ = c.Notify(ctx, "copilot/delta", map[string]any{"requestId": p.RequestID, "seq": seq, "text": text})
				})
				var rpc *jsonrpc2.Error
				if errors.As(err, &rpc) {
					_ = c.ReplyWithError(ctx, r.ID, rpc)
				} else if err == nil {
					_ = c.Reply(ctx, r.ID, result)
				}
			}()
		}
	})
	w.daemon = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(a, jsonrpc2.VSCodeObjectCodec{}), onDaemon)
	w.client = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(b, jsonrpc2.VSCodeObjectCodec{}), onClient)
	t.Cleanup(func() {
		_ = w.daemon.Close()
		_ = w.client.Close()
		<-w.daemon.DisconnectNotify()
		<-w.client.DisconnectNotify()
	})
	return w
}

type handler func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request)

func (h handler) Handle(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) { h(ctx, c, r) }

var request = copilot.Request{ID: "r1", TurnID: "t1", Attempt: 2, Messages: []copilot.Message{{Role: copilot.RoleUser, Content: "hello"}}}

var completed = map[string]any{"status": "completed"}

func status(s string, e map[string]any) map[string]any {
	return map[string]any{"status": s, "error": e}
}

func send(t *testing.T, w *wire) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var b strings.Builder
	err := w.adapter.Send(ctx, request, func(text string) { b.WriteString(text) })
	return b.String(), err
}

func wantError(t *testing.T, err error, code string, retryable bool) *copilot.Error {
	t.Helper()
	var e *copilot.Error
	if !errors.As(err, &e) || e.Code != code || e.Retryable != retryable {
		t.Fatalf("got %#v, want %s, retryable %v", err, code, retryable)
	}
	return e
}

func TestAnswer(t *testing.T) {
	var got map[string]any
	w := connect(t, func(params json.RawMessage, delta func(int, string)) (any, error) {
		_ = json.Unmarshal(params, &got)
		delta(0, "")
		delta(1, "Hello ")
		delta(2, "world.")
		return completed, nil
	})
	text, err := send(t, w)
	if text != "Hello world." || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	want := map[string]any{"requestId": "r1", "turnId": "t1", "attempt": 2.0, "messages": []any{map[string]any{"role": "user", "content": "hello"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("params %v, want %v", got, want)
	}
}

// The result never overtakes earlier deltas, however the goroutines are scheduled.
func TestEndDoesNotOvertakeDeltas(t *testing.T) {
	const deltas = 50
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		for i := range deltas {
			delta(i, fmt.Sprintf("%d,", i))
		}
		return completed, nil
	})
	var want strings.Builder
	for i := range deltas {
		fmt.Fprintf(&want, "%d,", i)
	}
	for range 40 {
		if text, err := send(t, w); text != want.String() || err != nil {
			t.Fatalf("got %q, %v", text, err)
		}
	}
	if s := w.adapter.Stats(); s != (editor.Stats{Accepted: 40 * deltas}) {
		t.Errorf("stats %+v", s)
	}
}

func TestRepeatedAndUnknownDeltasAreDropped(t *testing.T) {
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		delta(0, "a")
		delta(0, "again")
		delta(1, "b")
		return completed, nil
	})
	if err := w.adapter.HandleDelta(json.RawMessage(`{"requestId":"r1","seq":0,"text":"early"}`)); err != nil {
		t.Fatal(err)
	}
	if text, err := send(t, w); text != "ab" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if err := w.adapter.HandleDelta(json.RawMessage(`{"requestId":"r1","seq":2,"text":"late"}`)); err != nil {
		t.Fatal(err)
	}
	if s := w.adapter.Stats(); s != (editor.Stats{Accepted: 2, Repeated: 1, Strangers: 2}) {
		t.Errorf("stats %+v", s)
	}
}

func TestGapFailsTheAttempt(t *testing.T) {
	stop := make(chan struct{})
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		delta(0, "a")
		delta(2, "c")
		delta(3, "d")
		<-stop
		return completed, nil
	})
	defer close(stop)
	text, err := send(t, w)
	if text != "a" {
		t.Errorf("got %q", text)
	}
	wantError(t, err, "answerCutOff", false)
	bounded(t, w.cancelled)
	if s := w.adapter.Stats(); s.Gaps != 1 || s.Accepted != 1 {
		t.Errorf("stats %+v", s)
	}
}

// patience is the timeout of every wait. Only a failing test waits that long.
const patience = time.Minute

func bounded[T any](t *testing.T, c <-chan T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("nothing came within %v", patience)
	}
}

func TestMalformedDeltas(t *testing.T) {
	w := connect(t, nil)
	for _, p := range []string{``, `[]`, `{}`, `null`, `{"seq":0}`, `{"requestId":"r1"}`, `{"requestId":1,"seq":0}`, `{"requestId":"r1","seq":-1}`, `{"requestId":"r1","seq":0.5}`, `{"requestId":"r1","seq":0,"text":7}`} {
		err := w.adapter.HandleDelta(json.RawMessage(p))
		if err == nil || strings.Contains(err.Error(), "r1") {
			t.Errorf("%s: %v", p, err)
		}
	}
	if s := w.adapter.Stats(); s != (editor.Stats{Malformed: 10}) {
		t.Errorf("stats %+v", s)
	}
}

// An answer whose delta has no seq fails with the reason, and is not taken for empty.
func TestADeltaWithoutSeqFailsTheAttempt(t *testing.T) {
	var adapter *editor.Adapter
	stop := make(chan struct{})
	w := connect(t, func(json.RawMessage, func(int, string)) (any, error) {
		if err := adapter.HandleDelta(json.RawMessage(`{"requestId":"r1","text":"a"}`)); err == nil {
			t.Error("it is accepted")
		}
		<-stop // the attempt fails before the editor is done
		return completed, nil
	})
	defer close(stop)
	adapter = w.adapter
	text, err := send(t, w)
	if text != "" || err == nil || !strings.Contains(err.Error(), "seq, which counts from 0") {
		t.Errorf("got %q, %v", text, err)
	}
	wantError(t, err, "copilotFailed", false)
}

func TestFailures(t *testing.T) {
	rpc := func(code int64) error { return &jsonrpc2.Error{Code: code, Message: "CANARY"} }
	report := func(code string, retryable bool) map[string]any {
		return status("failed", map[string]any{"code": code, "message": "CANARY", "retryable": retryable})
	}
	tests := []struct {
		name      string
		deltas    []string
		result    any
		err       error
		code      string
		retryable bool
	}{
		{"NoPermissions", nil, report("NoPermissions", true), nil, "copilotNoConsent", false},
		{"Blocked", nil, report("Blocked", true), nil, "copilotBlocked", false},
		{"NotFound", nil, report("NotFound", false), nil, "copilotNotInstalled", false},
		{"quota", nil, report("copilotQuota", true), nil, "copilotQuota", true},
		{"quota, for good", nil, report("copilotQuota", false), nil, "copilotQuota", false},
		{"authentication", nil, report("authentication", false), nil, "authentication", false},
		{"unknown code", nil, report("CANARY", true), nil, "copilotFailed", true},
		{"after words", []string{"half"}, report("copilotUnavailable", true), nil, "copilotUnavailable", false},
		{"after a sign of life", []string{""}, report("copilotUnavailable", true), nil, "copilotUnavailable", true},
		{"no error", nil, status("failed", nil), nil, "copilotFailed", false},
		{"empty", []string{""}, completed, nil, "copilotEmpty", true},
		{"cancelled by the client", nil, status("cancelled", nil), nil, "copilotCancelled", false},
		{"unknown status", nil, status("CANARY", nil), nil, "copilotFailed", false},
		{"method not found", nil, nil, rpc(-32601), "copilotNotInstalled", false},
		{"request cancelled", nil, nil, rpc(-32800), "copilotCancelled", false},
		{"Blocked after words", []string{"half"}, report("Blocked", true), nil, "answerCutFilter", false},
		{"length, as a failure", []string{"half"}, report("answerCutLength", true), nil, "answerCutLength", false},
		{"steps, as a failure", nil, report("answerCutTurns", true), nil, "answerCutTurns", false},
		{"length", []string{"half"}, ended("length"), nil, "answerCutLength", false},
		{"length without words", nil, ended("length"), nil, "answerCutLength", false},
		{"steps", []string{"half"}, ended("turnLimit"), nil, "answerCutTurns", false},
		{"filter", []string{"half"}, ended("filter"), nil, "answerCutFilter", false},
		{"filter without words", nil, ended("filter"), nil, "copilotBlocked", false},
		{"stall", []string{"half"}, ended("stall"), nil, "copilotStalled", false},
		{"interrupted", []string{"half"}, ended("interrupted"), nil, "answerCutOff", false},
		{"interrupted without words", nil, ended("interrupted"), nil, "copilotFailed", false},
		{"only reasoning", []string{"<think>CANARY</think>"}, completed, nil, "copilotEmpty", true},
		{"internal error", nil, nil, rpc(-32603), "copilotFailed", true},
		{"internal error after words", []string{"half"}, nil, rpc(-32603), "answerCutOff", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
				for i, d := range tt.deltas {
					delta(i, d)
				}
				return tt.result, tt.err
			})
			_, err := send(t, w)
			if e := wantError(t, err, tt.code, tt.retryable); strings.Contains(e.Error(), "CANARY") {
				t.Errorf("the client's own words came through: %v", e)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for ms, want := range map[int64]time.Duration{1500: 1500 * time.Millisecond, -1: 0, 1 << 62: 24 * time.Hour} {
		w := connect(t, func(json.RawMessage, func(int, string)) (any, error) {
			return status("failed", map[string]any{"code": "copilotQuota", "retryable": true, "retryAfterMs": ms}), nil
		})
		_, err := send(t, w)
		if e := wantError(t, err, "copilotQuota", true); e.After != want {
			t.Errorf("%d ms: got %v, want %v", ms, e.After, want)
		}
	}
}

func TestCancel(t *testing.T) {
	stop := make(chan struct{})
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		delta(0, "a")
		<-stop
		return completed, nil
	})
	defer close(stop)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var text string
	err := w.adapter.Send(ctx, request, func(s string) {
		text += s
		cancel()
	})
	if !errors.Is(err, context.Canceled) || text != "a" {
		t.Fatalf("got %q, %v", text, err)
	}
	bounded(t, w.cancelled)
	if err := w.adapter.Send(ctx, request, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that was done before: %v", err)
	}
}

func TestConnectionLost(t *testing.T) {
	w := connect(t, func(json.RawMessage, func(int, string)) (any, error) { return nil, net.ErrClosed })
	go func() { _ = w.client.Close() }()
	_, err := send(t, w)
	wantError(t, err, "copilotUnavailable", false)
}

func TestSameRequestTwice(t *testing.T) {
	started, stop := make(chan struct{}), make(chan struct{})
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		close(started)
		<-stop
		delta(0, "a")
		return completed, nil
	})
	first := make(chan error, 1)
	go func() { _, err := send(t, w); first <- err }()
	bounded(t, started)
	_, err := send(t, w)
	wantError(t, err, "copilotFailed", false)
	close(stop)
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
}

// fakeReader is a Caller that plays the fastest possible reader: while the first delta is
// being emitted, it delivers the others and the result.
type fakeReader struct {
	adapter  *editor.Adapter
	emitting chan struct{}
}

func (f *fakeReader) Call(_ context.Context, _ string, _, result any) error {
	for seq := range 5 {
		_ = f.adapter.HandleDelta(fmt.Appendf(nil, `{"requestId":"r1","seq":%d,"text":"%d"}`, seq, seq))
		if seq == 0 {
			<-f.emitting
		}
	}
	return json.Unmarshal([]byte(`{"status":"completed"}`), result)
}

func (f *fakeReader) Await(ctx, _ context.Context, method string, params, result any) error {
	return f.Call(ctx, method, params, result)
}

func TestEndAndDeltasAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeReader{emitting: make(chan struct{})}
		f.adapter = editor.New(f)
		for range 100 {
			var text string
			err := f.adapter.Send(t.Context(), request, func(s string) {
				if text += s; s == "0" {
					f.emitting <- struct{}{}
					synctest.Wait() // the call has returned
				}
			})
			if err != nil || text != "01234" {
				t.Fatalf("got %q, %v", text, err)
			}
		}
	})
}

// Queued keep-alives are merged, so that they cannot fill the memory.
func TestEmptyDeltasAreMerged(t *testing.T) {
	const signs = 1000
	begun, emitted := make(chan struct{}), 0
	w := connect(t, func(_ json.RawMessage, delta func(int, string)) (any, error) {
		delta(0, "a")
		<-begun
		for i := range signs {
			delta(1+i, "")
		}
		return completed, nil
	})
	err := w.adapter.Send(t.Context(), copilot.Request{ID: "r1"}, func(text string) {
		if emitted++; text != "a" {
			return
		}
		close(begun)
		for w.adapter.Stats().Accepted < signs { // they arrive while this piece is emitted
			runtime.Gosched()
		}
	})
	if s := w.adapter.Stats(); err != nil || s.Accepted != signs+1 || s.Merged < signs/2 || emitted > signs/2 {
		t.Errorf("%v; %+v, %d pieces were emitted", err, s, emitted)
	}
}
