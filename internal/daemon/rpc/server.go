package rpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/protocol/jsonrpc"
)

// How long the parts of the end may take: two seconds in all (the protocol,
// section 1), with something to spare.
const (
	goodbye  = 800 * time.Millisecond // the conversation, from Terminating to Idle
	closeMax = 700 * time.Millisecond // devices, connection, voice
	drainMax = 200 * time.Millisecond // what is still to be sent
)

// Config says what to serve. In, Out, Clock, New and Log are needed.
type Config struct {
	In  io.ReadCloser
	Out io.WriteCloser
	// Version is that of the build.
	Version string
	// ProcessID is watched as that of initialize is; 0 for none.
	ProcessID int
	// Clock is the daemon's, Started what its zero is on the wire.
	Clock   dispatch.Clock
	Started time.Time
	// Settings puts what the command line says over the client's settings; nil
	// for nothing.
	Settings func(protocol.Settings) (protocol.Settings, error)
	// JournalDir is where diagnostics/journal writes, "" for nowhere.
	JournalDir string
	// Journal gets the journal as it is written, unless the settings keep
	// conversations off the disk; nil for none.
	Journal journal.Output
	// New makes the daemon, once, when the client sent initialize.
	New func(Client) (Backend, error)
	Log zerolog.Logger
}

// Client describes the client to New.
type Client struct {
	Name     string // as it calls itself
	Settings protocol.Settings
	Locale   string
	// Microphone is how the microphone begins.
	Microphone protocol.MuteParams
	// Copilot asks the client's assistant; nil where it has none.
	Copilot copilot.Adapter
	// Credential asks the client for a secret; nil where it keeps none.
	Credential func(context.Context, protocol.Provider, protocol.CredentialKind) (protocol.CredentialsResult, error)
	Notify     func(method string, params any)
	// Editor asks the client's editor for what a voice command names; nil where it takes
	// none.
	Editor func(context.Context, protocol.EditorCommandParams) (protocol.EditorCommandResult, error)
	// TranscriptAppend says that it takes transcripts that only continue the one
	// before.
	TranscriptAppend bool
	Journal          *journal.Writer
}

// Backend is a daemon and what belongs to it.
type Backend struct {
	Daemon *daemon.Daemon
	// Audio is nil where there are no devices.
	Audio Audio
	// PressToTalk begins an utterance by hand; nil where that is not possible.
	PressToTalk func() error
	// SetRate sets the speed of the voice for this conversation; nil without one.
	SetRate func(rate float64)
	// Counters are those of the connection to the service, for diagnostics/report;
	// nil without one.
	Counters func() map[string]int64
	// Sessions lists what is recorded of sessions, newest first; nil where only those
	// of this process are known.
	Sessions func(context.Context) (protocol.SessionsResult, error)
	// Usage sums up what is recorded of usage; nil as for Sessions.
	Usage func(context.Context) (protocol.UsageResult, error)
	// Stage drives a daemon on virtual time; nil for one that runs.
	Stage Stage
}

// Audio is the devices, as far as a client sees and chooses them.
type Audio interface {
	// Devices lists them; it may take long.
	Devices(protocol.Settings) (protocol.DevicesResult, error)
}

// Stage drives a daemon on virtual time. Its methods are safe for concurrent use.
type Stage interface {
	// Settle does everything that is left to do at this time, and lets time go on
	// as far as nobody outside has to do something first. An error ends the
	// connection.
	Settle() error
	// Saw says that a message of the client was handled.
	Saw(method string)
	// Asked says that a request was sent to the client, Answered that its answer
	// came.
	Asked(method string)
	Answered(method string)
	// Advance moves time, and returns where it stands.
	Advance(time.Duration) time.Duration
	// Stop ends the conversation and closes the daemon.
	Stop() error
}

// Why Serve ended other than by shutdown and exit.
var (
	ErrNoShutdown  = errors.New("the editor closed the connection without shutdown")
	ErrExit        = errors.New("exit came before shutdown")
	ErrProcessGone = errors.New("the editor's process is gone")
)

type phase int

const (
	fresh   phase = iota // before initialize
	running              // in between
	closing              // after shutdown
)

// server is one connection.
type server struct {
	cfg    Config
	log    zerolog.Logger
	out    *outbox
	stream *jsonrpc.Stream
	conn   *jsonrpc2.Conn
	ready  chan struct{}   // closed when conn is set
	ctx    context.Context // of everything that belongs to the connection
	stop   context.CancelFunc
	ended  chan error // the first reason to end, nil for exit after shutdown
	seen   *observer
	idle   chan struct{} // holds one: the conversation came to Idle
	wg     sync.WaitGroup

	// Of the reader's goroutine.
	phase phase
	asker *asker

	early struct { // notifications that are due before the answer of initialize
		sync.Mutex
		open bool
		held []func()
	}

	changing sync.Mutex // held while the settings change; before mu

	mu           sync.Mutex
	pending      map[jsonrpc2.ID]*call
	clientLocale protocol.Locale
	stopped      bool // nothing begins any more
	stopping     sync.Once
	closed       error

	// Written once, by initialize, under mu; the reader's goroutine, which does
	// that, reads without.
	back     Backend
	recorder *recorder
	beats    *heartbeats
	endRun   context.CancelFunc
	finished chan error // of Daemon.Run
}

// Serve serves one client until it is gone, and closes everything. The error is
// nil when the client ended it in order: shutdown, then exit or the end of the
// input.
func Serve(ctx context.Context, cfg Config) error {
	s := &server{
		cfg: cfg, log: cfg.Log, ready: make(chan struct{}), ended: make(chan error, 1), idle: make(chan struct{}, 1),
		pending: map[jsonrpc2.ID]*call{}, seen: newObserver(cfg.Started),
	}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.out = newOutbox(cfg.Out, s.resync)
	s.stream = jsonrpc.NewStream(cfg.In, s.out, s.refused)
	s.conn = jsonrpc2.NewConn(s.ctx, &paced{Stream: s.stream, s: s}, reader{s},
		jsonrpc2.SetLogger(quiet{}), jsonrpc2.OnRecv(s.received))
	close(s.ready)
	s.watch(cfg.ProcessID)
	return s.close(s.wait(ctx))
}

// wait returns why the connection ends.
func (s *server) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return nil
	case <-s.conn.DisconnectNotify():
	}
	select {
	case err := <-s.ended: // which was the reason
		return err
	default:
	}
	if err := s.stream.Err(); err != nil {
		return err
	}
	if s.phase == closing {
		return nil
	}
	return ErrNoShutdown
}

// close ends everything, in an order in which nothing is lost that was promised.
func (s *server) close(why error) error {
	s.log.Debug().AnErr("reason", why).Msg("the connection ends")
	closed := s.stopDaemon()
	hungUp := make(chan struct{})
	go func() { _ = s.conn.Close(); close(hungUp) }() // what it says was said before
	within(hungUp, drainMax)                          // a pipe with a read under way may not close on Windows
	s.stop()
	if err := s.out.drain(drainMax); err != nil && why == nil && !errors.Is(err, io.ErrClosedPipe) {
		s.log.Debug().Err(err).Msg("not everything could be sent")
	}
	waited := make(chan struct{})
	go func() { s.wg.Wait(); close(waited) }()
	within(waited, drainMax)
	if closed != nil {
		s.log.Warn().Err(closed).Msg("not everything was closed in order")
	}
	return why
}

// stopDaemon ends the conversation and closes the daemon and its journal, once.
func (s *server) stopDaemon() error {
	s.stopping.Do(func() {
		s.mu.Lock()
		s.stopped = true
		begun := s.back.Daemon != nil
		s.mu.Unlock()
		if !begun {
			return
		}
		if s.beats != nil {
			s.beats.stop()
		}
		if s.back.Stage != nil {
			s.closed = s.back.Stage.Stop()
		} else {
			s.closed = s.stopRunning()
		}
		s.closed = errors.Join(s.closed, s.recorder.close())
	})
	return s.closed
}

// stopRunning lets the conversation end, and then the daemon.
func (s *server) stopRunning() error {
	stopped := make(chan struct{})
	s.back.Daemon.Call(func(c csm.Call) csm.Event { return csm.UserStop{Call: c} }, func(_ csm.Reply, now protocol.Snapshot) {
		// Before anything that this step publishes: what came to Idle so far was an
		// earlier conversation.
		select {
		case <-s.idle:
		default:
		}
		if now.State == protocol.StateIdle {
			s.cameToIdle() // there is none
		}
		close(stopped)
	})
	late := time.NewTimer(goodbye)
	defer late.Stop()
	for _, done := range []<-chan struct{}{stopped, s.idle} {
		select {
		case <-done:
		case <-late.C:
			late.Reset(0)
		}
	}
	s.endRun()
	late.Reset(closeMax)
	select {
	case err := <-s.finished:
		return err
	case <-late.C:
		return errors.New("the devices or the connection did not close in time")
	}
}

// spawn runs f on a goroutine that Serve waits for, unless the end has begun.
func (s *server) spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.wg.Go(f)
	}
}

func within(done <-chan struct{}, limit time.Duration) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// finish has Serve return err; the first reason counts.
func (s *server) finish(err error) {
	select {
	case s.ended <- err:
	default:
	}
}

// notify publishes. It never blocks.
func (s *server) notify(method string, params any) {
	s.seen.saw(method, params)
	s.logged(params)
	if p, ok := params.(protocol.StateParams); ok && p.State == protocol.StateIdle {
		s.cameToIdle()
	}
	s.early.Lock()
	defer s.early.Unlock()
	send := func() {
		if s.out.admit(light(params)) {
			s.sent(s.conn.Notify(s.ctx, method, params))
		}
	}
	if !s.early.open {
		s.early.held = append(s.early.held, send)
		return
	}
	send()
}

// opened sends what was due before initialize was answered: until then a client
// expects nothing.
func (s *server) opened() {
	s.early.Lock()
	defer s.early.Unlock()
	s.early.open = true
	for _, send := range s.early.held {
		send()
	}
	s.early.held = nil
}

func (s *server) cameToIdle() {
	select {
	case s.idle <- struct{}{}:
	default:
	}
}

// light says whether a client that falls behind can do without.
func light(params any) bool {
	switch p := params.(type) {
	case protocol.LevelParams:
		return true
	case protocol.TranscriptParams:
		return !p.Final
	default:
		return false
	}
}

// sent looks after the error of a message that was handed to the outbox.
func (s *server) sent(err error) {
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		s.finish(err)
	}
}

var fellBehind = map[protocol.Locale]string{
	protocol.English:  "The editor fell behind.",
	protocol.German:   "Der Editor ist nicht nachgekommen.",
	protocol.Japanese: "エディターの処理が遅れました。",
}

// resync tells a client that it fell behind. It runs on the writer's goroutine.
func (s *server) resync() {
	s.mu.Lock()
	d := s.back.Daemon
	s.mu.Unlock()
	if d == nil {
		s.out.resume()
		return
	}
	d.WithSnapshot(func(now protocol.Snapshot) {
		s.out.resume()
		s.sent(s.conn.Notify(s.ctx, protocol.NotifyNotification, protocol.NotificationParams{
			Message: fellBehind[s.locale()], Severity: protocol.SeverityInfo, Kind: protocol.NotificationResync, Snapshot: &now,
		}))
	})
}

func (s *server) locale() protocol.Locale {
	s.mu.Lock()
	d, l := s.back.Daemon, s.clientLocale
	s.mu.Unlock()
	if d != nil {
		return d.Locale()
	}
	return l
}

func (s *server) refused(r jsonrpc.Refusal) {
	s.seen.count("wire.refused")
	s.log.Warn().Str("code", string(r.Code)).Str("reason", r.Reason).Int64("bytes", r.Size).Msg("a message of the client was no JSON-RPC")
}

// reader hands the messages of the client on.
type reader struct{ s *server }

func (r reader) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) { r.s.handle(req) }

// received sees every message on the reader's goroutine, before anybody else.
func (s *server) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp == nil || req == nil || s.asker == nil {
		return
	}
	s.asker.answered(resp.ID)
	if s.back.Stage != nil {
		s.back.Stage.Answered(req.Method)
	}
}

// paced is the stream as the connection reads it: with a stage, everything that
// a message caused is done before the next one is read.
type paced struct {
	*jsonrpc.Stream
	s *server
}

func (p *paced) ReadObject(v any) error {
	<-p.s.ready
	if stage := p.s.back.Stage; stage != nil {
		if err := stage.Settle(); err != nil {
			p.s.finish(err)
			return err
		}
	}
	return p.Stream.ReadObject(v)
}

// quiet drops what the library logs: strays of the peer, which are no news.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
