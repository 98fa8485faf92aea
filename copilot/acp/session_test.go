package acp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// Responses of Gemini CLI 0.61.0 and codex-acp 2.6.0.
const (
	geminiOffer = `"modes":{"availableModes":[{"id":"default","name":"Default"},{"id":"autoEdit","name":"Auto Edit"},{"id":"plan","name":"Plan"}],"currentModeId":"default"},` +
		`"models":{"availableModels":[{"modelId":"auto","name":"Auto"},{"modelId":"gemini-3.8-flash","name":"gemini-3.8-flash"}],"currentModelId":"auto"}`
	codexOffer = `"models":{"availableModels":[{"modelId":"gpt-6.1-sol[low]","name":"6.1 Sol (low)"},{"modelId":"gpt-6.1-sol[high]","name":"6.1 Sol (high)"}],"currentModelId":"gpt-6.1-sol[low]"},` +
		`"modes":{"availableModes":[{"id":"read-only","name":"Read-only"},{"id":"agent","name":"Auto review"}],"currentModeId":"agent"},` +
		`"configOptions":[{"id":"mode","name":"Mode","category":"mode","type":"select","currentValue":"agent","options":[{"value":"read-only","name":"Read-only"},{"value":"workspace-write","name":"Workspace access"},{"value":"agent","name":"Auto review"},{"value":"agent-full-access","name":"Full access"}]},` +
		`{"id":"collaboration_mode","name":"Collaboration mode","category":"collaboration_mode","type":"select","currentValue":"default","options":[{"value":"default","name":"Default"},{"value":"plan","name":"Plan"}]},` +
		`{"id":"model","name":"Model","category":"model","type":"select","currentValue":"gpt-5.4","options":[{"value":"gpt-5.4","name":"5.4"},{"value":"gpt-6.1-sol","name":"6.1 Sol","description":null}]}]`
)

func hello(f *fakeAgent, _ string) string { f.say("Hello."); return "end_turn" }

func TestModesAreListedAndSet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(hello)
		f.offers = geminiOffer
		k := newTalker(t, f)
		modes, err := k.a.Modes(t.Context())
		if got := fmt.Sprint(modes); err != nil || got != "[{default Default true true} {autoEdit Auto Edit false false} {plan Plan false true}]" {
			t.Errorf("modes %s, %v", got, err)
		}
		if err := k.a.SetMode(t.Context(), "plan"); err != nil {
			t.Fatal(err)
		}
		k.want(k.ask(t.Context(), "hi"), "Hello.")
		if k.warnings != 0 {
			t.Error("an agent that asks is announced as one that may act unasked")
		}
		if err := k.a.SetMode(t.Context(), "autoEdit"); err != nil {
			t.Fatal(err)
		}
		k.want(k.ask(t.Context(), "hi"), "Hello.")
		if k.warnings != 0 {
			t.Error("a mode that the user chose is announced")
		}
		if got := f.choices(); got != "plan autoEdit" {
			t.Errorf("set %q", got)
		}
		if got := f.methods(); got != "initialize session/new session/set_mode session/prompt session/set_mode session/prompt" {
			t.Errorf("methods: %s", got)
		}
	})
}

// Options take precedence over modes that an agent lists for older clients, and an option is set by
// its own method. An option of another category or without values is no mode.
func TestOptionsTakePrecedenceOverModes(t *testing.T) {
	const empty = `"modes":{"availableModes":[{"id":"default","name":"Default"},{"id":"yolo","name":"YOLO"}],"currentModeId":"yolo"},` +
		`"configOptions":[{"id":"m","name":"Mode","category":"mode","type":"select","currentValue":"","options":[]}]`
	for name, c := range map[string]struct{ offer, modes, set string }{
		"codex":      {codexOffer, "[{read-only Read-only true true} {workspace-write Workspace access false false} {agent Auto review false false} {agent-full-access Full access false false}]", "mode=read-only mode=agent"},
		"no options": {empty, "[{default Default true true} {yolo YOLO false false}]", "default agent"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFakeAgent(hello)
				f.offers = c.offer
				k := newTalker(t, f)
				modes, err := k.a.Modes(t.Context())
				if got := fmt.Sprint(modes); err != nil || got != c.modes {
					t.Errorf("modes %s, %v; want %s", got, err, c.modes)
				}
				if err := k.a.SetMode(t.Context(), "agent"); err != nil {
					t.Fatal(err)
				}
				if got := f.choices(); got != c.set {
					t.Errorf("set %q, want %q", got, c.set)
				}
			})
		})
	}
}

// A session is closed when another one takes its place, and at the end, where the agent supports
// that; an agent that does not answer does not delay the end.
func TestSessionIsClosed(t *testing.T) {
	for _, closes := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			f := newFakeAgent(hello)
			f.loads, f.closes, f.mute = true, closes, "session/close"
			k := newTalker(t, f)
			k.want(k.ask(t.Context(), "hi"), "Hello.")
			if err := k.a.LoadSession(t.Context(), "old"); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if err := k.a.Close(); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d > closeLimit {
				t.Errorf("the end took %v", d)
			}
			want := "initialize session/new session/prompt session/load"
			closed := ""
			if closes {
				want, closed = want+" session/close session/close", "s1 old"
			}
			if got := f.methods(); got != want {
				t.Errorf("methods: %s, want %s", got, want)
			}
			if got := strings.Join(f.closed, " "); got != closed {
				t.Errorf("closed %q, want %q", got, closed)
			}
		})
	}
}

// The client offers the first version of the protocol, which is what agents serve.
func TestOfferedVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(hello)
		k := newTalker(t, f)
		k.want(k.ask(t.Context(), "hi"), "Hello.")
		if f.offered != 1 {
			t.Errorf("offered version %d, want 1", f.offered)
		}
	})
}

// A mode chosen by the user is restored after a crash, unless the agent would act without
// asking in it.
func TestChosenModeAfterACrash(t *testing.T) {
	for chosen, want := range map[string]string{"plan": "plan", "autoEdit": ""} {
		bubble(t, func(t *testing.T) {
			first, second := newFakeAgent(hello), newFakeAgent(hello)
			first.offers, second.offers = geminiOffer, geminiOffer
			k := newTalker(t, first, second)
			if err := k.a.SetMode(t.Context(), chosen); err != nil {
				t.Fatal(err)
			}
			first.die()
			synctest.Wait()
			k.want(k.ask(t.Context(), "hi"), "Hello.")
			if got := second.choices(); got != want {
				t.Errorf("after %s: set %q, want %q", chosen, got, want)
			}
		})
	}
}

// An agent in a mode that may not ask is announced once, and again when it leaves an
// asking mode by itself.
func TestAgentThatMayActUnaskedIsAnnouncedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := newTalker(t, newFakeAgent(func(f *fakeAgent, prompt string) string {
			f.say("Hello.")
			if prompt == "leave" {
				f.update(`{"sessionUpdate":"current_mode_update","currentModeId":"default"}`)
				f.update(`{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}`)
			}
			return "end_turn"
		}))
		for i, c := range []struct {
			words string
			want  int
		}{{"hi", 1}, {"hi", 1}, {"leave", 2}, {"hi", 2}} {
			k.want(k.ask(t.Context(), c.words), "Hello.")
			if k.warnings != c.want {
				t.Errorf("request %d: announced %d times, want %d", i, k.warnings, c.want)
			}
		}
	})
}

func TestModelsAreListedAndUsed(t *testing.T) {
	for name, c := range map[string]struct{ offer, models, model, set string }{
		"by a method": {geminiOffer, "[{auto Auto   0} {gemini-3.8-flash gemini-3.8-flash   0}]", "gemini-3.8-flash", "gemini-3.8-flash"},
		"by options":  {codexOffer, "[{gpt-5.4 5.4   0} {gpt-6.1-sol 6.1 Sol   0}]", "gpt-6.1-sol", "mode=read-only model=gpt-6.1-sol"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFakeAgent(hello)
				f.offers = c.offer
				k := newTalker(t, f)
				models, err := k.a.Models(t.Context())
				if got := fmt.Sprint(models); err != nil || got != c.models {
					t.Errorf("models %s, %v", got, err)
				}
				for _, model := range []string{"", c.model, c.model, "of another assistant"} {
					k.model = model
					k.want(k.ask(t.Context(), "hi"), "Hello.")
				}
				if got := f.choices(); got != c.set {
					t.Errorf("set %q, want %q", got, c.set)
				}
			})
		})
	}
}

func TestSessionsAreListedAndLoaded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(hello)
		f.loads, f.offers = true, geminiOffer
		k := newTalker(t, f)
		f.lists = `[{"sessionId":"s1","cwd":"` + k.a.opts.Dir + `"},{"sessionId":"old","cwd":"` + k.a.opts.Dir + `","title":"Old","updatedAt":"2026-01-01T00:00:00Z"},` +
			`{"sessionId":"elsewhere","cwd":"/elsewhere"},{"sessionId":"new","cwd":"` + k.a.opts.Dir + `","title":"New [This is a spoken co","updatedAt":"2026-02-01T00:00:00Z"}]`
		sessions, err := k.a.Sessions(t.Context())
		if got := fmt.Sprint(sessions); err != nil || got != "[{new New} {old Old}]" {
			t.Errorf("sessions %s, %v", got, err)
		}
		k.want(k.ask(t.Context(), "hi"), "Hello.")
		if err := k.a.LoadSession(t.Context(), "old"); err != nil || f.choices() != "old" {
			t.Fatalf("loaded %q, %v", f.choices(), err)
		}
		if sessions, _ = k.a.Sessions(t.Context()); fmt.Sprint(sessions) != "[{new New} {s1 }]" {
			t.Errorf("sessions after one was loaded: %v", sessions)
		}
		k.want(k.ask(t.Context(), "more"), "Hello.")
		if got := f.prompted(); !strings.Contains(got, "assistant: Hello.") || !strings.Contains(got, "more\n\n[This is a spoken") {
			t.Errorf("the session that was loaded is asked %q: it does not know what was said before", got)
		}
	})
}

func TestNoSessionIsLoadedWhileTheAgentAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(func(f *fakeAgent, _ string) string {
			<-f.ask("c1", "make")
			return "end_turn"
		})
		f.loads = true
		k := newTalker(t, f)
		if err := k.ask(t.Context(), "make it"); err != nil {
			t.Fatal(err)
		}
		if err := k.a.LoadSession(t.Context(), "old"); !errors.Is(err, copilot.ErrBusy) {
			t.Errorf("a session is loaded while a permission is pending: %v", err)
		}
	})
}

func TestAgentWithoutListHasNoSessions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFakeAgent(hello)
		f.loads = true
		k := newTalker(t, f)
		if sessions, err := k.a.Sessions(t.Context()); err != nil || len(sessions) > 0 {
			t.Errorf("sessions %v, %v", sessions, err)
		}
	})
}
