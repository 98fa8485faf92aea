package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/filelock"
)

const (
	// Grace is how long a holder has to Release after Lost.
	Grace = time.Second
	// Limit is how long TakeOver waits for a holder.
	Limit = 2 * Grace
	// retryEvery is how often TakeOver looks again while the holder's socket is
	// not there: it is being made, or the lease is being released.
	retryEvery = 10 * time.Millisecond
	// maxRecord bounds what is read of a holder, in bytes.
	maxRecord = 4 << 10
)

// Holder is who holds the lease, in words for its user.
type Holder struct {
	Name  string    `json:"name"`  // such as "VS Code: my-project"
	PID   int       `json:"pid"`   // Acquire and TakeOver fill it in
	Since time.Time `json:"since"` // likewise
}

// HeldError says that another program holds the lease.
type HeldError struct {
	// Holder may be empty for the moment in which the lease changes hands.
	Holder Holder
	// Stuck says that it was asked for the lease and did not answer.
	Stuck bool
}

func (e *HeldError) Error() string {
	who := "another program"
	if e.Holder.Name != "" {
		who = fmt.Sprintf("%q (process %d, since %s)", e.Holder.Name, e.Holder.PID, e.Holder.Since.Local().Format(time.TimeOnly))
	}
	if e.Stuck {
		return fmt.Sprintf("the microphone is held by %s, which does not answer; end it", who)
	}
	return fmt.Sprintf("the microphone is held by %s; stop the conversation there, or take it over", who)
}

// Lease is held from Acquire or TakeOver until Release.
type Lease struct {
	file     *os.File // locked
	listener net.Listener
	lost     chan struct{}
	run      sync.WaitGroup

	mu       sync.Mutex
	taker    Holder
	released bool
	grace    *time.Timer // after Lost
	conns    []net.Conn  // of those who wait for the release
}

// Acquire gets the lease if nobody holds it. Else the error is a *HeldError.
func Acquire(ctx context.Context, who Holder) (*Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	return acquire(dir, who)
}

func acquire(dir string, who Holder) (*Lease, error) {
	path := filepath.Join(dir, "microphone.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the microphone's lock cannot be made: %w", err)
	}
	switch ok, err := filelock.Try(file); {
	case err != nil:
		_ = file.Close()
		return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
	case !ok:
		defer file.Close()
		var other Holder
		// Cut off or empty, while it changes hands: then nothing is known.
		_ = json.NewDecoder(io.LimitReader(file, maxRecord)).Decode(&other)
		return nil, &HeldError{Holder: other}
	}
	who.PID, who.Since = os.Getpid(), time.Now().Truncate(time.Second)
	l := &Lease{file: file, lost: make(chan struct{})}
	if err := l.announce(dir, who); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("the microphone's lease cannot be announced: %w", err)
	}
	l.run.Go(l.serve)
	return l, nil
}

// announce writes who holds the lease and opens the socket.
func (l *Lease) announce(dir string, who Holder) error {
	record, err := json.Marshal(who)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(append(record, '\n'), 0); err != nil {
		return err
	}
	path := socket(dir)
	// That of a holder that crashed; the lock is ours.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l.listener, err = net.Listen("unix", path)
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// serve takes the words of those who take over, until the release.
func (l *Lease) serve() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.run.Go(func() { l.asked(conn) })
	}
}

// asked hears one who takes over. Its connection stays open until the release.
func (l *Lease) asked(conn net.Conn) {
	l.mu.Lock()
	if l.released {
		l.mu.Unlock()
		_ = conn.Close()
		return
	}
	l.conns = append(l.conns, conn)
	l.mu.Unlock()
	var taker Holder
	if json.NewDecoder(io.LimitReader(conn, maxRecord)).Decode(&taker) != nil {
		return // it has gone, or we have
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grace == nil && !l.released {
		l.taker = taker
		close(l.lost)
		l.grace = time.AfterFunc(Grace, l.release)
	}
}

// Lost is closed when another program takes the lease over. The holder then stops
// listening and calls Release, within Grace.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Taker is who took the lease over, after Lost.
func (l *Lease) Taker() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taker
}

// Release gives the lease up. It is safe to call twice, and on a nil Lease.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	l.release()
	l.run.Wait()
}

// release frees the lock before it hangs up on those who wait for that.
func (l *Lease) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return
	}
	l.released = true
	if l.grace != nil {
		l.grace.Stop()
	}
	// The socket's file goes with its listener, and must not be the next one's.
	_ = l.listener.Close()
	_ = l.file.Truncate(0)
	_ = l.file.Close() // and so unlocks it
	for _, c := range l.conns {
		_ = c.Close()
	}
}

// TakeOver gets the lease from whoever holds it. The holder is told, by Lost, and
// has Grace to stop. The error is a *HeldError with Stuck when it does not within
// Limit, and one without when another one was faster.
func TakeOver(ctx context.Context, who Holder) (*Lease, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	who.PID = os.Getpid()
	for asked := false; ; {
		l, err := acquire(dir, who)
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if asked && limited.Err() == nil && held.Holder.Name != "" {
			return nil, held // by another one meanwhile
		}
		asked, err = ask(limited, dir, who)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			held.Stuck = true
			return nil, held
		case err != nil:
			return nil, err
		}
	}
}

// ask tells the holder, and returns when it has hung up: the lease is free then,
// for a moment at least. It also returns when the holder's socket is not there,
// after a while.
func ask(ctx context.Context, dir string, who Holder) (asked bool, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket(dir))
	if err != nil {
		timer := time.NewTimer(retryEvery)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return false, nil
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	record, err := json.Marshal(who)
	if err != nil {
		return false, err
	}
	if _, err := conn.Write(append(record, '\n')); err != nil {
		return false, nil // it was just released
	}
	_, _ = io.Copy(io.Discard, conn)
	return true, nil
}

// folder is where the lease of this user is, made if it is not there.
func folder() (string, error) {
	dir, err := assets.Runtime()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("there is no folder for the microphone's lock: %w", err)
	}
	return dir, nil
}

// Remedy is what the user of an operating system can do where there is no folder for
// the lease.
func Remedy(goos string) string {
	switch goos {
	case "windows":
		return "make sure that you can write to the folder that %LocalAppData% names"
	case "darwin":
		return "make sure that you can write to the folder Library/Caches in your home folder"
	default:
		return "set XDG_RUNTIME_DIR to a folder that you can write to"
	}
}

func socket(dir string) string { return filepath.Join(dir, "microphone.sock") }
