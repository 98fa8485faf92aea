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

// Limits for the phases of shutdown: two seconds in total (the protocol, section 1),
// with a margin.
const (
	goodbye  = 800 * time.Millisecond // conversation, from Terminating to Idle
	closeMax = 700 * time.Millisecond // devices, connection, voice
	drainMax = 200 * time.Millisecond // pending output
)

// Config configures Serve. In, Out, Clock, New and Log are required.
type Config struct {
	In  io.ReadCloser
	Out io.WriteCloser
	// Version is the build's version.
	Version string
	// ProcessID is watched like the one in initialize; 0 watches no process.
	ProcessID int
	// Clock is the daemon's clock, Started the wall-clock time of its zero.
	Clock   dispatch.Clock
	Started time.Time
	// Settings overrides the client's settings with those of the command line; nil
	// changes nothing.
	Settings func(protocol.Settings) (protocol.Settings, error)
	// JournalDir is where diagnostics/journal writes; "" disables it.
	JournalDir string
	// Journal receives the journal as it is written, unless the settings keep
	// conversations off the disk. It may be nil.
	Journal journal.Output
	// New creates the daemon, once, when the client has sent initialize.
	New func(Client) (Backend, error)
	Log zerolog.Logger
}

// Client describes the client to New.
type Client struct {
	Name     string // as announced by the client
	Settings protocol.Settings
	Locale   string
	// Microphone is the initial state of the microphone.
	Microphone protocol.MuteParams
	// Copilot asks the client's assistant; nil without one.
	Copilot copilot.Adapter
	// Credential asks the client for a secret; nil if it stores no secrets.
	Credential func(context.Context, protocol.CredentialsParams) (protocol.CredentialsResult, error)
	Notify     func(method string, params any)
	// Editor asks the client's editor to execute a voice command; nil if it does not
	// support that.
	Editor func(context.Context, protocol.EditorCommandParams) (protocol.EditorCommandResult, error)
	// TranscriptAppend says that the client accepts transcripts that only append to the
	// previous one.
	TranscriptAppend bool
	Journal          *journal.Writer
}

// Backend is a daemon with its resources.
type Backend struct {
	Daemon *daemon.Daemon
	// Audio is nil without devices.
	Audio Audio
	// PressToTalk begins an utterance manually; nil if unsupported.
	PressToTalk func() error
	// SetRate sets the speech rate for this conversation; nil without a voice.
	SetRate func(rate float64)
	// Counters returns the connection's counters for diagnostics/report; nil without a
	// connection.
	Counters func() map[string]int64
	// Sessions lists the recorded sessions, newest first; nil if only those of this
	// process are known.
	Sessions func(context.Context) (protocol.SessionsResult, error)
	// Usage returns the recorded usage; nil as for Sessions.
	Usage func(context.Context) (protocol.UsageResult, error)
	// Stage drives a daemon on virtual time; nil in real time.
	Stage Stage
}

// Audio is the client's view of the devices.
type Audio interface {
	// Devices lists the devices. It may be slow.
	Devices(protocol.Settings) (protocol.DevicesResult, error)
}

// Stage drives a daemon on virtual time. Its methods are safe for concurrent use.
type Stage interface {
	// Settle does everything that is due now, and advances the clock until something
	// outside must act first. An error ends the connection.
	Settle() error
	// Saw records that a client message was handled.
	Saw(method string)
	// Asked records that a request was sent to the client, Answered that its answer
	// arrived.
	Asked(method string)
	Answered(method string)
	// Advance advances the clock and returns the new time.
	Advance(time.Duration) time.Duration
	// Stop ends the conversation and closes the daemon.
	Stop() error
}

// Reasons why Serve ended other than by shutdown and exit.
var (
	ErrNoShutdown  = errors.New("the editor closed the connection without shutdown")
	ErrExit        = errors.New("exit came before shutdown")
	ErrProcessGone = errors.New("the editor's process is gone")
)

type phase int

const (
	fresh   phase = iota // before initialize
	running              // after initialize
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
	ctx    context.Context // covers everything that belongs to the connection
	stop   context.CancelFunc
	ended  chan error // first reason to end; nil for exit after shutdown
	seen   *observer
	idle   chan struct{} // capacity 1; the conversation reached Idle
	wg     sync.WaitGroup

	// Used by the reader's goroutine only.
	phase phase
	asker *asker

	early struct { // notifications that arose before initialize was answered
		sync.Mutex
		open bool
		held []func()
	}

	changing sync.Mutex // held while the settings change; acquired before mu

	mu           sync.Mutex
	pending      map[jsonrpc2.ID]*call
	clientLocale protocol.Locale
	stopped      bool // nothing may start any more
	stopping     sync.Once
	closed       error

	// Written once, by initialize, under mu. The reader's goroutine runs initialize, so
	// it reads them without mu.
	back     Backend
	recorder *recorder
	beats    *heartbeats
	endRun   context.CancelFunc
	finished chan error // result of Daemon.Run
}

// Serve serves one client until it disconnects, and closes everything. It returns nil
// after a clean end: shutdown, then exit or the end of the input.
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

// wait returns the reason why the connection ends.
func (s *server) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return nil
	case <-s.conn.DisconnectNotify():
	}
	select {
	case err := <-s.ended: // the reason
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

// close ends everything, in an order that loses nothing that was promised.
func (s *server) close(why error) error {
	s.log.Debug().AnErr("reason", why).Msg("the connection ends")
	closed := s.stopDaemon()
	hungUp := make(chan struct{})
	go func() { _ = s.conn.Close(); close(hungUp) }() // its error was reported before
	within(hungUp, drainMax)                          // on Windows, a pipe with a pending read may not close
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

// stopRunning ends the conversation, then the daemon.
func (s *server) stopRunning() error {
	stopped := make(chan struct{})
	s.back.Daemon.Call(func(c csm.Call) csm.Event { return csm.UserStop{Call: c} }, func(_ csm.Reply, now protocol.Snapshot) {
		// Before anything that this step publishes: an earlier arrival at Idle belongs
		// to an earlier conversation.
		select {
		case <-s.idle:
		default:
		}
		if now.State == protocol.StateIdle {
			s.cameToIdle() // there is no conversation
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

// spawn runs f on a goroutine that Serve waits for, unless shutdown has begun.
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

// finish makes Serve return err. The first reason wins.
func (s *server) finish(err error) {
	select {
	case s.ended <- err:
	default:
	}
}

// notify publishes a notification. It never blocks.
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

// opened sends the notifications that were held until initialize was answered, because
// a client expects none before.
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

// light reports whether a client that falls behind can do without params.
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

// sent handles the error of a message passed to the outbox.
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

// reader forwards the client's messages.
type reader struct{ s *server }

func (r reader) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) { r.s.handle(req) }

// received sees every message first, on the reader's goroutine.
func (s *server) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp == nil || req == nil || s.asker == nil {
		return
	}
	s.asker.answered(resp.ID)
	if s.back.Stage != nil {
		s.back.Stage.Answered(req.Method)
	}
}

// paced is the stream that the connection reads. With a stage, everything that a
// message caused is done before the next one is read.
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

// quiet drops the library's logs about stray messages, which are expected.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
