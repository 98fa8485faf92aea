package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/headless"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		waitAsHelper()
	}
	goleak.VerifyTestMain(m)
}

// patience limits every wait on a slow machine; no test passes because of it.
const patience = time.Minute

// message is a message from the daemon.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int64              `json:"code"`
		Message string             `json:"message"`
		Data    protocol.ErrorData `json:"data"`
	} `json:"error"`
}

// client is an editor played by the test, over in-memory pipes.
type client struct {
	t      testing.TB
	in     *io.PipeWriter
	out    *io.PipeReader
	got    chan message
	served chan error
	gate   sync.Mutex // while held, the client does not read

	lastID int
	seen   []message         // read but not yet waited for
	hashes map[string]string // of the calls of tools that were shown, by callId
}

// serve serves one client until the test ends. With reads, the client reads in the
// background.
func serve(t testing.TB, cfg rpc.Config, reads bool) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, hashes: map[string]string{}, in: inW, out: outR, got: make(chan message, 4096), served: make(chan error, 1)}
	cfg.In, cfg.Out, cfg.Version = inR, outW, "test"
	go func() { c.served <- rpc.Serve(context.Background(), cfg) }()
	if reads {
		go c.read()
	}
	t.Cleanup(func() {
		_ = inW.Close()
		select {
		case <-c.served:
		case <-time.After(patience):
			t.Error("Serve did not end with its input")
		}
		_ = outR.Close()
	})
	return c
}

// ended waits for Serve and checks its error.
func (c *client) ended(want error) {
	c.t.Helper()
	select {
	case err := <-c.served:
		if !errors.Is(err, want) {
			c.t.Errorf("Serve returned %v, want %v", err, want)
		}
	case <-time.After(patience):
		c.t.Fatal("Serve does not end")
	}
	c.served <- nil // for the cleanup
}

func (c *client) read() {
	defer close(c.got)
	in := bufio.NewReader(c.out)
	for {
		c.gate.Lock()
		c.gate.Unlock() //nolint:staticcheck // it was only passed
		length := 0
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(n)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			panic(err)
		}
		c.got <- m
	}
}

// raw sends a body unchanged.
func (c *client) raw(body string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) send(v any) {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(b))
}

type object = map[string]any

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// request sends a request and returns its id.
func (c *client) request(method string, params any) string {
	c.t.Helper()
	c.lastID++
	m := object{"jsonrpc": "2.0", "id": c.lastID, "method": method}
	if params != nil {
		m["params"] = params
	}
	c.send(m)
	return strconv.Itoa(c.lastID)
}

// next returns the next message.
func (c *client) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.got:
		if !ok {
			c.t.Fatal("the daemon is gone")
		}
		var shown protocol.ToolParams
		if m.Method == protocol.NotifyTool && json.Unmarshal(m.Params, &shown) == nil {
			c.hashes[shown.CallID] = shown.Hash
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("the daemon says nothing")
	}
	return message{}
}

// until reads up to the message that match accepts and returns it; earlier messages are
// kept in seen.
func (c *client) until(what string, match func(message) bool) message {
	c.t.Helper()
	for {
		m := c.next()
		if match(m) {
			return m
		}
		c.seen = append(c.seen, m)
	}
}

// answer reads up to the answer to a request.
func (c *client) answer(id string) message {
	c.t.Helper()
	return c.until("answer "+id, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// call sends a request and decodes its result into result, unless that is nil.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	m := c.answer(c.request(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
	}
}

// refused sends a request that must fail with a code, and returns the data of the
// error.
func (c *client) refused(method string, params any, want protocol.ErrorCode) protocol.ErrorData {
	c.t.Helper()
	m := c.answer(c.request(method, params))
	if m.Error == nil {
		c.t.Fatalf("%s was granted: %s; want %s", method, m.Result, want)
	}
	if m.Error.Code != want.Spec().Number || m.Error.Data.Code != want || m.Error.Data.Remediation == "" {
		c.t.Fatalf("%s: %+v; want %s with a remediation", method, m.Error, want)
	}
	return m.Error.Data
}

// state reads up to the transition to a state.
func (c *client) state(want protocol.State) protocol.StateParams {
	c.t.Helper()
	var p protocol.StateParams
	c.until("state "+string(want), func(m message) bool {
		if m.Method != protocol.NotifyState {
			return false
		}
		p = protocol.StateParams{}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		return p.State == want
	})
	return p
}

func (c *client) initialize(capabilities object, configuration object) protocol.InitializeResult {
	c.t.Helper()
	var r protocol.InitializeResult
	c.call(protocol.MethodInitialize, object{
		"protocolVersion": protocol.Version, "locale": "en", "capabilities": capabilities, "configuration": configuration,
	}, &r)
	c.notify(protocol.MethodInitialized, nil)
	return r
}

func (c *client) initializeAndListen(capabilities object) {
	c.t.Helper()
	c.initialize(capabilities, nil)
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
}

// end ends the connection cleanly.
func (c *client) end() {
	c.t.Helper()
	c.call(protocol.MethodShutdown, nil, nil)
	c.notify(protocol.MethodExit, nil)
	c.ended(nil)
}

// scripted serves a daemon on virtual time.
func scripted(t testing.TB, script string) *client {
	t.Helper()
	return serve(t, scriptedConfig(t, script), true)
}

func scriptedConfig(t testing.TB, source string) rpc.Config {
	t.Helper()
	script, err := headless.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	clock := &dispatch.Virtual{}
	return rpc.Config{
		Clock: clock, Started: headless.Epoch, Log: zerolog.Nop(), JournalDir: t.TempDir(),
		New: func(c rpc.Client) (rpc.Backend, error) {
			stage := headless.New(script, clock, daemon.Config{
				Settings: c.Settings, Locale: c.Locale, Microphone: c.Microphone, Adapter: c.Copilot, Notify: c.Notify, Journal: c.Journal,
				TranscriptAppend: c.TranscriptAppend, Verify: true, Log: zerolog.Nop(), Editor: c.Editor,
			})
			return rpc.Backend{
				Daemon: stage.Daemon(), Audio: stage.World(), PressToTalk: stage.World().PressToTalk, Stage: stage,
				Counters: func() map[string]int64 { return map[string]int64{"realtime.unsolicited": 2} },
			}, nil
		},
	}
}

// instant is a fake real-time world in which everything succeeds at once, except that
// devices take closeIn to close.
type instant struct {
	port    daemon.Port
	closed  chan struct{}
	closeIn time.Duration
}

func (w *instant) Execute(e csm.Effect) {
	switch e := e.(type) {
	case csm.ActivateSession:
		w.port.Post(csm.SessionReady{Instance: e.Instance})
	case csm.OpenAudio:
		w.port.Post(csm.AudioPrimed{Instance: e.Instance})
	case csm.StartCapture:
		w.port.Post(csm.AudioReady{Instance: e.Instance})
	case csm.OpenConnection:
		w.port.Post(csm.ConnReady{Epoch: e.Epoch})
	case csm.DeactivateSession:
		w.port.Post(csm.SessionClosed{Instance: e.Instance})
	case csm.CloseAudio:
		time.AfterFunc(w.closeIn, func() { w.port.Post(csm.AudioClosed{Instance: e.Instance}) })
	case csm.CloseConnection:
		w.port.Post(csm.ConnClosed{Instance: e.Instance})
	}
}

func (*instant) Configure(protocol.Settings) {}
func (*instant) Mute(bool)                   {}

func (w *instant) Close() error {
	close(w.closed)
	return nil
}

// running returns the config of a real-time daemon, its world's port, and a channel
// closed when the world is closed.
func running(t *testing.T) (cfg rpc.Config, port <-chan daemon.Port, closed <-chan struct{}) {
	t.Helper()
	return runningClosingIn(t, 0)
}

// runningClosingIn is running with devices that take a while to close.
func runningClosingIn(t *testing.T, closeIn time.Duration) (cfg rpc.Config, port <-chan daemon.Port, closed <-chan struct{}) {
	t.Helper()
	ports, done := make(chan daemon.Port, 1), make(chan struct{})
	clock, started := dispatch.NewClock(1), time.Now()
	return rpc.Config{
		Clock: clock, Started: started, Log: zerolog.Nop(), JournalDir: t.TempDir(),
		New: func(c rpc.Client) (rpc.Backend, error) {
			d := daemon.New(daemon.Config{
				Clock: clock, Started: started, Settings: c.Settings, Locale: c.Locale, Adapter: c.Copilot,
				Notify: c.Notify, Journal: c.Journal, Verify: true, Log: zerolog.Nop(),
				World: func(p daemon.Port) daemon.World {
					ports <- p
					return &instant{port: p, closed: done, closeIn: closeIn}
				},
			})
			return rpc.Backend{Daemon: d}, nil
		},
	}, ports, done
}
