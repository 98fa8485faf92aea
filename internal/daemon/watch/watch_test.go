package watch

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/protocol/jsonrpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience limits every wait on a slow machine; no test passes because of it.
const patience = time.Minute

// prompt is a world in which everything succeeds at once.
type prompt struct{ daemon.Port }

func (w prompt) Execute(e csm.Effect) {
	for _, answer := range []csm.Event{world.Reaction(e), world.Ending(e, world.Done)} {
		if answer != nil {
			w.Post(answer)
		}
	}
}
func (prompt) Configure(protocol.Settings) {}
func (prompt) Mute(bool)                   {}
func (prompt) Close() error                { return nil }

// host is a daemon with watchers.
type host struct {
	t      testing.TB
	folder string
	daemon *daemon.Daemon
	port   daemon.Port
	stop   func() // ends it, once
}

// begin starts a daemon whose watchers get what the setting allows. notify may be nil.
func begin(t testing.TB, setting string, notify func(string, any)) *host {
	t.Helper()
	folder, err := os.MkdirTemp("", "w") // a socket path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	h := &host{t: t, folder: filepath.Join(folder, "watch")}
	set := protocol.DefaultSettings()
	set.Privacy.Watch = setting
	h.daemon = daemon.New(daemon.Config{
		Clock: dispatch.NewClock(1), Started: time.Now(), Settings: set, Notify: notify, Log: zerolog.Nop(),
		World: func(p daemon.Port) daemon.World { h.port = p; return prompt{p} },
		Watch: New(Config{
			Folder: h.folder, ID: "daemon1", Name: "test", Version: "1", Log: zerolog.Nop(),
			Sessions: func(context.Context) (protocol.SessionsResult, error) {
				return protocol.SessionsResult{Sessions: protocol.List[protocol.SessionSummary]{{ID: "daemon1-1"}}}, nil
			},
			Usage: func(context.Context) (r protocol.UsageResult, err error) { return r, errors.New("no disk at /secret") },
		}),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.daemon.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

func (h *host) card() Card {
	h.t.Helper()
	list, err := List(h.folder)
	if err != nil || len(list) != 1 {
		h.t.Fatalf("there are %d daemons, want one: %v", len(list), err)
	}
	return list[0]
}

func (h *host) follow(p protocol.WatchParams) *Client {
	h.t.Helper()
	c, err := Dial(context.Background(), h.folder, h.card(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// until reads up to a message, and returns its params and all methods on the way.
func until[P any](t testing.TB, c *Client, method string, is func(P) bool) (before []string, found P) {
	t.Helper()
	for {
		m, err := c.Next()
		if err != nil {
			t.Fatalf("no %s after %q: %v", method, before, err)
		}
		before = append(before, string(m.Params))
		if m.Method != method {
			continue
		}
		var p P
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		if is(p) {
			return before, p
		}
	}
}

func state(want protocol.State) func(protocol.StateParams) bool {
	return func(p protocol.StateParams) bool { return p.State == want }
}

// A watcher gets one snapshot, and then every later transition.
func TestSnapshotThenDeltas(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	first := h.follow(protocol.WatchParams{})
	if s := first.Snapshot; s.State != protocol.StateIdle || s.Seq != 0 {
		t.Errorf("the snapshot is %+v", s)
	}
	h.daemon.Post(csm.UserStart{})
	until(t, first, protocol.NotifyState, state(protocol.StateListening))

	late := h.follow(protocol.WatchParams{})
	if s := late.Snapshot; s.State != protocol.StateListening || s.Session.State != protocol.SessionReady {
		t.Errorf("the late snapshot is %+v", s)
	}
	h.daemon.Post(csm.UserStop{})
	_, p := until(t, late, protocol.NotifyState, state(protocol.StateTerminating))
	if p.Seq != late.Snapshot.Seq+1 {
		t.Errorf("the transition after snapshot %d has number %d", late.Snapshot.Seq, p.Seq)
	}
	until(t, late, protocol.NotifyState, state(protocol.StateIdle))
}

// A hundred watchers receive the same, in the same order.
func TestHundredWatchers(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	var all []*Client
	for range 100 {
		all = append(all, h.follow(protocol.WatchParams{}))
	}
	h.daemon.Post(csm.UserStart{})
	var want string
	for i, c := range all {
		seen, _ := until(t, c, protocol.NotifyState, state(protocol.StateListening))
		for _, change := range []string{`{"state":"activating","previousState":"inactive"`, `{"state":"ready","previousState":"activating"`} {
			if !slices.ContainsFunc(seen, func(params string) bool { return strings.HasPrefix(params, change) }) {
				t.Fatalf("watcher %d was not told %s in %q", i, change, seen)
			}
		}
		if got := strings.Join(seen, "\n"); i == 0 {
			want = got
		} else if got != want {
			t.Fatalf("watcher %d saw\n%s\nand the first\n%s", i, got, want)
		}
	}
}

// A watcher that does not read is told how much it missed, and continues from a new
// snapshot; the others miss nothing.
func TestSlowWatcherIsResynced(t *testing.T) {
	const total = 20_000
	h := begin(t, protocol.PrivacyWatchStates, nil)
	slow, fast := h.follow(protocol.WatchParams{}), h.follow(protocol.WatchParams{})
	for n := 1; n <= total; n++ {
		h.port.Notify(protocol.NotifyQueue, protocol.Queue{Count: n})
		if n%100 == 0 { // at the pace of the watcher that reads
			until(t, fast, protocol.NotifyQueue, func(q protocol.Queue) bool { return q.Count == n })
		}
	}
	h.daemon.Post(csm.UserStart{})
	until(t, fast, protocol.NotifyState, state(protocol.StateListening))

	last := 0
	seen, resync := until(t, slow, protocol.NotifyNotification, func(p protocol.NotificationParams) bool { return p.Kind == protocol.NotificationResync })
	for i, line := range seen[:len(seen)-1] {
		var q protocol.Queue
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Count != i+1 {
			t.Fatalf("message %d is %s, %v", i+1, line, err)
		}
		last = q.Count
	}
	if last == 0 || resync.Dropped < total-last || resync.Message == "" {
		t.Errorf("after %d of %d it is told %+v", last, total, resync)
	}
	if resync.Snapshot == nil || resync.Snapshot.State != protocol.StateListening {
		t.Fatalf("it continues at %+v", resync.Snapshot)
	}
	h.daemon.Post(csm.UserStop{})
	_, p := until(t, slow, protocol.NotifyState, state(protocol.StateTerminating))
	if p.Seq != resync.Snapshot.Seq+1 {
		t.Errorf("the transition after snapshot %d has number %d", resync.Snapshot.Seq, p.Seq)
	}
}

// Notifications beyond the hub's capacity are counted and reported.
func TestTooMuchAtOnceIsTold(t *testing.T) {
	const total = 10 * maxPublished
	h := begin(t, protocol.PrivacyWatchStates, nil)
	c := h.follow(protocol.WatchParams{})
	for n := range total {
		h.port.Notify(protocol.NotifyQueue, protocol.Queue{Count: n})
	}
	seen, spared := 0, 0
	for seen+spared < total {
		m, err := c.Next()
		if err != nil {
			t.Fatalf("%d seen and %d left out, of %d: %v", seen, spared, total, err)
		}
		if m.Method == protocol.NotifyQueue {
			seen++
			continue
		}
		var p protocol.NotificationParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		spared += p.Dropped
	}
	if spared == 0 || seen+spared != total {
		t.Errorf("%d seen and %d left out, of %d", seen, spared, total)
	}
}

// peer is a program that implements the wire itself.
type peer struct {
	t testing.TB
	*jsonrpc.Stream
	id uint64
}

func (h *host) connect() *peer {
	h.t.Helper()
	conn, err := net.Dial("unix", socketOf(h.folder, "daemon1"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &peer{t: h.t, Stream: jsonrpc.NewStream(conn, conn, nil)}
}

func (p *peer) call(method string, params any) *jsonrpc2.Response {
	p.t.Helper()
	p.id++
	r := &jsonrpc2.Request{Method: method, ID: jsonrpc2.ID{Num: p.id}}
	if err := errors.Join(r.SetParams(params), p.WriteObject(r)); err != nil {
		p.t.Fatal(err)
	}
	for {
		var raw json.RawMessage
		if err := p.ReadObject(&raw); err != nil {
			p.t.Fatalf("%s: %v", method, err)
		}
		var answer jsonrpc2.Response
		if json.Unmarshal(raw, &answer) == nil && answer.ID == r.ID {
			return &answer
		}
	}
}

func refusedWith(t *testing.T, what string, r *jsonrpc2.Response, code protocol.ErrorCode, detail string) {
	t.Helper()
	data, _ := protocol.DataOf(r.Error)
	if data.Code != code || !strings.Contains(r.Error.Message, detail) || data.Remediation == "" {
		t.Errorf("%s: answered %+v, want %s", what, r, code)
	}
}

func hello(follow protocol.WatchParams) protocol.InitializeParams {
	return protocol.InitializeParams{ProtocolVersion: protocol.Version, Watch: follow}
}

// Only a client with the token is admitted, and nothing is sent before.
func TestStrangersAreRefused(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	token := h.card().Token
	for _, c := range []struct {
		name   string
		method string
		params any
		code   protocol.ErrorCode
		detail string
	}{
		{"no token", protocol.MethodInitialize, hello(protocol.WatchParams{}), protocol.CodeWatchRefused, "token is wrong"},
		{"a wrong token", protocol.MethodInitialize, hello(protocol.WatchParams{Token: token + "x"}), protocol.CodeWatchRefused, "token is wrong"},
		{"words", protocol.MethodInitialize, hello(protocol.WatchParams{Token: token, Words: true}), protocol.CodeWatchRefused, "does not allow words"},
		{"another version", protocol.MethodInitialize, protocol.InitializeParams{ProtocolVersion: "9.0", Watch: protocol.WatchParams{Token: token}}, protocol.CodeUnsupportedProtocolVersion, ""},
		{"no initialize", protocol.MethodState, nil, protocol.CodeNotInitialized, ""},
	} {
		p := h.connect()
		refusedWith(t, c.name, p.call(c.method, c.params), c.code, c.detail)
		var more json.RawMessage
		if err := p.ReadObject(&more); err == nil {
			t.Errorf("%s: it is sent %s", c.name, more)
		}
	}
}

// Every request of the editor is either read-only or refused to a watcher.
func TestAWatcherChangesNothing(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	p := h.connect()
	if r := p.call(protocol.MethodInitialize, hello(protocol.WatchParams{Token: h.card().Token})); r.Error != nil {
		t.Fatal(r.Error)
	}
	reads := map[string]bool{protocol.MethodState: true, protocol.MethodHistory: true, protocol.MethodSessions: true}
	for _, m := range protocol.Messages {
		if m.Direction != protocol.ClientToDaemon || m.Notification {
			continue
		}
		r := p.call(m.Method, map[string]any{})
		switch {
		case reads[m.Method]:
			if r.Error != nil {
				t.Errorf("%s: %v", m.Method, r.Error)
			}
		case m.Method == protocol.MethodTranscript:
			refusedWith(t, m.Method, r, protocol.CodeWatchRefused, "no words")
		case m.Method == protocol.MethodUsage: // its record fails here
			refusedWith(t, m.Method, r, protocol.CodeInternalError, "")
			if strings.Contains(string(r.Error.Message), "secret") {
				t.Errorf("it says %s", r.Error.Message)
			}
		default:
			refusedWith(t, m.Method, r, protocol.CodeReadOnly, "")
		}
	}
	refusedWith(t, "an unknown method", p.call("conversation/unheardOf", nil), protocol.CodeMethodNotFound, "")
	if s := h.daemon.Snapshot(); s.State != protocol.StateIdle {
		t.Errorf("the state is %s", s.State)
	}
}

// The files of crashed daemons are removed; those of running daemons stay.
func TestStaleSocketsAreRemoved(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	leave := func(id string, card bool) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketOf(h.folder, id)})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !card {
			old := time.Now().Add(-2 * settling)
			if err := os.Chtimes(socketOf(h.folder, id), old, old); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := writeCard(h.folder, Card{ID: id, PID: 1, Name: "crashed", Token: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	leave("crashed", true)
	leave("sooner", false)
	if err := os.WriteFile(cardOf(h.folder, "garbage"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := h.card(); c.ID != "daemon1" || c.PID != os.Getpid() {
		t.Errorf("the daemon that runs is %+v", c)
	}
	var left []string
	entries, err := os.ReadDir(h.folder)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "daemon1.json daemon1.sock" || err != nil {
		t.Errorf("left are %s, %v", got, err)
	}
	if list, err := List(filepath.Join(h.folder, "none")); len(list) != 0 || err != nil {
		t.Errorf("a folder that is not there has %v, %v", list, err)
	}
}

// Only the user can access the folder and its files.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the profile's folder protects them")
	}
	h := begin(t, protocol.PrivacyWatchStates, nil)
	for path, want := range map[string]os.FileMode{
		h.folder: 0o700, cardOf(h.folder, "daemon1"): 0o600, socketOf(h.folder, "daemon1"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// A watcher that does not read delays the end of the daemon by less than two seconds.
//
//test:realtime
func TestAStuckWatcherDoesNotDelayTheEnd(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	h.follow(protocol.WatchParams{})
	for n := range 5000 { // more than its socket buffers
		h.port.Notify(protocol.NotifyQueue, protocol.Queue{Count: n})
	}
	begun := time.Now()
	h.stop()
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the end takes %v", took)
	}
}

// The end of the daemon, and of the user's permission, can be told from a crash.
func TestEnds(t *testing.T) {
	h := begin(t, protocol.PrivacyWatchStates, nil)
	c := h.follow(protocol.WatchParams{})
	off := protocol.DefaultSettings()
	off.Privacy.Watch = protocol.PrivacyWatchOff
	h.daemon.Configure(off)
	until(t, c, protocol.NotifyNotification, func(p protocol.NotificationParams) bool { return p.Code == protocol.CodeWatchRefused })
	if _, err := c.Next(); !errors.Is(err, ErrOff) {
		t.Errorf("switched off, it ends with %v", err)
	}
	if list, err := List(h.folder); len(list) != 0 || err != nil {
		t.Errorf("switched off, there are %v, %v", list, err)
	}
	h.daemon.Configure(protocol.DefaultSettings())
	c, stuck := h.follow(protocol.WatchParams{}), h.follow(protocol.WatchParams{})
	for n := range 5000 { // more than its socket buffers
		h.port.Notify(protocol.NotifyQueue, protocol.Queue{Count: n})
	}
	card := h.card()
	stopped := make(chan struct{})
	go func() {
		h.stop()
		close(stopped)
	}()
	select {
	case <-stopped: // although the stuck watcher has read nothing
	case <-time.After(patience):
		t.Fatal("with a stuck watcher, the daemon does not end")
	}
	for _, c := range []*Client{c, stuck} {
		var err error
		for err == nil {
			_, err = c.Next()
		}
		if !errors.Is(err, ErrEnded) {
			t.Errorf("it ends with %v", err)
		}
	}
	if _, err := Dial(t.Context(), h.folder, card, protocol.WatchParams{}); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// A daemon that cannot open its socket still holds conversations.
func TestNoSocket(t *testing.T) {
	for _, folder := range []string{filepath.Join(t.TempDir(), strings.Repeat("long", 30)), filepath.Join(os.Args[0], "file")} {
		var log strings.Builder
		d := daemon.New(daemon.Config{
			Clock: &dispatch.Virtual{}, Settings: protocol.DefaultSettings(), Log: zerolog.Nop(),
			World: func(p daemon.Port) daemon.World { return prompt{p} },
			Watch: New(Config{Folder: folder, ID: "d", Log: zerolog.New(&log)}),
		})
		d.Post(csm.UserStart{})
		d.Drain()
		if d.Snapshot().State != protocol.StateListening || !strings.Contains(log.String(), "other programs cannot follow") {
			t.Errorf("it is %s, and says %s", d.Snapshot().State, log.String())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestASocketThatOpensWhileItClosesIsGone: a settings request may be opening the socket
// while the daemon ends.
func TestASocketThatOpensWhileItClosesIsGone(t *testing.T) {
	folder, err := os.MkdirTemp("", "w") // a socket path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := New(Config{Folder: folder, ID: "daemon1", Log: zerolog.Nop()})
	s.closed = true // after Configure has read it
	if err := s.listen(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}
