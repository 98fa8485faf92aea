package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/session"
)

// Begin records a new session of this daemon, initially inactive, and returns its id.
func (r *Registry) Begin(ctx context.Context, provider string, at time.Time) (string, error) {
	id := fmt.Sprintf("%s-%d", r.opt.Daemon, r.begun.Add(1))
	_, err := r.db.ExecContext(ctx, "INSERT INTO sessions (id, daemon, provider, state, started) VALUES (?, ?, ?, ?, ?)",
		id, r.opt.Daemon, provider, session.Inactive.String(), at.UnixMilli())
	if err != nil {
		return "", fmt.Errorf("record a session: %w", err)
	}
	return id, nil
}

// GuardError says that the guard map forbids a state change.
type GuardError struct{ From, To session.State }

func (e *GuardError) Error() string {
	return fmt.Sprintf("session cannot change from %v to %v", e.From, e.To)
}

// Move records the next state of a session. If the guard map forbids it, Move writes
// nothing and returns a *GuardError.
func (r *Registry) Move(ctx context.Context, id string, to session.State, at time.Time) error {
	err := transact(ctx, r.db, func(tx *sql.Tx) error {
		var name string
		if err := tx.QueryRowContext(ctx, "SELECT state FROM sessions WHERE id = ?", id).Scan(&name); err != nil {
			return err
		}
		from, err := session.Parse(name)
		if err != nil {
			return err
		}
		if !session.Allowed(from, to) {
			return &GuardError{from, to}
		}
		return move(ctx, tx, id, from, to, at)
	})
	if err != nil {
		return fmt.Errorf("record the state of a session: %w", err)
	}
	return nil
}

func move(ctx context.Context, tx *sql.Tx, id string, from, to session.State, at time.Time) error {
	var ended int64
	if to == session.Inactive {
		ended = at.UnixMilli()
	}
	turn := 0
	if from.InTurn() && !to.InTurn() {
		turn = 1
	}
	_, err := tx.ExecContext(ctx, "UPDATE sessions SET state = ?1, ended = ?2, turns = turns + ?3, reserved = iif(?2 = 0, reserved, 0) WHERE id = ?4", to.String(), ended, turn, id)
	switch {
	case err != nil:
	case !from.InTurn() && to.InTurn():
		err = reserve(ctx, tx, id, at)
	case turn == 1:
		err = settle(ctx, tx, id, at)
	}
	return err
}

// Sessions returns the newest sessions, newest first.
func (r *Registry) Sessions(ctx context.Context, limit int) ([]Session, error) {
	list, err := query(ctx, r.db, "ORDER BY started DESC, id DESC LIMIT ?", limit)
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	return list, nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func query(ctx context.Context, db querier, where string, args ...any) (list []Session, err error) {
	rows, err := db.QueryContext(ctx, "SELECT id, provider, state, started, ended, turns, stale FROM sessions "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s Session
		var state, stale string
		var started, ended int64
		if err := rows.Scan(&s.ID, &s.Provider, &state, &started, &ended, &s.Turns, &stale); err != nil {
			return nil, err
		}
		if s.State, err = session.Parse(state); err != nil {
			return nil, err
		}
		if s.Crashed = stale != ""; s.Crashed {
			if s.Was, err = session.Parse(stale); err != nil {
				return nil, err
			}
		}
		s.Started = time.UnixMilli(started)
		if ended != 0 {
			s.Ended = time.UnixMilli(ended)
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// Copy copies this daemon's sessions from another record.
func (r *Registry) Copy(ctx context.Context, from *Registry) error {
	list, err := query(ctx, from.db, "WHERE daemon = ?", from.opt.Daemon)
	if err == nil {
		err = transact(ctx, r.db, func(tx *sql.Tx) error {
			return errors.Join(r.insert(ctx, tx, list), copyUsage(ctx, tx, from))
		})
	}
	r.begun.Store(from.begun.Load())
	if err != nil {
		return fmt.Errorf("copy the record of this daemon: %w", err)
	}
	return nil
}

// Forget removes this daemon's sessions, byte for byte.
func (r *Registry) Forget(ctx context.Context) error {
	_, err := r.db.ExecContext(ctx, "DELETE FROM sessions WHERE daemon = ?", r.opt.Daemon)
	if err == nil && r.opt.Path != "" {
		_, err = r.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // otherwise the log still contains them
	}
	if err != nil {
		return fmt.Errorf("remove the record of this daemon: %w", err)
	}
	return nil
}

// insert records sessions as they are; live ones take the path that the guard map allows.
func (r *Registry) insert(ctx context.Context, tx *sql.Tx, list []Session) error {
	for _, s := range list {
		var ended int64
		if !s.Ended.IsZero() {
			ended = s.Ended.UnixMilli()
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO sessions (id, daemon, provider, state, started, ended, turns) VALUES (?, ?, ?, ?, ?, ?, ?)",
			s.ID, r.opt.Daemon, s.Provider, session.Inactive.String(), s.Started.UnixMilli(), ended, s.Turns)
		if err != nil {
			return err
		}
		for _, to := range session.Path(session.Inactive, s.State) {
			if _, err := tx.ExecContext(ctx, "UPDATE sessions SET state = ? WHERE id = ?", to.String(), s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
