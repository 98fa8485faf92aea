package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestWholeLifecycle(t *testing.T) {
	c := scripted(t, "")
	r := c.initialize(object{"copilot": true}, nil)
	if r.ServerInfo.Name != "agentvoice-daemon" || r.ProtocolVersion != protocol.Version || !r.Capabilities.Headless {
		t.Errorf("initialize answered %+v", r)
	}
	if r.Snapshot.State != protocol.StateIdle || r.Snapshot.Label != "○ Ready" {
		t.Errorf("the snapshot is %+v", r.Snapshot)
	}
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.refused(protocol.MethodStart, nil, protocol.CodeConversationActive) // CON-002
	c.call(protocol.MethodEnd, object{"reason": "user-stop"}, nil)
	c.state(protocol.StateIdle)
	c.refused(protocol.MethodInterrupt, object{"source": "button"}, protocol.CodeNoConversation)
	c.call(protocol.MethodShutdown, nil, nil)
	c.refused(protocol.MethodStart, nil, protocol.CodeShuttingDown)
	c.notify(protocol.MethodExit, nil)
	c.ended(nil)
}

func TestNothingBeforeInitialize(t *testing.T) {
	c := scripted(t, "")
	c.refused(protocol.MethodStart, nil, protocol.CodeNotInitialized)
	c.refused("no/such", nil, protocol.CodeNotInitialized)
	c.notify("$/unknown", nil)
	c.notify(protocol.MethodHeartbeat, nil)
	data := c.refused(protocol.MethodInitialize, object{"locale": "en"}, protocol.CodeInvalidParams)
	if len(data.Fields) != 1 || data.Fields[0].Field != "protocolVersion" {
		t.Errorf("the fields are %+v", data.Fields)
	}
	c.refused(protocol.MethodInitialize, object{"protocolVersion": "2.0"}, protocol.CodeUnsupportedProtocolVersion)
	c.refused(protocol.MethodInitialize, object{"protocolVersion": "1.0", "processId": -4}, protocol.CodeInvalidParams)
	c.initialize(nil, nil)
	c.refused(protocol.MethodInitialize, object{"protocolVersion": "1.0"}, protocol.CodeInvalidRequest)
	c.end()
}

func TestTheClientsLanguageAndSettings(t *testing.T) {
	c := scripted(t, "")
	var r protocol.InitializeResult
	c.call(protocol.MethodInitialize, object{
		"protocolVersion": "1.7", "locale": "de-AT",
		"configuration": object{"agentvoice.copilot.timeoutMs": 1, "agentvoice.copilot.stallMs": 700},
	}, &r)
	if r.Snapshot.Label != "○ Bereit" {
		t.Errorf("the label is %q", r.Snapshot.Label)
	}
	said := c.until("the bad setting", func(m message) bool { return m.Method == protocol.NotifyNotification })
	var p protocol.NotificationParams
	if err := json.Unmarshal(said.Params, &p); err != nil || !strings.Contains(p.Message, "agentvoice.copilot.timeoutMs") {
		t.Errorf("the notification is %s", said.Params)
	}
	c.call(protocol.MethodConfigure, object{"agentvoice.locale": "ja", "agentvoice.copilot": object{"maxRetries": 0}}, nil)
	bad := c.refused(protocol.MethodConfigure, object{"agentvoice.locale": "en", "agentvoice.nonsense": 1, "agentvoice.copilot.stallMs": "x"}, protocol.CodeInvalidParams)
	if len(bad.Fields) != 2 {
		t.Errorf("the bad fields are %+v, want two", bad.Fields)
	}
	var now protocol.Snapshot
	if c.call(protocol.MethodState, nil, &now); now.Label != "○ 準備完了" {
		t.Errorf("the label is %q: one bad setting refuses all, and the locale stays", now.Label)
	}
	c.end()
}

// stuckInput is a pipe that does not close while it is being read, as on Windows.
type stuckInput struct {
	io.Reader
	release chan struct{}
}

func (s *stuckInput) Close() error { <-s.release; return nil }

// TestAnInputThatDoesNotCloseHoldsNothingUp: otherwise the process would not exit.
func TestAnInputThatDoesNotCloseHoldsNothingUp(t *testing.T) {
	in, editor := io.Pipe()
	stuck := &stuckInput{Reader: in, release: make(chan struct{})}
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { served <- rpc.Serve(ctx, rpc.Config{In: stuck, Out: nopCloser{io.Discard}, Version: "test"}) }()
	stop() // a signal: the other end is not closed
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("Serve waits for its input")
	}
	close(stuck.release)
	_ = editor.Close()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestExitWithoutShutdown(t *testing.T) {
	c := scripted(t, "")
	c.initialize(nil, nil)
	c.notify(protocol.MethodExit, nil)
	c.ended(rpc.ErrExit)
}

// When shutdown is answered, the conversation is over and everything is closed.
func TestShutdownClosesEverything(t *testing.T) {
	cfg, _, closed := running(t)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	id := c.request(protocol.MethodShutdown, nil)
	c.state(protocol.StateTerminating)
	c.state(protocol.StateIdle)
	c.answer(id)
	select {
	case <-closed:
	default:
		t.Error("the world is open after shutdown")
	}
	c.notify(protocol.MethodExit, nil)
	c.ended(nil)
}

func TestTheEndOfTheInput(t *testing.T) {
	cfg, _, closed := running(t)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	_ = c.in.Close()
	c.ended(rpc.ErrNoShutdown)
	<-closed
}

func TestTheEndOfTheInputAfterShutdown(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(nil)
	c.call(protocol.MethodShutdown, nil, nil)
	_ = c.in.Close()
	c.ended(nil)
}

// A client that stopped reading does not delay the end.
func TestTheEndWhileTheClientDoesNotRead(t *testing.T) {
	cfg, _, closed := running(t)
	c := serve(t, cfg, false)
	c.request(protocol.MethodInitialize, object{"protocolVersion": "1.0"})
	c.request(protocol.MethodStart, nil)
	_ = c.in.Close()
	c.ended(rpc.ErrNoShutdown)
	<-closed
}

// However the daemon ends, it takes two seconds at most.
//
//test:realtime
func TestTheEndIsFast(t *testing.T) {
	for name, end := range map[string]func(*client){
		"exit after shutdown": func(c *client) {
			c.call(protocol.MethodShutdown, nil, nil)
			c.notify(protocol.MethodExit, nil)
		},
		"exit":             func(c *client) { c.notify(protocol.MethodExit, nil) },
		"end of the input": func(c *client) { _ = c.in.Close() },
		"nobody reads":     func(c *client) { _ = c.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _, _ := running(t)
			c := serve(t, cfg, name != "nobody reads")
			if name == "nobody reads" {
				c.request(protocol.MethodInitialize, object{"protocolVersion": "1.0"})
				c.request(protocol.MethodStart, nil)
			} else {
				c.initializeAndListen(nil)
			}
			begin := time.Now()
			end(c)
			<-c.served
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("the end took %v, want 2 s at most", took)
			}
			c.served <- nil // for the cleanup
		})
	}
}

// otherProcess starts a process that lives until the returned function is called.
func otherProcess(t *testing.T) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}
}

// helperEnv makes this test binary a process that waits for the end of its input.
const helperEnv = "AGENTVOICE_TEST_WAITS"

func waitAsHelper() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func TestTheProcessOfInitializeIsGone(t *testing.T) {
	cfg, _, closed := running(t)
	c := serve(t, cfg, true)
	pid, end := otherProcess(t)
	c.call(protocol.MethodInitialize, object{"protocolVersion": "1.0", "processId": pid}, nil)
	c.call(protocol.MethodState, nil, nil) // the process is alive, and so is the daemon
	end()
	c.ended(rpc.ErrProcessGone)
	<-closed
}

func TestTheProcessOfTheCommandLineIsGone(t *testing.T) {
	pid, end := otherProcess(t)
	end() // before it is watched
	cfg := scriptedConfig(t, "")
	cfg.ProcessID = pid
	serve(t, cfg, true).ended(rpc.ErrProcessGone)
}

func TestHeartbeat(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(object{"heartbeat": true})
	advance := func(ms int) {
		t.Helper()
		c.call(protocol.MethodAdvance, object{"ms": ms}, nil)
	}
	at := func(p protocol.StateParams, want string) {
		t.Helper()
		if got := p.Since.Format("04:05.000"); got != want {
			t.Errorf("%s at %s, want %s", p.State, got, want)
		}
	}
	id := c.request(protocol.MethodAdvance, object{"ms": 30000})
	p := c.state(protocol.StateSuspended)
	if at(p, "00:20.000"); p.Metadata.Reason != "heartbeat" {
		t.Errorf("the reason is %q", p.Metadata.Reason)
	}
	c.answer(id)
	c.notify(protocol.MethodHeartbeat, nil)
	at(c.state(protocol.StateListening), "00:30.000")
	advance(19999)
	c.notify(protocol.MethodHeartbeat, nil)
	id = c.request(protocol.MethodAdvance, object{"ms": 60000})
	at(c.state(protocol.StateSuspended), "01:09.999")
	at(c.state(protocol.StateTerminating), "01:49.999")
	c.answer(id)
	c.end()
}

func TestIDsOfRequestsMayBeStrings(t *testing.T) {
	c := scripted(t, "")
	c.initialize(nil, nil)
	c.raw(`{"jsonrpc":"2.0","id":"a","method":"conversation/state"}`)
	c.answer(strconv.Quote("a"))
	c.end()
}

// TestNothingBeforeInitializeIsAnswered: notifications from a world under construction
// reach the client afterwards.
func TestNothingBeforeInitializeIsAnswered(t *testing.T) {
	cfg := scriptedConfig(t, "")
	made := cfg.New
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		c.Notify(protocol.NotifyNotification, protocol.NotificationParams{
			Message: "early", Severity: protocol.SeverityInfo, Kind: protocol.NotificationMessage,
		})
		return made(c)
	}
	c := serve(t, cfg, true)
	id := c.request(protocol.MethodInitialize, object{"protocolVersion": protocol.Version, "locale": "en", "capabilities": object{}})
	if m := c.next(); string(m.ID) != id || m.Error != nil {
		t.Fatalf("the first message is %s %s", m.Method, m.Params)
	}
	if m := c.next(); m.Method != protocol.NotifyNotification || !strings.Contains(string(m.Params), "early") {
		t.Errorf("the second message is %s %s", m.Method, m.Params)
	}
}

// A refused start takes nothing over, now or at the next start.
func TestARefusedStartTakesNothingOver(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(nil)
	c.refused(protocol.MethodStart, object{"takeOver": true}, protocol.CodeConversationActive)
	c.call(protocol.MethodEnd, nil, nil)
	c.state(protocol.StateIdle)
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.call(protocol.MethodEnd, nil, nil)
	c.state(protocol.StateIdle)
	c.call(protocol.MethodStart, object{"takeOver": true}, nil)
	c.state(protocol.StateListening)
	if got, want := c.takeOvers(), []bool{false, false, true}; !slices.Equal(got, want) {
		t.Errorf("the starts took the microphone over: %v, want %v", got, want)
	}
	c.end()
}

// takeOvers returns, for each time the devices were opened, whether the microphone was
// to be taken from another window.
func (c *client) takeOvers() (list []bool) {
	c.t.Helper()
	var written protocol.JournalResult
	c.call(protocol.MethodJournal, object{"content": "redacted"}, &written)
	text, err := os.ReadFile(written.Path)
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, opened, ok := strings.Cut(line, `{"OpenAudio":`); ok {
			opened, _, _ = strings.Cut(opened, "}")
			list = append(list, strings.Contains(opened, `"takeOver":true`))
		}
	}
	return list
}

// The second conversation of a connection ends like the first: it reaches idle before
// shutdown is answered, and the journal says so.
func TestShutdownWaitsForASecondConversation(t *testing.T) {
	cfg, _, _ := runningClosingIn(t, 100*time.Millisecond)
	var kept bytes.Buffer
	cfg.Journal = journal.Stream(&kept)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	c.call(protocol.MethodEnd, nil, nil)
	c.state(protocol.StateIdle)
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	id := c.request(protocol.MethodShutdown, nil)
	c.state(protocol.StateTerminating)
	c.state(protocol.StateIdle)
	c.answer(id)
	c.notify(protocol.MethodExit, nil)
	c.ended(nil)
	lines := strings.Split(strings.TrimSpace(kept.String()), "\n")
	if !slices.ContainsFunc(lines[max(0, len(lines)-3):], func(line string) bool { return strings.Contains(line, `"event":"reset"`) }) {
		t.Errorf("the journal ends before the conversation: %s", lines[len(lines)-1])
	}
}
