//go:build cgo && !race

package registry

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/session"
)

// envChild makes the test binary a daemon that records sessions until it is killed.
const envChild = "AGENTVOICE_TEST_REGISTRY"

func TestMain(m *testing.M) {
	if path := os.Getenv(envChild); path != "" {
		write(path)
	}
	os.Exit(m.Run())
}

// write records one session after another, each with a paid turn, as fast as possible.
func write(path string) {
	ctx := context.Background()
	r, err := Open(ctx, Options{Path: path, Daemon: NewID()})
	_, told := os.Stdout.WriteString("open\n")
	for err = errors.Join(err, told); err == nil; {
		var id string
		id, err = r.Begin(ctx, "openai", time.Now())
		for _, to := range []session.State{session.Activating, session.Ready, session.Running, session.Waiting, session.Running, session.Ready, session.Deactivating, session.Inactive} {
			err = errors.Join(err, r.Move(ctx, id, to, time.Now()))
			if to == session.Waiting {
				err = errors.Join(err, r.Use(ctx, id, answer, time.Now()))
			}
		}
	}
	_, _ = os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(1)
}

// reserved returns how many turns of a record have a reservation; none if a daemon was
// killed before it created the table.
func reserved(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM turns WHERE reserved <> 0 OR settled = 0").Scan(&n); err != nil {
		return 0
	}
	return n
}

// A daemon killed at any point leaves a record that can be opened. The next daemon finds
// at most one live session and resets it, no turn stays reserved, and usage is counted
// once.
func TestKilledAtAnyPoint(t *testing.T) {
	const kills = 200
	path := file(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	states, sessions, reservations := map[session.State]int{}, 0, 0
	for i := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), envChild+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		wait := time.Duration(random.IntN(20_000)) * time.Microsecond
		if i%10 != 0 { // in every tenth run it may still be opening the record
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatalf("the daemon did not open the record: %v", err)
			}
		}
		time.Sleep(wait)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // killed
		left := reserved(t, path)
		reservations += left
		r, err := Open(t.Context(), Options{Path: path})
		if err != nil {
			t.Fatalf("seed %d, kill %d after %v: %v", seed, i, wait, err)
		}
		if r.Damaged() != "" || len(r.Stale()) > 1 {
			t.Errorf("seed %d, kill %d after %v: damaged %q, stale %+v", seed, i, wait, r.Damaged(), r.Stale())
		}
		if still := reserved(t, path); left > 1 || still != 0 {
			t.Errorf("seed %d, kill %d: %d turns were reserved, and %d are", seed, i, left, still)
		}
		used, err := r.Used(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		requests := int64(0)
		for _, m := range used.Models {
			requests += m.Requests
		}
		if got, want := spent(t, r, time.Time{}), 0.1*float64(requests); math.Abs(got-want) > 1e-6 {
			t.Errorf("seed %d, kill %d: %v is spent, for %d requests", seed, i, got, requests)
		}
		for _, s := range r.Stale() {
			states[s.State]++
		}
		all := list(t, r)
		for _, s := range all {
			if s.State != session.Inactive {
				t.Errorf("seed %d, kill %d: %+v", seed, i, s)
			}
		}
		if len(all) < sessions {
			t.Errorf("seed %d, kill %d: %d sessions, and %d before", seed, i, len(all), sessions)
		}
		sessions = len(all)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, stale in %v, %d sessions listed, %d turns were reserved", kills, states, sessions, reservations)
	if len(states) < 4 || sessions < kills/2 || reservations < kills/20 {
		t.Errorf("the kills came at too few points: %v, %d sessions, %d reserved turns", states, sessions, reservations)
	}
}
