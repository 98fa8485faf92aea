package registry

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/session"
)

// migrations upgrade the schema version by version. Released ones never change; new ones
// are appended.
var migrations = []string{
	`CREATE TABLE sessions (
		id       TEXT PRIMARY KEY,
		daemon   TEXT NOT NULL,
		provider TEXT NOT NULL,
		state    TEXT NOT NULL,
		started  INTEGER NOT NULL,           -- Unix time in milliseconds, as every time
		ended    INTEGER NOT NULL DEFAULT 0, -- 0 while the session is live
		turns    INTEGER NOT NULL DEFAULT 0,
		stale    TEXT NOT NULL DEFAULT ''    -- the state in which its daemon crashed
	) STRICT, WITHOUT ROWID;
	CREATE INDEX sessions_started ON sessions(started);
	CREATE TRIGGER sessions_begin BEFORE INSERT ON sessions WHEN NEW.state <> 'inactive'
	BEGIN SELECT RAISE(ABORT, 'a session begins inactive'); END;
	CREATE TRIGGER sessions_guard BEFORE UPDATE OF state ON sessions
	WHEN NEW.state <> OLD.state AND NEW.stale <> OLD.state AND NOT (` + guard() + `)
	BEGIN SELECT RAISE(ABORT, 'the guard map does not allow this change of state'); END;`,
	`CREATE TABLE turns (
		session  TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
		n        INTEGER NOT NULL,
		started  INTEGER NOT NULL,
		settled  INTEGER NOT NULL DEFAULT 0, -- 0 while the turn runs
		reserved INTEGER NOT NULL,           -- nano-dollars; 0 when it is settled
		PRIMARY KEY (session, n)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE uses (
		session      TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
		turn         INTEGER NOT NULL, -- 0 before the first
		at           INTEGER NOT NULL,
		provider     TEXT NOT NULL,
		model        TEXT NOT NULL,
		text_in      INTEGER NOT NULL, text_cached  INTEGER NOT NULL, text_out  INTEGER NOT NULL, -- tokens
		audio_in     INTEGER NOT NULL, audio_cached INTEGER NOT NULL, audio_out INTEGER NOT NULL, -- tokens
		audio_in_ms  INTEGER NOT NULL, audio_out_ms INTEGER NOT NULL,
		characters   INTEGER NOT NULL,
		cost         INTEGER -- nano-dollars; NULL where no price is known
	) STRICT;
	CREATE INDEX uses_at ON uses(at);
	CREATE INDEX uses_turn ON uses(session, turn);`,
	`ALTER TABLE uses ADD COLUMN requests INTEGER NOT NULL DEFAULT 1; -- 0 where it continues another
	ALTER TABLE sessions ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0; -- nano-dollars, for the time of open sessions`,
}

// guard is the guard map as an SQL expression over a trigger's rows.
func guard() string {
	var allowed []string
	for from := range session.Error + 1 {
		for to := range session.Error + 1 {
			if session.Allowed(from, to) {
				allowed = append(allowed, fmt.Sprintf("(OLD.state, NEW.state) = ('%v', '%v')", from, to))
			}
		}
	}
	return strings.Join(allowed, " OR ")
}

// NewerError says that a newer version of the program wrote the file.
type NewerError struct{ Has, Knows int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("the record has version %d, but this program supports only versions up to %d; update the program", e.Has, e.Knows)
}

// migrate upgrades the schema.
func migrate(ctx context.Context, db *sql.DB) error {
	return transact(ctx, db, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > len(migrations) {
			return &NewerError{version, len(migrations)}
		}
		for i, m := range migrations[version:] {
			if _, err := tx.ExecContext(ctx, m); err != nil {
				return fmt.Errorf("migrate the record to version %d: %w", version+i+1, err)
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
		return err
	})
}

// transact runs f in one immediate transaction.
func transact(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the first error matters
		return err
	}
	return tx.Commit()
}
