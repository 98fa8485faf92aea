package registry

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/session"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// answer is usage that costs ten cents.
var answer = usage.Use{Provider: "openai", Model: "gpt-4o", Tokens: usage.Tokens{TextIn: 20_000, TextOut: 5_000}}

func spent(t *testing.T, r *Registry, since time.Time) float64 {
	t.Helper()
	n, err := r.Spent(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	return n.Dollars()
}

func use(t *testing.T, r *Registry, id string, u usage.Use, at time.Time) {
	t.Helper()
	if err := r.Use(t.Context(), id, u, at); err != nil {
		t.Fatal(err)
	}
}

func to(t *testing.T, r *Registry, id string, states ...session.State) {
	t.Helper()
	for _, s := range states {
		if err := r.Move(t.Context(), id, s, noon); err != nil {
			t.Fatal(err)
		}
	}
}

// A turn reserves the cost of the most expensive recent turn until it ends: by success,
// by an error, or with a question to the user in between.
func TestTurnsReserveAndSettle(t *testing.T) {
	r := open(t, "", "d")
	id := begin(t, r, session.Running)
	if got := spent(t, r, noon); got != 0 {
		t.Errorf("before the first turn %v is known to be reserved", got)
	}
	use(t, r, id, answer, noon)
	to(t, r, id, session.Waiting, session.Running, session.Ready)
	use(t, r, id, usage.Use{Provider: "openai", Model: "whisper-1", AudioIn: 5 * time.Minute}, noon) // late usage belongs to the turn
	if got := spent(t, r, noon); got != 0.13 {
		t.Errorf("spent %v", got)
	}
	for _, end := range []session.State{session.Ready, session.Error} {
		to(t, r, id, session.Running)
		if got := spent(t, r, noon); got != 0.26 {
			t.Errorf("with a turn that runs %v is spent or reserved", got)
		}
		to(t, r, id, session.Waiting)
		if got := spent(t, r, noon); got != 0.26 {
			t.Errorf("with a question %v is spent or reserved", got)
		}
		to(t, r, id, session.Running, end)
		if got := spent(t, r, noon); got != 0.13 {
			t.Errorf("after %v %v is spent or reserved", end, got)
		}
	}
	if got := spent(t, r, noon.Add(time.Millisecond)); got != 0 {
		t.Errorf("later %v is spent", got)
	}
}

// A crash settles turns: nothing stays reserved, and usage counts.
func TestCrashSettles(t *testing.T) {
	path := file(t)
	dead, alive := open(t, path, "dead"), open(t, path, "alive")
	id := begin(t, dead, session.Running)
	use(t, dead, id, answer, noon)
	to(t, dead, id, session.Ready, session.Running)
	if got := spent(t, alive, noon); got != 0.2 {
		t.Errorf("another daemon sees %v", got)
	}
	crash(t, dead)
	if got := spent(t, open(t, path, "next"), noon); got != 0.1 {
		t.Errorf("after the crash %v is spent or reserved", got)
	}
}

// Usage is summed up by model, including unpriced usage.
func TestUsedByModel(t *testing.T) {
	r := open(t, "", "d")
	id := begin(t, r, session.Running)
	use(t, r, id, answer, noon.Add(-time.Hour))
	use(t, r, id, answer, noon)
	use(t, r, id, answer, noon)
	use(t, r, id, usage.Use{Provider: "openai", Model: "gpt-9", Tokens: usage.Tokens{AudioIn: 7, AudioCached: 2, AudioOut: 3}, AudioIn: time.Second, AudioOut: 2 * time.Second, Characters: 9}, noon)
	to(t, r, id, session.Ready)
	got, err := r.Used(t.Context(), noon)
	want := Total{Sessions: 1, Turns: 1, Models: []Usage{
		{Provider: "openai", Model: "gpt-4o", Tokens: usage.Tokens{TextIn: 40_000, TextOut: 10_000}, Requests: 2, Priced: 2, Cost: usage.FromDollars(0.2)},
		{Provider: "openai", Model: "gpt-9", Tokens: usage.Tokens{AudioIn: 7, AudioCached: 2, AudioOut: 3}, AudioIn: time.Second, AudioOut: 2 * time.Second, Characters: 9, Requests: 1, Unpriced: 1},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("used %+v, %v; want %+v", got, err, want)
	}
}

// The ledger moves with its sessions and leaves nothing behind.
func TestUsageMovesWithItsSession(t *testing.T) {
	disk, memory := open(t, file(t), "d"), open(t, "", "d")
	id := begin(t, disk, session.Running)
	use(t, disk, id, answer, noon)
	to(t, disk, id, session.Ready, session.Running)
	if err := errors.Join(memory.Copy(t.Context(), disk), disk.Forget(t.Context())); err != nil {
		t.Fatal(err)
	}
	if there, here := spent(t, disk, noon), spent(t, memory, noon); there != 0 || here != 0.2 {
		t.Errorf("%v is left, and %v arrived", there, here)
	}
	to(t, memory, id, session.Ready)
	if here := spent(t, memory, noon); here != 0.1 {
		t.Errorf("after the turn it is %v", here)
	}
}

// A record of the first version is extended with the ledger.
func TestFirstVersionIsMigrated(t *testing.T) {
	path := file(t)
	all := migrations
	t.Cleanup(func() { migrations = all })
	migrations = all[:1]
	r, err := Open(t.Context(), Options{Path: path, Daemon: "old", Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(t.Context(), "openai", noon)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	migrations = all
	now := open(t, path, "new")
	use(t, now, id, answer, noon)
	if got := spent(t, now, noon); got != 0.1 || len(list(t, now)) != 1 || filepath.Base(path) != "sessions.db" {
		t.Errorf("spent %v of %+v", got, list(t, now))
	}
}

// The time of a session counts as it passes, in one request, and the next part of it is reserved until it is
// recorded, the session ends or its daemon crashes. It does not make the next turn look expensive.
func TestTimeOfSessions(t *testing.T) {
	path := file(t)
	r, other := open(t, path, "d"), open(t, path, "other")
	id := begin(t, r, session.Running)
	reserve := func(n usage.Nano) {
		t.Helper()
		if err := r.Reserve(t.Context(), id, n); err != nil {
			t.Fatal(err)
		}
	}
	minute := usage.Use{Provider: "live", Model: "gpt-live-1", Open: time.Minute}
	use(t, r, id, minute, noon)
	minute.More = true
	for range 3 {
		use(t, r, id, minute, noon)
	}
	reserve(usage.FromDollars(0.01))
	if got := spent(t, other, noon); got != 0.21 {
		t.Errorf("another daemon sees %v", got)
	}
	to(t, r, id, session.Ready, session.Running)
	if got := spent(t, other, noon); got != 0.21 {
		t.Errorf("a turn makes it %v", got)
	}
	total, err := r.Used(t.Context(), noon)
	if m := total.Models; err != nil || len(m) != 1 || m[0].Requests != 1 || m[0].Unpriced != 0 || m[0].AudioIn != 4*time.Minute || m[0].Cost.Dollars() != 0.2 {
		t.Errorf("used %+v, %v", total, err)
	}
	to(t, r, id, session.Ready, session.Deactivating, session.Inactive)
	if got := spent(t, other, noon); got != 0.2 {
		t.Errorf("after the session %v", got)
	}
	id = begin(t, r, session.Running)
	reserve(usage.FromDollars(0.01))
	crash(t, r)
	if got := spent(t, open(t, path, "next"), noon); got != 0.2 {
		t.Errorf("after the crash %v", got)
	}
}
