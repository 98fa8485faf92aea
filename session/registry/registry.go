package registry

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/agentvoice/agentvoice-daemon/internal/filelock"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// BusyTimeout is how long a write waits for another daemon.
const BusyTimeout = 5 * time.Second

// Kept is how long an ended session stays in the record.
const Kept = 400 * 24 * time.Hour

// Options configures Open.
type Options struct {
	// Path is the file, "" for a record in memory.
	Path string
	// Daemon is the id of the daemon that writes, from NewID; "" for a reader.
	Daemon string
	// Now returns the time used to reset and prune sessions; nil is time.Now.
	Now func() time.Time

	busy time.Duration // how long to wait for another daemon; if zero, BusyTimeout
}

// NewID returns a new daemon id.
func NewID() string { return strings.ToLower(rand.Text()[:10]) }

// Registry is an open record.
type Registry struct {
	db     *sql.DB
	opt    Options
	lock   *os.File     // lock of this daemon; nil for a reader and in memory
	begun  atomic.Int64 // number of sessions begun, for their ids
	damage string
	stale  []Session
}

// Session is the metadata of one session.
type Session struct {
	ID       string
	Provider string
	State    session.State
	Started  time.Time
	Ended    time.Time // zero while it is live
	Turns    int
	Crashed  bool          // its daemon exited first
	Was      session.State // if Crashed: its last state
}

// Open opens or creates the record, sets a damaged file aside, and resets the sessions of
// daemons that have exited.
func Open(ctx context.Context, opt Options) (*Registry, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.busy = cmp.Or(opt.busy, BusyTimeout)
	r := &Registry{opt: opt}
	if opt.Path == "" {
		var err error
		if r.db, err = connect(ctx, ":memory:", r.opt.busy); err != nil {
			return nil, err
		}
		return r, r.start(ctx)
	}
	if err := os.MkdirAll(r.running(), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the record: %w", err)
	}
	if err := r.openFile(ctx); err != nil {
		return nil, err
	}
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// openFile opens the file under a lock, so that only one daemon sets it aside.
func (r *Registry) openFile(ctx context.Context) error {
	gate, err := lockFile(ctx, filepath.Join(r.running(), "open.lock"), r.opt.busy)
	if err != nil {
		return err
	}
	defer func() { _ = filelock.Remove(gate) }()
	if r.db, err = connect(ctx, r.opt.Path, r.opt.busy); err == nil || !damaged(err) {
		return err
	}
	r.damage = r.opt.Path + ".damaged-" + r.opt.Now().UTC().Format("20060102-150405.000")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(r.opt.Path+suffix, r.damage+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set the damaged record aside: %w; move %s yourself", err, r.opt.Path)
		}
	}
	r.db, err = connect(ctx, r.opt.Path, r.opt.busy)
	return err
}

// connect opens a database, checks it and migrates its schema.
func connect(ctx context.Context, path string, busy time.Duration) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()), "journal_mode(wal)", "synchronous(normal)",
		"foreign_keys(1)", "secure_delete(1)",
	}}
	if path != ":memory:" {
		// Create the file here, since SQLite would make it world-readable.
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the record: %w", err)
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("open the record: %w", err)
		}
		path = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	}
	db, err := sql.Open("sqlite", path+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	db.SetMaxOpenConns(1)
	if err = check(ctx, db); err == nil {
		err = migrate(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the record: %w", err), db.Close())
	}
	return db, nil
}

// errDamaged says that SQLite's integrity check failed.
var errDamaged = errors.New("the file is damaged")

func check(ctx context.Context, db *sql.DB) error {
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return errDamaged
	}
	return nil
}

// damaged says whether an error of opening means that the file is damaged.
func damaged(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		code := e.Code() & 0xff // primary result code
		return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
	}
	return errors.Is(err, errDamaged)
}

// start registers this daemon and cleans up after daemons that have exited.
func (r *Registry) start(ctx context.Context) error {
	return transact(ctx, r.db, func(tx *sql.Tx) error {
		if err := r.join(); err != nil {
			return err
		}
		if err := r.reconcile(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE ended <> 0 AND ended < ?", r.opt.Now().Add(-Kept).UnixMilli())
		return err
	})
}

// running is the folder with the locks of running daemons.
func (r *Registry) running() string { return filepath.Join(filepath.Dir(r.opt.Path), "running") }

func (r *Registry) lockOf(daemon string) string {
	return filepath.Join(r.running(), daemon+".lock")
}

// join takes the lock that marks this daemon as running. It runs in a transaction, as
// reconcile does, so that no reconciler sees a lock file between its creation and its
// locking.
func (r *Registry) join() error {
	if r.opt.Daemon == "" || r.opt.Path == "" {
		return nil
	}
	f, ok, err := filelock.Acquire(r.lockOf(r.opt.Daemon))
	if err != nil {
		return fmt.Errorf("create the lock of this daemon: %w", err)
	}
	if !ok {
		return errors.Join(errors.New("the lock of this daemon is taken"), f.Close())
	}
	r.lock = f
	return nil
}

// reconcile resets the sessions of daemons that have exited.
func (r *Registry) reconcile(ctx context.Context, tx *sql.Tx) error {
	gone, err := r.gone(ctx, tx)
	if err != nil {
		return err
	}
	for _, daemon := range gone {
		list, err := query(ctx, tx, "WHERE daemon = ? AND state <> 'inactive'", daemon)
		if err != nil {
			return err
		}
		for _, s := range list {
			if !session.Stale(s.State) {
				continue
			}
			_, err := tx.ExecContext(ctx, "UPDATE sessions SET stale = state, state = ?, ended = ?, reserved = 0 WHERE id = ?",
				session.Reconcile(s.State).String(), r.opt.Now().UnixMilli(), s.ID)
			if err == nil {
				err = settle(ctx, tx, s.ID, r.opt.Now())
			}
			if err != nil {
				return err
			}
			r.stale = append(r.stale, s)
		}
		if r.opt.Path == "" {
			continue
		}
		if err := os.Remove(r.lockOf(daemon)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the lock of an exited daemon: %w", err)
		}
	}
	return nil
}

// gone returns the exited daemons that have live sessions.
func (r *Registry) gone(ctx context.Context, tx *sql.Tx) (gone []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT DISTINCT daemon FROM sessions WHERE state <> 'inactive' AND daemon <> ?", r.opt.Daemon)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var daemon string
		if err := rows.Scan(&daemon); err != nil {
			return nil, err
		}
		if !r.runs(daemon) {
			gone = append(gone, daemon)
		}
	}
	return gone, rows.Err()
}

// runs says whether a daemon holds its lock. If that is unknown, it counts as running.
func (r *Registry) runs(daemon string) bool {
	f, err := os.OpenFile(r.lockOf(daemon), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	ok, err := filelock.Try(f)
	return err != nil || !ok
}

// lockFile waits for a file lock, at most for busy.
func lockFile(ctx context.Context, path string, busy time.Duration) (*os.File, error) {
	for late := time.Now().Add(busy); ; {
		f, ok, err := filelock.Acquire(path)
		switch {
		case err != nil:
		case ok:
			return f, nil
		default:
			err = f.Close()
		}
		if err == nil && time.Now().After(late) {
			err = errors.New("another program holds the lock for too long; stop it")
		}
		if err != nil {
			return nil, fmt.Errorf("lock the record: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock the record: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Damaged is the path of the damaged file that Open set aside, "" if there was none.
func (r *Registry) Damaged() string { return r.damage }

// Stale returns the sessions that Open reset, in their previous state.
func (r *Registry) Stale() []Session { return r.stale }

// Close leaves the record. Sessions that are still live are reset by the next daemon.
func (r *Registry) Close() error {
	err := r.db.Close()
	if r.lock != nil {
		err = errors.Join(err, filelock.Remove(r.lock))
	}
	return err
}
