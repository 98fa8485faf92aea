package daemon_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/record"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// paidWorld connects at once to a service that may cost something, and records what is said.
type paidWorld struct {
	port  daemon.Port
	clock *dispatch.Virtual
	model usage.Use // of the session
	meter *daemon.Meter
	calls int

	silent bool // the service does not answer a dial
	epoch  uint32
	held   bool // the devices do not open

	mu    sync.Mutex
	told  []string // aloud, or as a warning
	muted bool
}

func (w *paidWorld) Execute(e csm.Effect) {
	switch e := e.(type) {
	case csm.OpenConnection:
		w.calls++
		if w.epoch = e.Epoch; w.silent {
			return
		}
		w.meter = w.port.Opened(w.model)
		w.port.Post(world.Ending(e, world.Done))
	case csm.CloseConnection:
		if w.meter != nil {
			w.meter.Close()
		}
		w.port.Post(world.Ending(e, world.Done))
	case csm.OpenAudio:
		if !w.held {
			w.port.Post(world.Ending(e, world.Done))
		}
	case csm.ActivateSession, csm.StartCapture, csm.CloseAudio, csm.DeactivateSession:
		w.port.Post(world.Ending(e, world.Done))
	default: // nobody speaks
	}
}
func (*paidWorld) Configure(protocol.Settings)          {}
func (*paidWorld) Close() error                         { return nil }
func (w *paidWorld) Pays(protocol.Settings) []usage.Use { return []usage.Use{w.model} }
func (w *paidWorld) Mute(muted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = muted
}
func (w *paidWorld) isMuted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.muted
}
func (w *paidWorld) Say(text string) { w.tell("aloud: " + text) }
func (w *paidWorld) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf("%v %s", w.clock.Now(), text))
}

// paid is a conversation on virtual time whose cost is recorded.
type paid struct {
	*paidWorld
	t      *testing.T
	d      *daemon.Daemon
	record *record.Recorder
	path   string
}

// noon is the time at which it begins, far from the end of a day and of a month.
var noon = time.Date(2026, time.November, 3, 12, 0, 0, 0, time.Local)

func begin(t *testing.T, model usage.Use, budget protocol.BudgetSettings, more ...func(*daemon.Config)) *paid {
	t.Helper()
	return beginAt(t, filepath.Join(t.TempDir(), "sessions.db"), model, budget, more...)
}

func beginAt(t *testing.T, path string, model usage.Use, budget protocol.BudgetSettings, more ...func(*daemon.Config)) *paid {
	t.Helper()
	p := &paid{paidWorld: &paidWorld{clock: &dispatch.Virtual{}, model: model}, t: t, path: path}
	p.record = record.New(p.path, zerolog.Nop())
	set := protocol.DefaultSettings()
	set.Provider, set.Budget = protocol.ProviderLive, budget
	cfg := daemon.Config{
		Clock: p.clock, Started: noon, Settings: set, Verify: true, Log: zerolog.Nop(), Record: p.record,
		World: func(port daemon.Port) daemon.World { p.port = port; return p.paidWorld },
		Notify: func(_ string, params any) {
			if n, ok := params.(protocol.NotificationParams); ok {
				p.tell(string(n.Code) + ": " + n.Message)
			}
		},
	}
	for _, change := range more {
		change(&cfg)
	}
	p.d = daemon.New(cfg)
	t.Cleanup(func() { _ = p.d.Close() })
	p.d.Post(csm.UserStart{})
	p.settle()
	return p
}

// settle waits for what was recorded and its consequences.
func (p *paid) settle() {
	p.t.Helper()
	p.d.Drain()
	if _, err := p.record.Usage(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.d.Drain()
}

func (p *paid) after(d time.Duration) {
	p.t.Helper()
	for end := p.clock.Now() + d; p.clock.Now() < end; {
		p.clock.Advance(min(time.Second, end-p.clock.Now()), p.d.Drain)
		p.settle()
	}
}

// used returns what is in the ledger for the model, and all that is spent or reserved.
func (p *paid) used() (u registry.Usage, spent float64) {
	p.t.Helper()
	r, err := registry.Open(p.t.Context(), registry.Options{Path: p.path, Now: func() time.Time { return noon }})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	total, err := r.Used(p.t.Context(), noon)
	if err != nil {
		p.t.Fatal(err)
	}
	all, err := r.Spent(p.t.Context(), noon)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range total.Models {
		if m.Model == p.model.Model {
			u = m
		}
	}
	return u, all.Dollars()
}

func (p *paid) said(want ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.told, want) {
		p.t.Errorf("told %q, want %q", p.told, want)
	}
	p.told = nil
}

var liveModel = usage.Use{Provider: "live", Model: "gpt-live-1"}

// A Live session costs five cents a minute, so a dollar lasts 20 minutes. The conversation ends aloud before
// they are over, and no more is spent.
func TestBudgetEndsALiveSession(t *testing.T) {
	p := begin(t, liveModel, protocol.BudgetSettings{Day: 1})
	if u, spent := p.used(); u.Cost.Dollars() != 0.0125 || spent != 0.025 {
		t.Errorf("at the start, %v is counted and %v spent or reserved", u.Cost.Dollars(), spent)
	}
	p.after(15*time.Minute + 44*time.Second)
	p.said()
	p.after(time.Second)
	p.said("15m45s budgetNearlySpent: Your budget is nearly spent. (2026-11-03: 0.80 / 1.00 USD)")
	p.after(3*time.Minute + 59*time.Second)
	p.said()
	p.after(time.Second)
	p.said("19m45s budgetSpent: Your budget is spent, so the conversation ended. (2026-11-03: 1.00 / 1.00 USD)", "19m45s aloud: Your budget is spent.")
	if phase := p.d.State().Phase(); phase != csm.PhaseListening {
		t.Errorf("while that is said, the conversation is in %v", phase)
	}
	p.after(5 * time.Second)
	if phase := p.d.State().Phase(); phase != csm.PhaseIdle {
		t.Errorf("after that, the conversation is in %v", phase)
	}
	p.after(time.Minute)
	want := (19*time.Minute + 50*time.Second).Minutes() * 0.05
	u, spent := p.used()
	if d := spent - want; u.Requests != 1 || u.Unpriced != 0 || u.AudioIn != 19*time.Minute+50*time.Second || d > 1e-6 || d < -1e-6 {
		t.Errorf("used %+v, and %v is spent or reserved; want %v", u, spent, want)
	}
}

// The start counts as running time, and the service's own count as the time.
func TestTimeOfALiveSession(t *testing.T) {
	p := begin(t, liveModel, protocol.BudgetSettings{})
	p.after(40 * time.Second)
	if u, spent := p.used(); u.AudioIn != 30*time.Second || spent != 0.0375 {
		t.Errorf("after 40 s, %v is counted and %v spent or reserved", u.AudioIn, spent)
	}
	p.meter.Reported(50 * time.Second)
	p.after(5 * time.Second)
	if u, _ := p.used(); u.AudioIn != 55*time.Second {
		t.Errorf("of 50 and 5 s, %v is counted", u.AudioIn)
	}
	p.d.Post(csm.UserStop{})
	p.after(time.Second)
	if u, spent := p.used(); u.AudioIn != 55*time.Second || spent != u.Cost.Dollars() || u.Requests != 1 {
		t.Errorf("%+v is counted and %v spent or reserved at the end", u, spent)
	}
}

// Sessions that are created and never run cost 15 s each, also for a budget.
func TestReconnectLoopIsPaid(t *testing.T) {
	p := begin(t, usage.Use{Provider: "local"}, protocol.BudgetSettings{Month: 0.10})
	p.model = liveModel
	for i := range 10 {
		p.after(time.Second)
		p.port.Opened(liveModel).Close()
		p.settle()
		if u, _ := p.used(); u.Requests != int64(i+1) || u.AudioIn != time.Duration(i+1)*15*time.Second {
			t.Errorf("after %d creations, %+v is counted", i+1, u)
		}
	}
	if u, spent := p.used(); u.Cost.Dollars() != 0.125 || spent != 0.125 {
		t.Errorf("%v is counted and %v spent or reserved", u.Cost.Dollars(), spent)
	}
	// Each counts when it is created, and the next 15 s are reserved: seven and that are 10 cents.
	p.said("6s budgetNearlySpent: Your budget is nearly spent. (2026-11: 0.09 / 0.10 USD)",
		"7s budgetSpent: Your budget is spent, so the conversation ended. (2026-11: 0.10 / 0.10 USD)", "7s aloud: Your budget is spent.")
	p.after(5 * time.Second)
	if phase := p.d.State().Phase(); phase != csm.PhaseIdle {
		t.Errorf("the conversation is in %v", phase)
	}
}

// With a budget, a conversation does not start with a hosted model whose price is not known, and no service
// is called.
func TestUnknownPriceIsRefused(t *testing.T) {
	unknown := usage.Use{Provider: "openai", Model: "gpt-9"}
	for name, c := range map[string]struct {
		model  usage.Use
		budget protocol.BudgetSettings
		starts bool
	}{
		"a budget of the day":    {unknown, protocol.BudgetSettings{Day: 1}, false},
		"a budget of the month":  {unknown, protocol.BudgetSettings{Month: 1}, false},
		"no budget":              {unknown, protocol.BudgetSettings{}, true},
		"a price":                {unknown, protocol.BudgetSettings{Day: 1, Prices: "gpt-9 textIn=4 textOut=16"}, true},
		"a price of another":     {unknown, protocol.BudgetSettings{Day: 1, Prices: "gpt-9-mini textIn=4"}, false},
		"free":                   {unknown, protocol.BudgetSettings{Day: 1, Prices: "gpt-9 minute=0"}, true},
		"a deployment":           {usage.Use{Provider: "azure", Model: "ours"}, protocol.BudgetSettings{Day: 1}, false},
		"another server":         {usage.Use{Provider: "compatible", Model: "whisper-1"}, protocol.BudgetSettings{Day: 1}, false},
		"another server's price": {usage.Use{Provider: "compatible", Model: "whisper-1"}, protocol.BudgetSettings{Day: 1, Prices: "whisper-1 minute=0.006"}, true},
		"another unit":           {usage.Use{Provider: "openai", Model: "gpt-9", For: services.Session}, protocol.BudgetSettings{Day: 1, Prices: "gpt-9 minute=1"}, false},
		"one unit of two":        {usage.Use{Provider: "openai", Model: "gpt-9", For: services.Session}, protocol.BudgetSettings{Day: 1, Prices: "gpt-9 audioIn=1"}, false},
		"all units of a session": {usage.Use{Provider: "openai", Model: "gpt-9", For: services.Session}, protocol.BudgetSettings{Day: 1, Prices: "gpt-9 audioIn=1 audioOut=2"}, true},
		"a free session":         {usage.Use{Provider: "openai", Model: "gpt-9", For: services.Session}, protocol.BudgetSettings{Day: 1, Prices: "gpt-9 minute=0"}, true},
		"LocalAI":                {usage.Use{Provider: "localai", Model: "x"}, protocol.BudgetSettings{Day: 1}, true},
		"this machine":           {usage.Use{Provider: "local"}, protocol.BudgetSettings{Day: 1}, true},
		"a model of the table":   {liveModel, protocol.BudgetSettings{Day: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, c.model, c.budget)
			if c.starts {
				if phase := p.d.State().Phase(); phase != csm.PhaseListening || len(p.told) > 0 {
					t.Errorf("it is in %v, told %q", phase, p.told)
				}
				return
			}
			if phase := p.d.State().Phase(); phase != csm.PhaseIdle || p.calls != 0 {
				t.Errorf("it is in %v after %d calls", phase, p.calls)
			}
			want := "agentvoice.budget.prices has no price for it. (" + c.model.Model + map[string]string{
				"another unit": ": audioIn and audioOut, or sessionMinute", "one unit of two": ": audioOut",
			}[name] + ")"
			if len(p.told) != 1 || !strings.HasPrefix(p.told[0], "0s priceUnknown: ") || !strings.Contains(p.told[0], want) {
				t.Errorf("told %q, want %q", p.told, want)
			}
		})
	}
}

// gpt is an assistant whose service is paid.
type gpt struct{ provider string }

func (gpt) Name() string                                              { return "openai" }
func (gpt) Send(context.Context, copilot.Request, func(string)) error { return nil }
func (a gpt) Hosted(model string) (provider, of string) {
	return a.provider, cmp.Or(model, "gpt-6-luna")
}

// The assistant's model counts as well, if this program pays it.
func TestUnknownPriceOfTheAssistant(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		starts          bool
	}{{"openai", "", true}, {"openai", "gpt-9", false}, {"compatible", "", false}, {"local", "gpt-9", true}, {"openai", "voice", false}} {
		p := begin(t, usage.Use{Provider: "local"}, protocol.BudgetSettings{Day: 1, Prices: "voice minute=1"}, func(cfg *daemon.Config) {
			cfg.Adapter, cfg.Settings.Copilot.Model = gpt{c.provider}, c.model
		})
		if phase := p.d.State().Phase(); (phase == csm.PhaseListening) != c.starts {
			t.Errorf("%+v: it is in %v", c, phase)
		}
	}
}

// A user's price of a session replaces that of the table, with its start.
func TestPriceOfTheUserCounts(t *testing.T) {
	p := begin(t, liveModel, protocol.BudgetSettings{Prices: "gpt-live-1 sessionMinute=0.60 startSeconds=30"})
	if u, _ := p.used(); u.AudioIn != 30*time.Second || u.Cost.Dollars() != 0.30 {
		t.Errorf("%+v is counted", u)
	}
	p.model = usage.Use{Provider: "openai", Model: "gpt-9"}
	p.port.Used(usage.Use{Provider: "openai", Model: "gpt-9", Tokens: usage.Tokens{TextOut: 1000}})
	p.settle()
	if u, _ := p.used(); u.Unpriced != 1 {
		t.Errorf("%+v is counted", u)
	}
	set := p.d.Settings()
	set.Budget.Prices = "gpt-9 textIn=2 textOut=10"
	p.d.Configure(set)
	p.port.Used(usage.Use{Provider: "openai", Model: "gpt-9", Tokens: usage.Tokens{TextIn: 1000, TextCached: 500, TextOut: 1000}})
	p.settle()
	if u, _ := p.used(); u.Unpriced != 1 || u.Cost.Dollars() != 0.012 {
		t.Errorf("%+v is counted", u)
	}
}

// dear spends ten dollars.
var dear = usage.Use{Provider: "openai", Model: "gpt-4o", Tokens: usage.Tokens{TextOut: 1_000_000}}

// A conversation that is not connected ends at once: nothing can be said, and each attempt to connect may cost.
func TestSpentBudgetDialsNoMore(t *testing.T) {
	for _, name := range []string{"connecting", "reconnecting", "lost in the farewell"} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, liveModel, protocol.BudgetSettings{Day: 1})
			p.silent = true
			switch name {
			case "connecting":
				p.d.Post(csm.UserStop{})
				p.after(time.Second)
				p.d.Post(csm.UserStart{})
				p.settle()
			case "reconnecting":
				p.lose()
			}
			p.port.Used(dear)
			p.settle()
			if name == "lost in the farewell" {
				if phase := p.d.State().Phase(); phase != csm.PhaseListening {
					t.Fatalf("it is in %v", phase)
				}
				p.lose()
			}
			if phase := p.d.State().Phase(); phase != csm.PhaseIdle {
				t.Errorf("it is in %v", phase)
			}
			calls := p.calls
			p.after(time.Minute)
			if p.calls != calls {
				t.Errorf("%d more calls", p.calls-calls)
			}
		})
	}
}

// lose loses the connection.
func (p *paid) lose() {
	p.t.Helper()
	p.d.Post(csm.ConnLost{Epoch: p.epoch, Code: csm.CodeConnectionLost})
	p.settle()
}

// slow is an assistant that answers until it is cancelled.
type slow struct {
	sent, cancelled chan struct{}
}

func (slow) Name() string { return "slow" }
func (a slow) Send(ctx context.Context, _ copilot.Request, _ func(string)) error {
	a.sent <- struct{}{}
	<-ctx.Done()
	a.cancelled <- struct{}{}
	return ctx.Err()
}

// The farewell is not discarded by the rest of the answer, and no other turn begins during it.
func TestFarewellIsTheLastThing(t *testing.T) {
	a := slow{make(chan struct{}, 10), make(chan struct{}, 10)}
	p := begin(t, liveModel, protocol.BudgetSettings{Day: 1}, func(cfg *daemon.Config) { cfg.Adapter = a })
	text := func(text string) {
		t.Helper()
		if err := p.d.SendText(text, func(csm.Reply, protocol.Snapshot) {}); err != nil {
			t.Fatal(err)
		}
		p.settle()
	}
	text("hello")
	<-a.sent
	if phase := p.d.State().Phase(); phase == csm.PhaseListening || p.isMuted() {
		t.Fatalf("it is in %v, muted: %v", phase, p.isMuted())
	}
	p.port.Used(dear)
	p.settle()
	<-a.cancelled
	p.settle()
	p.said("0s budgetSpent: Your budget is spent, so the conversation ended. (2026-11-03: 10.03 / 1.00 USD)", "0s aloud: Your budget is spent.")
	if phase := p.d.State().Phase(); phase != csm.PhaseListening || !p.isMuted() {
		t.Errorf("during the farewell, it is in %v, muted: %v", phase, p.isMuted())
	}
	text("and now?")
	if phase := p.d.State().Phase(); phase != csm.PhaseIdle || len(a.sent) > 0 || p.isMuted() {
		t.Errorf("after another request, it is in %v, muted: %v, and %d requests were made", phase, p.isMuted(), len(a.sent))
	}
	p.after(time.Minute)
}

// With a budget, a model without a known price is not selected during a conversation.
func TestUnknownPriceIsNotSelected(t *testing.T) {
	p := begin(t, usage.Use{Provider: "local"}, protocol.BudgetSettings{Day: 1}, func(cfg *daemon.Config) { cfg.Adapter = gpt{"openai"} })
	choose := func(model string) (reply csm.Reply) {
		t.Helper()
		answered := false
		p.d.SelectModel(model, func(r csm.Reply, _ protocol.Snapshot) { reply, answered = r, true })
		p.settle()
		if !answered {
			t.Error("no answer")
		}
		return reply
	}
	if r := choose("gpt-4o"); r.Code != "" || p.d.Settings().Copilot.Model != "gpt-4o" {
		t.Errorf("answered %+v, %q is selected", r, p.d.Settings().Copilot.Model)
	}
	p.said("0s : The model gpt-4o answers from now on.")
	if r := choose("gpt-9"); r.Code != csm.Code(protocol.CodePriceUnknown) || p.d.Settings().Copilot.Model != "gpt-4o" {
		t.Errorf("answered %+v, %q is selected", r, p.d.Settings().Copilot.Model)
	}
	if len(p.told) != 2 || !strings.Contains(p.told[0], "(gpt-9: textIn and textOut)") || p.told[1] != "0s aloud: I do not know what this model costs, so I do not use it." || p.d.State().Phase() != csm.PhaseListening {
		t.Errorf("told %q", p.told)
	}
	p.d.Post(csm.UserStop{})
	p.after(time.Second)
	if r := choose("gpt-9"); r.Code != "" || p.d.Settings().Copilot.Model != "gpt-9" {
		t.Errorf("without a conversation: answered %+v, %q is selected", r, p.d.Settings().Copilot.Model)
	}
}

// A conversation does not continue with settings that it would not start with.
func TestUnknownPriceEndsTheConversation(t *testing.T) {
	for name, change := range map[string]func(*protocol.Settings){
		"a budget":              func(s *protocol.Settings) { s.Budget.Day = 1 },
		"a budget at the start": func(s *protocol.Settings) { s.Budget.Day = 1 },
		"a model": func(s *protocol.Settings) {
			s.Budget.Day, s.Budget.Prices, s.Copilot.Model = 1, "whisper-1 minute=1", "gpt-9"
		},
	} {
		p := begin(t, usage.Use{Provider: "compatible", Model: "whisper-1"}, protocol.BudgetSettings{}, func(cfg *daemon.Config) { cfg.Adapter = gpt{"openai"} })
		set := p.d.Settings()
		set.Voice.Rate = 1.5
		p.d.Configure(set)
		p.settle()
		p.said()
		if strings.HasSuffix(name, "at the start") {
			p.d.Post(csm.UserStop{})
			p.after(time.Second)
			p.held = true
			p.d.Post(csm.UserStart{})
			p.settle()
			if phase := p.d.State().Phase(); phase != csm.PhaseIdle {
				t.Errorf("%s: it is in %v", name, phase)
			}
		}
		calls := p.calls
		change(&set)
		p.d.Configure(set)
		p.settle()
		if p.held = false; p.calls != calls {
			t.Errorf("%s: %d calls", name, p.calls-calls)
		}
		if phase := p.d.State().Phase(); phase != csm.PhaseIdle || len(p.told) != 1 || !strings.Contains(p.told[0], "priceUnknown") {
			t.Errorf("%s: it is in %v, told %q", name, phase, p.told)
		}
	}
}

// What a conversation costs follows from all that it uses, at the user's prices.
func TestSpentBudgetEndsWhatCosts(t *testing.T) {
	here := usage.Use{Provider: "compatible", Model: "whisper-1", Free: true}
	for name, c := range map[string]struct {
		model  usage.Use
		prices string
		agent  copilot.Adapter
		ends   bool
	}{
		"this machine":                 {usage.Use{Provider: "local"}, "", nil, false},
		"a server of this machine":     {here, "", nil, false},
		"one that passes it on":        {here, "whisper-1 minute=1", nil, true},
		"a free model":                 {usage.Use{Provider: "openai", Model: "gpt-realtime"}, "gpt-realtime minute=0", nil, false},
		"a model":                      {usage.Use{Provider: "openai", Model: "gpt-realtime"}, "", nil, true},
		"a paid assistant":             {usage.Use{Provider: "local"}, "", gpt{"openai"}, true},
		"an assistant of this machine": {usage.Use{Provider: "local"}, "", gpt{"local"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			r, err := registry.Open(t.Context(), registry.Options{Path: path, Daemon: "before"})
			if err != nil {
				t.Fatal(err)
			}
			id, err := r.Begin(t.Context(), "openai", noon)
			if err := errors.Join(err, r.Use(t.Context(), id, dear, noon), r.Close()); err != nil {
				t.Fatal(err)
			}
			p := beginAt(t, path, c.model, protocol.BudgetSettings{Day: 1, Prices: c.prices}, func(cfg *daemon.Config) { cfg.Adapter = c.agent })
			p.after(10 * time.Second)
			if phase := p.d.State().Phase(); (phase == csm.PhaseIdle) != c.ends {
				t.Errorf("it is in %v", phase)
			}
		})
	}
}
