package watch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// MaxWatchers limits concurrent connections, because the daemon needs file
	// descriptors for other things too.
	MaxWatchers = 256
	// helloMax is the time limit for a connection to send initialize.
	helloMax = 5 * time.Second
	// farewell is how long the daemon's shutdown waits for watchers to read the last
	// messages.
	farewell = 100 * time.Millisecond
)

// Config configures a Server.
type Config struct {
	// Folder holds the sockets; it need not exist.
	Folder string
	// ID is the daemon's id in the record, Name the client that started it.
	ID, Name string
	Version  string
	// Sessions and Usage read the record.
	Sessions func(context.Context) (protocol.SessionsResult, error)
	Usage    func(context.Context) (protocol.UsageResult, error)
	Log      zerolog.Logger
}

// Server lets local clients follow one daemon. It implements daemon.Watchers.
type Server struct {
	cfg Config
	d   *daemon.Daemon
	hub *hub

	mu       sync.Mutex
	listener net.Listener // nil while watchers are not allowed
	card     Card
	stop     context.CancelFunc // cancels requests to the record
	conns    map[*watcher]struct{}
	run      sync.WaitGroup // readers and the accept loop
	closed   bool
}

// New returns the server of one daemon. It opens nothing before Configure.
func New(cfg Config) *Server {
	return &Server{cfg: cfg, conns: map[*watcher]struct{}{}}
}

// Open implements daemon.Watchers.
func (s *Server) Open(d *daemon.Daemon) {
	s.d = d
	s.hub = newHub(s.cfg.Log, d.Locale)
}

// Publish implements daemon.Watchers.
func (s *Server) Publish(method string, params any) { s.hub.publish(method, params) }

// Configure implements daemon.Watchers. A socket that cannot be opened is only logged,
// because no conversation needs it.
func (s *Server) Configure(set protocol.Settings) {
	s.hub.words.Store(set.Privacy.Watch == protocol.PrivacyWatchWords)
	s.mu.Lock()
	on := s.listener != nil
	closed := s.closed
	s.mu.Unlock()
	switch {
	case closed:
	case set.Privacy.Watch == protocol.PrivacyWatchOff:
		s.hangUp(protocol.CodeWatchRefused)
	case !on:
		if err := s.listen(); err != nil {
			s.cfg.Log.Warn().Err(err).Msg("other programs cannot follow this daemon")
		}
	}
}

// listen opens the socket and writes the card.
func (s *Server) listen() error {
	path := socketOf(s.cfg.Folder, s.cfg.ID)
	if len(path) > maxPath {
		return fmt.Errorf("the path of the socket has %d characters, and %d are possible; set XDG_RUNTIME_DIR to a shorter folder", len(path), maxPath)
	}
	if err := os.MkdirAll(s.cfg.Folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the sockets: %w", errors.Unwrap(err))
	}
	if err := os.Chmod(s.cfg.Folder, 0o700); err != nil { // it may have existed before
		return fmt.Errorf("protect the folder of the sockets: %w", errors.Unwrap(err))
	}
	if _, err := List(s.cfg.Folder); err != nil { // removes the files of crashed daemons
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("open the socket: %w", errors.Unwrap(err))
	}
	card := Card{ID: s.cfg.ID, PID: os.Getpid(), Name: s.cfg.Name, Started: time.Now().Truncate(time.Millisecond), Token: rand.Text()}
	if err := errors.Join(os.Chmod(path, 0o600), writeCard(s.cfg.Folder, card)); err != nil {
		return errors.Join(fmt.Errorf("announce the socket: %w", err), l.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed { // meanwhile
		return errors.Join(os.Remove(cardOf(s.cfg.Folder, s.cfg.ID)), l.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	s.listener, s.card, s.stop = l, card, stop
	s.run.Go(func() { s.accept(ctx, l) })
	return nil
}

// accept accepts watchers until the listener is closed.
func (s *Server) accept(ctx context.Context, l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example, too many open files
			s.cfg.Log.Debug().Err(err).Msg("a watcher could not connect")
			time.Sleep(10 * time.Millisecond)
			continue
		}
		s.mu.Lock()
		if s.listener != l || len(s.conns) >= MaxWatchers {
			s.mu.Unlock()
			_ = conn.Close()
			continue
		}
		w := newWatcher(conn, s.resync)
		s.conns[w] = struct{}{}
		token := s.card.Token
		s.run.Go(func() { s.serve(ctx, w, token) })
		s.mu.Unlock()
	}
}

// hangUp disconnects every watcher with a notification of a code, and accepts no more.
func (s *Server) hangUp(code protocol.ErrorCode) {
	s.mu.Lock()
	l := s.listener
	s.listener = nil
	conns := s.conns
	s.conns = map[*watcher]struct{}{}
	s.mu.Unlock()
	if l == nil {
		return
	}
	s.stop()
	_ = os.Remove(cardOf(s.cfg.Folder, s.cfg.ID)) // first; see the package comment
	_ = l.Close()                                 // also removes the socket
	last, err := notification(protocol.NotifyNotification, protocol.NotificationParams{
		Message: code.Spec().Message(s.d.Locale()), Severity: protocol.SeverityInfo, Kind: protocol.NotificationMessage, Code: code,
	})
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("the end cannot be encoded for watchers")
	}
	limit := time.Now().Add(farewell)
	for w := range conns {
		w.finish(limit, last)
	}
	for w := range conns {
		<-w.done
	}
	s.run.Wait()
}

// Close implements daemon.Watchers.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.hub.close()
	s.hangUp(protocol.CodeShuttingDown)
	return nil
}
