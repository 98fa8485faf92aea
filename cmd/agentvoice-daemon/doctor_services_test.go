package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// with returns the default settings with some changed.
func with(t *testing.T, changed map[string]string) protocol.Settings {
	t.Helper()
	c := protocol.Configuration{}
	for name, value := range changed {
		c[name], _ = json.Marshal(value)
	}
	set, bad := protocol.DefaultSettings().Apply(c)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return set
}

// modelsFound returns what doctor says about models without asking their service, which needs a key.
func modelsFound(t *testing.T, set protocol.Settings, today time.Time) []finding {
	t.Helper()
	t.Setenv(envOpenAI, "")
	return modelRows(t, doctorFlags{}, set, today)
}

func modelRows(t *testing.T, f doctorFlags, set protocol.Settings, today time.Time) []finding {
	t.Helper()
	t.Setenv(envOpenAI, "")
	return f.examineModels(set, today, f.ends(t.Context(), transports{}))
}

// TestDoctorNamesTheEndOfModels with an injected day.
func TestDoctorNamesTheEndOfModels(t *testing.T) {
	openai := map[string]string{"agentvoice.provider": "openai", "agentvoice.turnDetection.mode": "server", "agentvoice.voice.model": "gpt-4o-mini-tts", "agentvoice.transcription.model": "gpt-4o-mini-transcribe"}
	for day, want := range map[string][]string{
		"2026-10-01": {"ok gpt-realtime-2.1-mini: $0.6 in and $2.4 out for a million tokens of text, $10 in and $20 out for a million tokens of audio (as of ", "ok gpt-4o-mini-transcribe: $1.25 in and $5 out", "; OpenAI ends it on 2027-02-26", "ok gpt-4o-mini-tts", "; OpenAI ends it on 2027-01-06"},
		"2026-12-01": {"ok gpt-4o-mini-transcribe", "warn gpt-4o-mini-tts: OpenAI ends it on 2027-01-06; set agentvoice.voice.provider to local"},
		"2027-03-01": {"FAIL gpt-4o-mini-transcribe: OpenAI ended it on 2027-02-26; set agentvoice.transcription.model to gpt-transcribe", "FAIL gpt-4o-mini-tts: OpenAI ended it"},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		for _, f := range modelsFound(t, with(t, openai), at) {
			mark := map[bool]string{true: "FAIL", false: "warn"}[f.Needed]
			if f.OK {
				mark = "ok"
			}
			told.WriteString(mark + " " + f.Detail + "\n")
		}
		for _, w := range want {
			if !strings.Contains(told.String(), w) {
				t.Errorf("%s: no %q in\n%s", day, w, told.String())
			}
		}
	}
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	openai["agentvoice.model"], openai["agentvoice.transcription.model"] = "gpt-realtime", "gpt-9"
	all := modelsFound(t, with(t, openai), at)
	wants(t, all[:1], "model", false, "gpt-realtime: OpenAI ends it on 2027-01-20; set agentvoice.model to gpt-realtime-2.1")
	wants(t, all[1:2], "model", true, "gpt-9", "with a budget, set its price in agentvoice.budget.prices")
	// Another service does not end what it calls by the same names, and local models are its own.
	openai["agentvoice.endpoint"] = "https://proxy.example"
	if all := modelsFound(t, with(t, openai), at); all != nil {
		t.Errorf("of another service: %v", all)
	}
	if all := modelsFound(t, protocol.DefaultSettings(), at); all != nil {
		t.Errorf("of this machine: %v", all)
	}
}

// TestDoctorNamesAModelForAnotherUse: a chat model cannot transcribe, whatever it costs.
func TestDoctorNamesAModelForAnotherUse(t *testing.T) {
	set := with(t, map[string]string{"agentvoice.provider": "openai", "agentvoice.transcription.model": "gpt-6-luna"})
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	if f := wants(t, modelsFound(t, set, at), "model", false, "gpt-6-luna: OpenAI does not have it for transcription; set agentvoice.transcription.model to a model that it has, or leave it empty"); !f.Needed {
		t.Error("it is only a warning")
	}
}

// TestDoctorNamesUnknownPrices: with a budget, a conversation does not start with such a model.
func TestDoctorNamesUnknownPrices(t *testing.T) {
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	set := func(budget protocol.BudgetSettings, changed map[string]string) protocol.Settings {
		s := with(t, changed)
		s.Budget = budget
		return s
	}
	openai := map[string]string{"agentvoice.provider": "openai", "agentvoice.turnDetection.mode": "server", "agentvoice.model": "gpt-9", "agentvoice.voice.provider": "local"}
	compatible := map[string]string{"agentvoice.provider": "compatible", "agentvoice.endpoint": "https://speech.example", "agentvoice.voice.provider": "local"}
	const refused, fix = "no conversation starts with it while a budget is set", "set its price in agentvoice.budget.prices"
	one := func(ok bool, s protocol.Settings, words ...string) {
		t.Helper()
		all := modelsFound(t, s, at)
		if len(all) == 0 {
			t.Fatal("no models")
		}
		wants(t, all[:1], "model", ok, words...)
		if !ok && !all[0].Needed {
			t.Error("it is only a warning")
		}
	}
	one(false, set(protocol.BudgetSettings{Day: 1}, openai), "gpt-9", refused, fix+": audioIn and audioOut, or sessionMinute")
	one(false, set(protocol.BudgetSettings{Day: 1, Prices: "gpt-9 audioIn=20"}, openai), "gpt-9", refused, fix+": audioOut")
	one(true, set(protocol.BudgetSettings{Day: 1, Prices: "gpt-9 audioIn=20 audioOut=40"}, openai), "gpt-9: $20 in and $40 out for a million tokens of audio (your price); when it ends is not known here")
	one(true, set(protocol.BudgetSettings{Prices: "gpt-9 minute=0"}, openai), "gpt-9: free (your price)")
	one(false, set(protocol.BudgetSettings{Day: 1}, compatible), "whisper-1", refused, fix)
	live := map[string]string{"agentvoice.provider": "live"}
	one(true, set(protocol.BudgetSettings{Day: 1}, live), "gpt-live-1: $0.05 a minute, silence included (as of ")
	for name, s := range map[string]protocol.Settings{
		"without a budget": with(t, compatible),
		"with a price":     set(protocol.BudgetSettings{Day: 1, Prices: "whisper-1 minute=0.001"}, compatible),
		"on this machine":  set(protocol.BudgetSettings{Day: 1}, map[string]string{"agentvoice.provider": "compatible", "agentvoice.endpoint": "http://127.0.0.1:8000"}),
	} {
		if all := modelsFound(t, s, at); all != nil {
			t.Errorf("%s: %v", name, all)
		}
	}
}

// TestDoctorNamesUnknownPricesOfTheAssistant, wherever it is.
func TestDoctorNamesUnknownPricesOfTheAssistant(t *testing.T) {
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		model, endpoint, prices string
		want                    bool
	}{
		"OpenAI":               {"gpt-9", "", "", true},
		"OpenAI by its name":   {"gpt-9", "https://api.openai.com/v1", "", true},
		"another unit":         {"gpt-9", "", "gpt-9 minute=1", true},
		"a price":              {"gpt-9", "", "gpt-9 textIn=4 textOut=16", false},
		"a model of the table": {"gpt-6-luna", "", "", false},
		"another server":       {"gpt-6-luna", "https://chat.example", "", true},
		"its price":            {"gpt-6-luna", "https://chat.example", "gpt-6-luna textIn=4 textOut=16", false},
		"this machine":         {"gpt-9", "http://127.0.0.1:11434/v1", "", false},
	} {
		set := protocol.DefaultSettings()
		set.Budget = protocol.BudgetSettings{Day: 1, Prices: c.prices}
		f := doctorFlags{assistantFlags: assistantFlags{agent: "openai", model: c.model, endpoint: c.endpoint}}
		var refused []finding
		for _, row := range modelRows(t, f, set, at) {
			if !row.OK {
				refused = append(refused, row)
			}
		}
		if (len(refused) == 1) != c.want {
			t.Errorf("%s: %+v", name, refused)
		} else if c.want {
			wants(t, refused, "model", false, c.model+": what it costs is not known, so no conversation starts with it while a budget is set", "textIn and textOut")
		}
	}
}

func TestSettingsNameTheEndOfModels(t *testing.T) {
	notes := modelNotes(with(t, map[string]string{"agentvoice.provider": "openai", "agentvoice.model": "gpt-realtime-mini", "agentvoice.voice.wire": "realtime"}),
		time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	want := "agentvoice.model: OpenAI ends gpt-realtime-mini on 2027-01-20; set agentvoice.model to gpt-realtime-2.1-mini"
	if !slices.Contains(notes, want) {
		t.Errorf("no %q in %q", want, notes)
	}
	text, err := printed(t, `{"agentvoice.provider": "openai", "agentvoice.transcription.model": "whisper-1"}`, "settings", "check", "-")
	if err != nil || !strings.Contains(text, "agentvoice.transcription.model: OpenAI end") || !strings.Contains(text, "2 settings, no problems") {
		t.Errorf("%v, %q", err, text)
	}
}
