package record

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// told records what a recorder reported to its daemon.
type told struct {
	mu    sync.Mutex
	codes []string
	stops int
}

func (d *told) take() (codes []string, stops int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	codes, stops = d.codes, d.stops
	d.codes, d.stops = nil, 0
	return codes, stops
}

// begin opens a record with a session that has a turn in progress.
func begin(t *testing.T, path string, provider protocol.Provider, day, month float64) (*Recorder, *told) {
	t.Helper()
	d := &told{}
	set := protocol.DefaultSettings()
	set.Budget = protocol.BudgetSettings{Day: day, Month: month}
	r := New(path, zerolog.Nop())
	r.Open(set, func(code protocol.ErrorCode, detail string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.codes = append(d.codes, string(code)+" "+detail[strings.Index(detail, ":")+2:])
	}, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.stops++
	})
	t.Cleanup(func() { _ = r.Close() })
	states(r, provider, protocol.SessionActivating, protocol.SessionReady, protocol.SessionRunning)
	return r, d
}

func states(r *Recorder, provider protocol.Provider, list ...protocol.SessionState) {
	for _, s := range list {
		r.Session(protocol.SessionParams{ID: "session-1", Provider: provider, State: s}, provider != protocol.ProviderLocal, time.Now())
	}
}

// cents returns a use with that cost.
func cents(n int64) usage.Use {
	return usage.Use{Provider: "openai", Model: "gpt-4o", Tokens: usage.Tokens{TextOut: n * 1000}}
}

// wait waits until everything is written, and returns the total.
func wait(t *testing.T, r *Recorder) protocol.UsageResult {
	t.Helper()
	u, err := r.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// At 80 % the user is warned once. A budget that is used up, including what other turns
// reserved, ends the conversation once.
func TestBudget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	r, d := begin(t, path, protocol.ProviderOpenAI, 1, 0)
	expect := func(stops int, codes ...string) {
		t.Helper()
		wait(t, r)
		if got, n := d.take(); !slices.Equal(got, codes) || n != stops {
			t.Errorf("told %q and stopped %d times, want %q and %d", got, n, codes, stops)
		}
	}
	r.Used(cents(79), time.Now())
	expect(0)
	r.Used(cents(1), time.Now())
	expect(0, "budgetNearlySpent 0.80 / 1.00 USD")
	if r.Spent() {
		t.Error("80 % of the budget is all of it")
	}
	r.Used(cents(5), time.Now())
	expect(0)
	states(r, protocol.ProviderOpenAI, protocol.SessionReady)
	expect(0)
	states(r, protocol.ProviderOpenAI, protocol.SessionRunning) // reserves 0.85
	expect(1, "budgetSpent 1.70 / 1.00 USD")
	r.Used(cents(50), time.Now())
	expect(0)

	// Another daemon is stopped when its session begins, and one without costs
	// continues.
	other, told := begin(t, path, protocol.ProviderAzure, 0, 1)
	wait(t, other)
	if codes, stops := told.take(); stops != 1 || len(codes) != 1 || !strings.HasPrefix(codes[0], "budgetSpent") {
		t.Errorf("the other daemon was told %q and stopped %d times", codes, stops)
	}
	local, told := begin(t, path, protocol.ProviderLocal, 1, 1)
	local.Used(usage.Use{Provider: usage.Local, AudioIn: time.Hour}, time.Now())
	wait(t, local)
	if codes, stops := told.take(); stops != 0 || codes != nil {
		t.Errorf("a local conversation was told %q and stopped %d times", codes, stops)
	}
	if !local.Spent() {
		t.Error("the budget is not used up for requests that would be the first to cost something")
	}
	local.Used(cents(1), time.Now()) // its assistant has a cost
	wait(t, local)
	if _, stops := told.take(); stops != 1 {
		t.Errorf("it was stopped %d times once it cost something", stops)
	}
}

// Whether a conversation costs something does not follow from its provider: its voice or agent may be another.
func TestCosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	r, _ := begin(t, path, protocol.ProviderOpenAI, 1, 0)
	r.Used(cents(100), time.Now())
	wait(t, r)
	for _, c := range []struct {
		provider protocol.Provider
		costs    bool
	}{{protocol.ProviderCompatible, false}, {protocol.ProviderLocal, true}} {
		d := &told{}
		set := protocol.DefaultSettings()
		set.Budget.Day = 1
		other := New(path, zerolog.Nop())
		other.Open(set, func(protocol.ErrorCode, string) {}, func() { d.stops++ })
		t.Cleanup(func() { _ = other.Close() })
		other.Session(protocol.SessionParams{ID: "session-1", Provider: c.provider, State: protocol.SessionActivating}, c.costs, time.Now())
		wait(t, other)
		if _, stops := d.take(); (stops == 1) != c.costs {
			t.Errorf("%+v: stopped %d times", c, stops)
		}
	}
}

// A session that was recorded before has costs, but no request, after.
func TestSessionOverTheMonth(t *testing.T) {
	r, _ := begin(t, "", protocol.ProviderLive, 0, 0)
	r.Used(usage.Use{Provider: "live", Model: "gpt-live-1", Open: time.Minute, More: true}, time.Now())
	u := wait(t, r)
	if len(u.Models) != 1 || u.Models[0].Cost == nil || u.Models[0].Cost.Amount != 0.05 || u.Cost == nil || u.Cost.Amount != 0.05 {
		t.Errorf("used %+v", u)
	}
}

// What is not to stay on the disk goes, also if it cannot be taken along.
func TestRecordIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	r, _ := begin(t, path, protocol.ProviderOpenAI, 0, 0)
	r.Used(cents(10), time.Now())
	wait(t, r)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE uses ADD COLUMN later INTEGER"); err != nil {
		t.Fatal(err)
	}
	set := protocol.DefaultSettings()
	set.Privacy.Persist = false
	r.Configure(set)
	wait(t, r)
	var kept int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM uses").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d kept, %v", kept, err)
	}
}

// What is reserved for the time of a session counts for a budget, until it is released, also in another store.
func TestReservedTime(t *testing.T) {
	r, d := begin(t, filepath.Join(t.TempDir(), "sessions.db"), protocol.ProviderLive, 1, 0)
	expect := func(stops int) {
		t.Helper()
		wait(t, r)
		if _, n := d.take(); n != stops {
			t.Errorf("stopped %d times, want %d", n, stops)
		}
	}
	r.Used(cents(40), time.Now())
	r.Reserve(usage.FromDollars(0.70), time.Now())
	expect(1)
	r, d = begin(t, filepath.Join(t.TempDir(), "sessions.db"), protocol.ProviderLive, 1, 0)
	r.Reserve(usage.FromDollars(0.70), time.Now())
	r.Reserve(usage.FromDollars(0.50), time.Now())
	set := protocol.DefaultSettings()
	set.Budget.Day, set.Privacy.Persist = 1, false
	r.Configure(set)
	r.Used(cents(40), time.Now())
	expect(0)
	r.Used(cents(10), time.Now())
	expect(1)
}

// Usage covers every daemon on disk, or this process in memory, and counts what has no
// price.
func TestUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	for range 2 {
		r, _ := begin(t, path, protocol.ProviderOpenAI, 0, 0)
		r.Used(cents(10), time.Now())
		r.Used(usage.Use{Provider: "openai", Model: "gpt-9", Tokens: usage.Tokens{AudioIn: 5, AudioOut: 7}, AudioIn: time.Second}, time.Now())
		states(r, protocol.ProviderOpenAI, protocol.SessionReady)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := begin(t, path, protocol.ProviderOpenAI, 0, 0)
	u := wait(t, r)
	if u.Sessions != 3 || u.Turns != 2 || u.InputTokens != 10 || u.OutputTokens != 20_014 || u.AudioInMs != 2000 || u.Unpriced != 2 ||
		u.Cost == nil || *u.Cost != (protocol.Cost{Amount: 0.2, Currency: "USD"}) || len(u.Models) != 2 || u.Models[1].Cost != nil {
		t.Errorf("used %+v", u)
	}
	memory, _ := begin(t, "", protocol.ProviderOpenAI, 0, 0)
	memory.Used(cents(10), time.Now())
	if u := wait(t, memory); u.Sessions != 1 || u.Cost == nil || u.Cost.Amount != 0.1 {
		t.Errorf("in memory %+v", u)
	}
}
