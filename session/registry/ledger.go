package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// recentTurns is the number of turns that the next reservation is estimated from.
const recentTurns = 20

// reserve opens the ledger of a turn. It reserves the cost of the most expensive recent
// turn until the turn is settled, so that daemons with a shared budget see each other's
// turns before their cost is known.
func reserve(ctx context.Context, tx *sql.Tx, id string, at time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO turns (session, n, started, reserved) VALUES
		(?1, 1 + (SELECT count(*) FROM turns WHERE session = ?1), ?2, (SELECT coalesce(max(cost), 0) FROM
			(SELECT (SELECT sum(cost) FROM uses u WHERE u.session = t.session AND u.turn = t.n) AS cost FROM turns t ORDER BY t.started DESC LIMIT ?3)))`,
		id, at.UnixMilli(), recentTurns)
	return err
}

// settle closes the ledger of the running turn and releases its reservation.
func settle(ctx context.Context, tx *sql.Tx, id string, at time.Time) error {
	_, err := tx.ExecContext(ctx, "UPDATE turns SET settled = ?, reserved = 0 WHERE session = ? AND settled = 0", at.UnixMilli(), id)
	return err
}

// Reserve sets what the time of the open sessions of a service is expected to cost until it is recorded,
// so that daemons with a shared budget see it before.
func (r *Registry) Reserve(ctx context.Context, id string, amount usage.Nano) error {
	if _, err := r.db.ExecContext(ctx, "UPDATE sessions SET reserved = ? WHERE id = ?", int64(amount), id); err != nil {
		return fmt.Errorf("reserve the cost of a session: %w", err)
	}
	return nil
}

// Use records reported usage. Usage that arrives after a turn still belongs to that turn. The time of a
// session belongs to no turn: a turn after a long silence costs no more than another.
func (r *Registry) Use(ctx context.Context, id string, u usage.Use, at time.Time) error {
	var cost *int64
	if c, known := u.Cost(); known {
		cost = (*int64)(&c)
	}
	requests := 1
	if u.More {
		requests = 0
	}
	_, err := r.db.ExecContext(ctx, `INSERT INTO uses (session, turn, at, provider, model, text_in, text_cached, text_out,
		audio_in, audio_cached, audio_out, audio_in_ms, audio_out_ms, characters, cost, requests)
		VALUES (?1, CASE WHEN ?2 THEN 0 ELSE (SELECT count(*) FROM turns WHERE session = ?1) END, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, u.Open > 0, at.UnixMilli(), u.Provider, u.Model, u.TextIn, u.TextCached, u.TextOut, u.Tokens.AudioIn, u.AudioCached, u.Tokens.AudioOut,
		(u.AudioIn + u.Open).Milliseconds(), u.AudioOut.Milliseconds(), u.Characters, cost, requests)
	if err != nil {
		return fmt.Errorf("record the usage of a service: %w", err)
	}
	return nil
}

// Spent is the cost since a time, including reservations of running turns and open sessions.
func (r *Registry) Spent(ctx context.Context, since time.Time) (spent usage.Nano, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(cost), 0) FROM uses WHERE at >= ?)
		+ (SELECT coalesce(sum(reserved), 0) FROM turns WHERE settled = 0) + (SELECT coalesce(sum(reserved), 0) FROM sessions)`, since.UnixMilli()).Scan(&spent)
	if err != nil {
		return 0, fmt.Errorf("read the usage: %w", err)
	}
	return spent, nil
}

// Usage is the usage of one model of one provider.
type Usage struct {
	Provider, Model string
	usage.Tokens
	AudioIn, AudioOut time.Duration
	Characters        int64
	Requests          int64
	Unpriced          int64      // requests without a price
	Priced            int64      // records with a price: of requests, and of more of the time of a session
	Cost              usage.Nano // of those
}

// Total is the usage since a time.
type Total struct {
	Sessions, Turns int
	Models          []Usage
}

// Used sums up the usage since a time.
func (r *Registry) Used(ctx context.Context, since time.Time) (t Total, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the usage: %w", err)
		}
	}()
	row := r.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM sessions WHERE started >= ?1),
		(SELECT count(*) FROM turns WHERE settled <> 0 AND started >= ?1)`, since.UnixMilli())
	if err = row.Scan(&t.Sessions, &t.Turns); err != nil {
		return t, err
	}
	rows, err := r.db.QueryContext(ctx, `SELECT provider, model, sum(text_in), sum(text_cached), sum(text_out), sum(audio_in),
		sum(audio_cached), sum(audio_out), sum(audio_in_ms), sum(audio_out_ms), sum(characters), sum(requests),
		sum(requests * (cost IS NULL)), count(cost), coalesce(sum(cost), 0) FROM uses WHERE at >= ? GROUP BY provider, model ORDER BY provider, model`, since.UnixMilli())
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var u Usage
		var in, out int64
		if err := rows.Scan(&u.Provider, &u.Model, &u.TextIn, &u.TextCached, &u.TextOut, &u.Tokens.AudioIn,
			&u.AudioCached, &u.Tokens.AudioOut, &in, &out, &u.Characters, &u.Requests, &u.Unpriced, &u.Priced, &u.Cost); err != nil {
			return t, err
		}
		u.AudioIn, u.AudioOut = time.Duration(in)*time.Millisecond, time.Duration(out)*time.Millisecond
		t.Models = append(t.Models, u)
	}
	return t, rows.Err()
}

// copyUsage copies the ledger of a daemon's sessions from another record.
func copyUsage(ctx context.Context, tx *sql.Tx, from *Registry) error {
	for table, columns := range map[string]int{"turns": 5, "uses": 16} {
		if err := copyTable(ctx, tx, from, table, columns); err != nil {
			return err
		}
	}
	return nil
}

func copyTable(ctx context.Context, tx *sql.Tx, from *Registry, table string, columns int) (err error) {
	rows, err := from.db.QueryContext(ctx, "SELECT * FROM "+table+" WHERE session IN (SELECT id FROM sessions WHERE daemon = ?)", from.opt.Daemon)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values, into := make([]any, columns), make([]any, columns)
	marks := "?"
	for i := range values {
		into[i] = &values[i]
		if i > 0 {
			marks += ", ?"
		}
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO "+table+" VALUES ("+marks+")", values...); err != nil {
			return err
		}
	}
	return rows.Err()
}
