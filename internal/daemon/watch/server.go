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
	// MaxWatchers is how many may be connected at once: a daemon needs its file
	// descriptors for more than this.
	MaxWatchers = 256
	// helloMax is how long a connection may take to send initialize.
	helloMax = 5 * time.Second
	// farewell is how long the end of the daemon waits for watchers to take the last
	// messages.
	farewell = 100 * time.Millisecond
)

// Config is what a Server is made of.
type Config struct {
	// Folder is that of the sockets; it need not exist.
	Folder string
	// ID is that of the daemon in the record, Name who started it.
	ID, Name string
	Version  string
	// Sessions and Usage read the record.
	Sessions func(context.Context) (protocol.SessionsResult, error)
	Usage    func(context.Context) (protocol.UsageResult, error)
	Log      zerolog.Logger
}

// Server has local clients follow one daemon. It implements daemon.Watchers.
type Server struct {
	cfg Config
	d   *daemon.Daemon
	hub *hub

	mu       sync.Mutex
	listener net.Listener // nil while nobody may follow
	card     Card
	stop     context.CancelFunc // of what is asked of the record
	conns    map[*watcher]struct{}
	run      sync.WaitGroup // of readers and of the one that accepts
	closed   bool
}

// New makes the server of one daemon. Nothing is opened before Configure.
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

// Configure implements daemon.Watchers. A socket that cannot be opened is logged: no
// conversation needs it.
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

// listen opens the socket and says so in the folder.
func (s *Server) listen() error {
	path := socketOf(s.cfg.Folder, s.cfg.ID)
	if len(path) > maxPath {
		return fmt.Errorf("the path of the socket has %d characters, and %d are possible; set XDG_RUNTIME_DIR to a shorter folder", len(path), maxPath)
	}
	if err := os.MkdirAll(s.cfg.Folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the sockets: %w", errors.Unwrap(err))
	}
	if err := os.Chmod(s.cfg.Folder, 0o700); err != nil { // it may have been there
		return fmt.Errorf("protect the folder of the sockets: %w", errors.Unwrap(err))
	}
	if _, err := List(s.cfg.Folder); err != nil { // which removes what crashed daemons left
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
	ctx, stop := context.WithCancel(context.Background())
	s.listener, s.card, s.stop = l, card, stop
	s.run.Go(func() { s.accept(ctx, l) })
	return nil
}

// accept takes watchers until the listener is closed.
func (s *Server) accept(ctx context.Context, l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
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

// hangUp ends every connection with a notification of a code, and takes no more.
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
	_ = os.Remove(cardOf(s.cfg.Folder, s.cfg.ID)) // first: see the package
	_ = l.Close()                                 // which removes the socket
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
