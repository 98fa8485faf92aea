package miclock

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
	// retryEvery is how often TakeOver retries while the holder's socket does not
	// exist: it is being created, or the lease is being released.
	retryEvery = 10 * time.Millisecond
	// maxRecord limits the size of a holder's record, in bytes.
	maxRecord = 4 << 10
)

// Holder identifies the holder of the lease to the user.
type Holder struct {
	Name  string    `json:"name"`  // such as "VS Code: my-project"
	PID   int       `json:"pid"`   // set by Acquire and TakeOver
	Since time.Time `json:"since"` // set by Acquire and TakeOver
}

// HeldError says that another program holds the lease.
type HeldError struct {
	// Holder may be empty while the lease changes hands.
	Holder Holder
	// Stuck: the holder was asked for the lease and did not answer.
	Stuck bool
}

func (e *HeldError) Error() string {
	who := "another program"
	if e.Holder.Name != "" {
		who = fmt.Sprintf("%q (process %d, since %s)", e.Holder.Name, e.Holder.PID, e.Holder.Since.Local().Format(time.TimeOnly))
	}
	if e.Stuck {
		return fmt.Sprintf("the microphone is held by %s, which does not respond; end that process", who)
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
	who      Holder
	taker    Holder
	released bool
	grace    *time.Timer // after Lost
	conns    []net.Conn  // of programs that wait for the release
}

// Acquire acquires the lease, or returns a *HeldError if another program holds it.
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
	file, ok, err := filelock.Acquire(path)
	if err != nil {
		return nil, fmt.Errorf("cannot create the microphone's lock: %w", err)
	}
	if !ok {
		defer file.Close()
		var other Holder
		// Truncated or empty while the lease changes hands: the holder is unknown.
		_ = json.NewDecoder(io.LimitReader(file, maxRecord)).Decode(&other)
		return nil, &HeldError{Holder: other}
	}
	who.PID, who.Since = os.Getpid(), time.Now().Truncate(time.Second)
	l := &Lease{file: file, lost: make(chan struct{})}
	if err := l.announce(dir, who); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cannot publish the microphone's lease: %w", err)
	}
	l.run.Go(l.serve)
	return l, nil
}

// announce writes who holds the lease and opens the socket.
func (l *Lease) announce(dir string, who Holder) error {
	l.who = who
	record, err := json.Marshal(who)
	if err != nil {
		return err
	}
	if err := l.write(record); err != nil {
		return err
	}
	path := socket(dir)
	// Left by a holder that crashed; we have the lock.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l.listener, err = net.Listen("unix", path)
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// write replaces the record. A reader takes the first value, so it sees the old or the new one.
func (l *Lease) write(record []byte) error {
	record = append(record, '\n')
	if _, err := l.file.WriteAt(record, 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(record)))
}

// Rename changes the name that other programs see. After a release it does nothing.
func (l *Lease) Rename(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	l.who.Name = name
	record, err := json.Marshal(l.who)
	if err == nil {
		err = l.write(record)
	}
	if err != nil {
		return fmt.Errorf("cannot publish the microphone's lease: %w", err)
	}
	return nil
}

// serve accepts take-over requests until the release.
func (l *Lease) serve() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.run.Go(func() { l.asked(conn) })
	}
}

// asked handles a take-over request. The connection stays open until the release.
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
		return // the peer or we have closed the connection
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grace == nil && !l.released {
		l.taker = taker
		close(l.lost)
		l.grace = time.AfterFunc(Grace, l.release)
	}
}

// Lost is closed when another program takes over the lease. The holder must then stop
// listening and call Release within Grace.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Taker returns who took over the lease. It is valid after Lost.
func (l *Lease) Taker() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taker
}

// Release releases the lease. It is safe to call twice, and on a nil Lease.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	l.release()
	l.run.Wait()
}

// release unlocks the file before it closes the connections that wait for it.
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
	// Closing the listener removes its socket file, which must not be the next holder's.
	_ = l.listener.Close()
	_ = l.file.Truncate(0)
	_ = filelock.Remove(l.file) // unlocks it
	for _, c := range l.conns {
		_ = c.Close()
	}
}

// TakeOver takes the lease from its current holder, who is notified by Lost and has
// Grace to stop. The error is a *HeldError: with Stuck if the holder does not release
// within Limit, without it if another program was faster.
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
			return nil, held // by another program meanwhile
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

// ask sends a take-over request and returns when the holder has closed the
// connection, which means that the lease was free at that moment. If the holder's
// socket does not exist it returns after a delay.
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
		return false, nil // just released
	}
	_, _ = io.Copy(io.Discard, conn)
	return true, nil
}

// folder returns the folder of this user's lease, and creates it if missing.
func folder() (string, error) {
	dir, err := assets.Runtime()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("no folder for the microphone's lock: %w", err)
	}
	return dir, nil
}

// Remedy says what a user of an operating system can do if there is no folder for the
// lease.
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
