package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/session"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// file returns the path of a record in a temporary folder.
func file(t *testing.T) string { return filepath.Join(t.TempDir(), "record", "sessions.db") }

// open opens a record as a daemon until the end of the test.
func open(t *testing.T, path, daemon string) *Registry {
	t.Helper()
	r, err := Open(t.Context(), Options{Path: path, Daemon: daemon, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// begin records a session and moves it to a state.
func begin(t *testing.T, r *Registry, in session.State) string {
	t.Helper()
	id, err := r.Begin(t.Context(), "openai", noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range session.Path(session.Inactive, in) {
		if err := r.Move(t.Context(), id, to, noon); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

func list(t *testing.T, r *Registry) []Session {
	t.Helper()
	all, err := r.Sessions(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// crash leaves the record as a killed process would: nothing is written, and the system
// releases the lock.
func crash(t *testing.T, r *Registry) {
	t.Helper()
	if err := errors.Join(r.db.Close(), r.lock.Close()); err != nil {
		t.Fatal(err)
	}
}

// states are all states in order.
var states = []session.State{session.Inactive, session.Activating, session.Ready, session.Running, session.Waiting, session.Deactivating, session.Error}

// All 49 state changes (003, the guard map), by Move and by an SQL statement. Changes
// that the guard map forbids are rejected and do not modify the row.
func TestGuardMapOnEveryWrite(t *testing.T) {
	for _, from := range states {
		for _, to := range states {
			r := open(t, "", "d")
			moved, direct := begin(t, r, from), begin(t, r, from)
			err := r.Move(t.Context(), moved, to, noon)
			_, raw := r.db.ExecContext(t.Context(), "UPDATE sessions SET state = ? WHERE id = ?", to.String(), direct)
			var guard *GuardError
			if ok := session.Allowed(from, to); ok != (err == nil) || !ok && (!errors.As(err, &guard) || *guard != GuardError{from, to}) {
				t.Errorf("%v to %v: %v", from, to, err)
			}
			if ok := session.Allowed(from, to) || from == to; ok != (raw == nil) {
				t.Errorf("%v to %v as a statement: %v", from, to, raw)
			}
			want := from
			if session.Allowed(from, to) {
				want = to
			}
			for _, s := range list(t, r) {
				if s.State != want {
					t.Errorf("%v to %v left %v", from, to, s.State)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSessionStartsInactive(t *testing.T) {
	r := open(t, "", "d")
	if _, err := r.db.ExecContext(t.Context(), "INSERT INTO sessions (id, daemon, provider, state, started) VALUES ('x', 'd', 'openai', 'running', 1)"); err == nil {
		t.Error("a session began running")
	}
	if err := r.Move(t.Context(), "nobody", session.Activating, noon); err == nil {
		t.Error("a missing session was moved")
	}
}

// Sessions are still listed when the record is reopened, newest first.
func TestSessionsAreKept(t *testing.T) {
	path := file(t)
	r := open(t, path, "d")
	first := begin(t, r, session.Running)
	for _, to := range []session.State{session.Waiting, session.Running, session.Ready, session.Running, session.Ready, session.Deactivating, session.Inactive} {
		if err := r.Move(t.Context(), first, to, noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	second, err := r.Begin(t.Context(), "local", noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := []Session{
		{ID: second, Provider: "local", Started: noon.Add(time.Hour)},
		{ID: first, Provider: "openai", Started: noon, Ended: noon.Add(time.Minute), Turns: 2},
	}
	again := open(t, path, "")
	if got := list(t, again); !slices.EqualFunc(got, want, same) {
		t.Errorf("the record has %+v, want %+v", got, want)
	}
	if len(again.Stale()) != 0 {
		t.Errorf("stale: %+v", again.Stale())
	}
}

func same(a, b Session) bool {
	if !a.Started.Equal(b.Started) || !a.Ended.Equal(b.Ended) {
		return false
	}
	a.Started, a.Ended, b.Started, b.Ended = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return a == b
}

// After a crash every live session is inactive and its last state is reported; sessions
// of running daemons are not changed (003, stale session recovery).
func TestStaleSessionsAreReset(t *testing.T) {
	path := file(t)
	dead, alive := open(t, path, "dead"), open(t, path, "alive")
	left := map[string]session.State{}
	for _, s := range states {
		left[begin(t, dead, s)] = s
	}
	lives := begin(t, alive, session.Running)
	crash(t, dead)
	next := open(t, path, "next")
	if n := len(next.Stale()); n != len(states)-1 {
		t.Errorf("%d sessions are stale: %+v", n, next.Stale())
	}
	for _, s := range next.Stale() {
		if s.State != left[s.ID] {
			t.Errorf("%s was %v, but is reported as %v", s.ID, left[s.ID], s.State)
		}
	}
	for _, s := range list(t, next) {
		switch {
		case s.ID == lives:
			if s.State != session.Running || s.Crashed {
				t.Errorf("the session of the daemon that runs is %+v", s)
			}
		case s.State != session.Inactive || s.Was != left[s.ID] || s.Crashed != (left[s.ID] != session.Inactive) || s.Crashed == s.Ended.IsZero():
			t.Errorf("the session that was %v is %+v", left[s.ID], s)
		}
	}
	if err := alive.Move(t.Context(), lives, session.Ready, noon); err != nil {
		t.Error(err)
	}
	if third := open(t, path, ""); len(third.Stale()) != 0 {
		t.Errorf("stale again: %+v", third.Stale())
	}
	if _, err := os.Stat(next.lockOf("dead")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock of the dead daemon: %v", err)
	}
}

// Legacy names are accepted.
func TestOlderNamesAreReset(t *testing.T) {
	path := file(t)
	r := open(t, path, "dead")
	id := begin(t, r, session.Inactive)
	if _, err := r.db.ExecContext(t.Context(), "UPDATE sessions SET stale = state, state = 'awaiting_question' WHERE id = ?", id); err != nil {
		t.Fatal(err)
	}
	crash(t, r)
	if s := open(t, path, "next").Stale(); len(s) != 1 || s[0].State != session.Waiting {
		t.Errorf("stale: %+v", s)
	}
}

// A damaged file is set aside unchanged, whatever is damaged, and the record continues in
// a new one.
func TestDamagedFile(t *testing.T) {
	whole := func(t *testing.T) (string, []byte) {
		path := file(t)
		r, err := Open(t.Context(), Options{Path: path, Daemon: "d", Now: func() time.Time { return time.UnixMilli(500) }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.db.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
			INSERT INTO sessions (id, daemon, provider, state, started, ended) SELECT 'd-' || i, 'd', 'openai', 'inactive', i, i FROM n`)
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < 4*4096 {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		return path, b
	}
	for name, damage := range map[string]func([]byte) []byte{
		"header":  func(b []byte) []byte { copy(b, "not a database at all"); return b },
		"pages":   func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xa5}, 3*4096)); return b },
		"cut off": func(b []byte) []byte { return b[:len(b)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			path, b := whole(t)
			b = damage(b)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			r := open(t, path, "next")
			if kept, err := os.ReadFile(r.Damaged()); err != nil || !bytes.Equal(kept, b) {
				t.Errorf("%q does not hold the damaged file: %v", r.Damaged(), err)
			}
			begin(t, r, session.Running)
			if n := len(list(t, r)); n != 1 {
				t.Errorf("the new record has %d sessions", n)
			}
		})
	}
	path, _ := whole(t)
	r, err := Open(t.Context(), Options{Path: path, Daemon: "next", Now: func() time.Time { return time.UnixMilli(500) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Damaged() != "" || len(list(t, r)) != 400 {
		t.Errorf("a file without damage was set aside as %s", r.Damaged())
	}
}

// A file of a later version is not touched.
func TestNewerFile(t *testing.T) {
	path := file(t)
	r := open(t, path, "d")
	if _, err := r.db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Path: path, Daemon: "old"})
	var newer *NewerError
	if !errors.As(err, &newer) || newer.Has != 99 || !strings.Contains(err.Error(), "update the program") {
		t.Errorf("opened: %v", err)
	}
	if found, _ := filepath.Glob(path + ".damaged*"); found != nil {
		t.Errorf("it was set aside as %v", found)
	}
}

// The error for an unwritable folder names it.
func TestUnwritableFolder(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Path: filepath.Join(taken, "sessions.db"), Daemon: "d"})
	if err == nil || !strings.Contains(err.Error(), "create the folder of the record") {
		t.Errorf("opened: %v", err)
	}
}

// A full disk only fails the write: existing data is kept and readable.
func TestFullDisk(t *testing.T) {
	path := file(t)
	r := open(t, path, "d")
	var pages int
	if err := r.db.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	var err error
	n := 0
	for ; err == nil && n < 10000; n++ {
		_, err = r.Begin(t.Context(), "openai", noon)
	}
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d sessions: %v", n, err)
	}
	if got := len(list(t, r)); got != n-1 {
		t.Errorf("%d sessions of %d are there", got, n-1)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, path, "next"); again.Damaged() != "" || len(list(t, again)) != n-1 {
		t.Error("the file is damaged")
	}
}

// Daemons that write concurrently wait for each other and lose nothing. SQLite does not
// queue them, so on a busy machine one of several that always write may wait for long.
func TestConcurrentDaemons(t *testing.T) {
	const daemons, each = 4, 25
	path := file(t)
	var all sync.WaitGroup
	for d := range daemons {
		all.Go(func() {
			r, err := Open(context.Background(), Options{Path: path, Daemon: fmt.Sprint("d", d), busy: 5 * time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				id, err := r.Begin(context.Background(), "openai", noon)
				for _, to := range session.Path(session.Inactive, session.Running) {
					err = errors.Join(err, r.Move(context.Background(), id, to, noon))
				}
				for _, to := range session.Path(session.Running, session.Inactive) {
					err = errors.Join(err, r.Move(context.Background(), id, to, noon))
				}
				if err != nil {
					t.Error(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r := open(t, path, "")
	got := list(t, r)
	for _, s := range got {
		if s.State != session.Inactive || s.Crashed || s.Turns != 1 {
			t.Errorf("%+v", s)
		}
	}
	if len(got) != daemons*each || len(r.Stale()) != 0 || r.Damaged() != "" {
		t.Errorf("%d sessions, stale %v, damaged %q", len(got), r.Stale(), r.Damaged())
	}
}

// SEC-002: when the user forbids storage, this daemon's sessions are removed from the
// disk completely and kept in memory with their state; other daemons' sessions stay.
func TestSEC002SessionsLeaveTheDisk(t *testing.T) {
	path := file(t)
	disk, other := open(t, path, "canary"), open(t, path, "other")
	want := map[string]session.State{}
	for _, s := range states {
		want[begin(t, disk, s)] = s
	}
	begin(t, other, session.Ready)
	memory := open(t, "", "canary")
	if err := errors.Join(memory.Copy(t.Context(), disk), disk.Forget(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, s := range list(t, memory) {
		if s.State != want[s.ID] || s.Provider != "openai" || !s.Started.Equal(noon) {
			t.Errorf("%+v, want %v", s, want[s.ID])
		}
		delete(want, s.ID)
	}
	if len(want) != 0 {
		t.Errorf("lost: %v", want)
	}
	begin(t, memory, session.Ready) // with its own id
	if n := len(list(t, other)); n != 1 {
		t.Errorf("the file has %d sessions", n)
	}
	if err := disk.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil && suffix == "" || bytes.Contains(b, []byte("canary-")) {
			t.Errorf("%s%s has the sessions still, or %v", path, suffix, err)
		}
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "running", "canary*"))
	if len(found) != 0 {
		t.Errorf("%v is left", found)
	}
}

// Sessions are pruned after Kept.
func TestOldSessionsArePruned(t *testing.T) {
	path := file(t)
	r := open(t, path, "d")
	for _, age := range []time.Duration{Kept + time.Hour, Kept - time.Hour} {
		id, err := r.Begin(t.Context(), "openai", noon.Add(-age))
		for _, to := range []session.State{session.Activating, session.Inactive} {
			err = errors.Join(err, r.Move(t.Context(), id, to, noon.Add(-age)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := list(t, open(t, path, "")); len(got) != 1 || !got[0].Started.Equal(noon.Add(time.Hour-Kept)) {
		t.Errorf("%+v", got)
	}
}

// The allowed columns. A new text column needs a justification: it must never hold
// conversation content (invariant 12).
func TestColumnsHoldNoContent(t *testing.T) {
	r := open(t, "", "d")
	rows, err := r.db.QueryContext(t.Context(), "SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type NOT IN ('INTEGER', 'REAL') ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var texts []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, name)
	}
	if want := []string{"sessions.daemon", "sessions.id", "sessions.provider", "sessions.stale", "sessions.state", "turns.session", "uses.model", "uses.provider", "uses.session"}; !slices.Equal(texts, want) || rows.Err() != nil {
		t.Errorf("columns of text: %v, want %v", texts, want)
	}
}

func TestOnlyTheUserCanReadIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions of Windows are those of the user's folder")
	}
	path := file(t)
	begin(t, open(t, path, "d"), session.Ready)
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700 | os.ModeDir, filepath.Join(filepath.Dir(path), "running", "d.lock"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, want %v", name, info, want)
		}
	}
}

// A daemon that has ended leaves no lock behind.
func TestLocksAreRemoved(t *testing.T) {
	path := file(t)
	r := open(t, path, "d")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(filepath.Dir(path), "running")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
